package io.verbena.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a mutation does, that it ends, and that one which cannot be made is an error. */
class MutationTest
{
    /** Under test: mutated and restored. */
    static final class Account
    {
        private long cents;

        boolean mayPay(final int amount)
        {
            return amount <= cents;
        }

        void pay(final int amount)
        {
            if (mayPay(amount))
            {
                cents -= amount;
            }
        }

        static long fee(final long amount)
        {
            return amount / 100;
        }

        static int fee(final int amount)
        {
            return amount / 100;
        }

        String owner(final String name, final int year)
        {
            return name + ' ' + year;
        }
    }

    /** Replacements. */
    static final class Bodies
    {
        private Bodies()
        {
        }

        static String owner(final Account account, final String name, final int year)
        {
            return name + ' ' + (year + 1) + ' ' + Mutation.field(account, "cents", Long.class);
        }

        static boolean payTwice(final Account account, final int amount)
        {
            account.cents -= 2L * amount;
            return amount > 10;
        }

        static boolean isPrime(final Account account, final int amount)
        {
            return amount == 7;
        }

        static boolean isAnonymous(final Account account, final String name, final int year)
        {
            return name.isEmpty();
        }

        static boolean isFree(final long amount)
        {
            return amount < 1000;
        }

        static long doubleFee(final long amount)
        {
            return amount / 50;
        }

        long notStatic(final long amount)
        {
            return amount;
        }
    }

    private final Account account = new Account();

    @Test
    void shouldReturnAConstant()
    {
        assertThat(account.mayPay(1)).isFalse();
        try (Mutation.Opened _ = Mutation.returning(Account.class, "mayPay", true).open())
        {
            assertThat(account.mayPay(1)).isTrue();
            account.pay(3);
        }
        assertThat(account.cents).isEqualTo(-3);
    }

    @Test
    void shouldReturnConstantsOfOtherTypesFromOverloadedMethods()
    {
        final Mutation both = Mutation.returning(Account.class, "fee(I)I", 7)
            .and(Mutation.returning(Account.class, "fee(J)J", 8L));
        try (Mutation.Opened _ = both.open())
        {
            assertThat(Account.fee(500)).isEqualTo(7);
            assertThat(Account.fee(500L)).isEqualTo(8);
        }
        assertThat(Account.fee(500)).isEqualTo(5);
        assertThat(Account.fee(500L)).isEqualTo(5);
    }

    @Test
    void shouldDoNothing()
    {
        account.cents = 10;
        try (Mutation.Opened _ = Mutation.doingNothing(Account.class, "pay").open())
        {
            account.pay(3);
        }
        assertThat(account.cents).isEqualTo(10);
    }

    @Test
    void shouldCallAnotherMethodInstead()
    {
        account.cents = 10;
        try (Mutation.Opened _ = Mutation.calling(Account.class, "owner", Bodies.class, "owner").open())
        {
            assertThat(account.owner("x", 1)).isEqualTo("x 2 10");
        }
        try (Mutation.Opened _ = Mutation.calling(Account.class, "fee(J)J", Bodies.class, "doubleFee").open())
        {
            assertThat(Account.fee(500L)).isEqualTo(10);
        }
        assertThat(account.owner("x", 1)).isEqualTo("x 1");
    }

    @Test
    void shouldCallAnotherMethodFirst()
    {
        account.cents = 100;
        try (Mutation.Opened _ = Mutation.callingFirst(Account.class, "pay", Bodies.class, "payTwice").open())
        {
            account.pay(10);
            assertThat(account.cents).as("twice, and once as ever").isEqualTo(70);
            account.pay(20);
            assertThat(account.cents).as("that was all").isEqualTo(30);
        }
    }

    @Test
    void shouldReturnNothingOrZeroWhenTheOtherMethodWasAll()
    {
        final Mutation mutation = Mutation.callingFirst(Account.class, "mayPay", Bodies.class, "isPrime")
            .and(Mutation.callingFirst(Account.class, "owner", Bodies.class, "isAnonymous"))
            .and(Mutation.callingFirst(Account.class, "fee(J)J", Bodies.class, "isFree"));
        account.cents = 10;
        try (Mutation.Opened _ = mutation.open())
        {
            assertThat(account.mayPay(7)).isFalse();
            assertThat(account.mayPay(8)).isTrue();
            assertThat(account.owner("", 1)).isNull();
            assertThat(account.owner("x", 1)).isEqualTo("x 1");
            assertThat(Account.fee(999L)).isZero();
            assertThat(Account.fee(1000L)).isEqualTo(10);
        }
    }

    @Test
    void shouldMutateOnlyWhileAConditionHolds()
    {
        final AtomicBoolean isOn = new AtomicBoolean();
        final Mutation mutation = Mutation.returning(Account.class, "mayPay", true).when(isOn::get);
        try (Mutation.Opened _ = mutation.open())
        {
            assertThat(account.mayPay(1)).isFalse();
            isOn.set(true);
            assertThat(account.mayPay(1)).isTrue();
        }
        assertThat(account.mayPay(1)).isFalse();
    }

    @Test
    void shouldRestoreOneOfSeveralAndLeaveTheOthers()
    {
        final Mutation.Opened first = Mutation.returning(Account.class, "mayPay", true).open();
        final Mutation.Opened second = Mutation.returning(Account.class, "fee(J)J", 8L).open();
        first.close();
        assertThat(account.mayPay(1)).isFalse();
        assertThat(Account.fee(500L)).isEqualTo(8);
        first.close();
        second.close();
        assertThat(Account.fee(500L)).isEqualTo(5);
    }

    @Test
    void shouldChangeNothing()
    {
        try (Mutation.Opened _ = Mutation.NONE.open())
        {
            assertThat(account.mayPay(1)).isFalse();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"mayPayy", "fee", "fee(Z)Z", "owner", "pay"})
    void shouldFailWhereThereIsNoSuchMethod(final String method)
    {
        final Mutation mutation = Mutation.returning(Account.class, method, true);
        assertThatThrownBy(mutation::open).isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining(Account.class.getName() + '.' + method);
        assertThat(account.mayPay(1)).isFalse();
    }

    @Test
    void shouldFailWhereThereIsNoSuchClass()
    {
        assertThat(Mutation.type(Account.class.getName())).isSameAs(Account.class);
        assertThatThrownBy(() -> Mutation.type("io.verbena.test.NoSuch"))
            .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("io.verbena.test.NoSuch");
    }

    @Test
    void shouldFailWhereAReplacementDoesNotFit()
    {
        for (final Mutation mutation : List.of(
            Mutation.calling(Account.class, "fee(J)J", Bodies.class, "noSuch"),
            Mutation.calling(Account.class, "fee(J)J", Bodies.class, "notStatic"),
            Mutation.calling(Account.class, "mayPay", Bodies.class, "owner"),
            Mutation.doingNothing(Account.class, "mayPay")))
        {
            assertThatThrownBy(mutation::open).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void shouldNotMutateAMethodTwice()
    {
        final Mutation mutation = Mutation.returning(Account.class, "mayPay", true);
        try (Mutation.Opened _ = mutation.open())
        {
            assertThatThrownBy(Mutation.returning(Account.class, "mayPay", false)::open)
                .isInstanceOf(IllegalStateException.class).hasMessageContaining("mutated already");
            assertThat(account.mayPay(1)).isTrue();
        }
        assertThat(account.mayPay(1)).isFalse();
    }

    @Test
    void shouldFailWhereThereIsNoSuchField()
    {
        assertThatThrownBy(() -> Mutation.field(account, "euros", Long.class))
            .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("euros");
    }
}
