package io.verbena.compute.request;

import io.verbena.protocol.access.AccessRules;
import io.verbena.protocol.access.Grant;
import io.verbena.protocol.access.User;
import io.verbena.protocol.access.UserQuota;
import io.verbena.protocol.request.OperationRequest;
import io.verbena.protocol.request.RequestKind;
import io.verbena.protocol.request.TableReference;
import io.verbena.raas.identity.PeerIdentity;

import com.sun.management.ThreadMXBean;
import org.junit.jupiter.api.Test;

import java.lang.management.ManagementFactory;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

import static org.assertj.core.api.Assertions.assertThat;

class UserSharesTest
{
    private static final int SLOTS = 8;
    private static final TableReference TABLE = new TableReference("t", 1);
    private static final List<Grant> GRANTS = List.of(new Grant("t", 3, new byte[0]));

    private final UserShares shares = new UserShares(SLOTS);

    private static final class Asked extends OperationRequest
    {
        private final int user;

        private Asked(final int user, final int keyBytes, final int valueBytes)
        {
            this.user = user;
            ask(RequestKind.PUT, TABLE, new byte[keyBytes], new byte[valueBytes], 0, 0);
            caller(identity(user));
        }

        @Override
        protected void onDone()
        {
            // nobody waits
        }
    }

    private static PeerIdentity identity(final int user)
    {
        return 0 == user ? PeerIdentity.OPERATOR : PeerIdentity.user(user, 100 + user);
    }

    private static User user(final int number, final UserQuota quota)
    {
        return new User("u" + number, number, 100 + number, 1, null, GRANTS, quota);
    }

    private void users(final User... users)
    {
        shares.users(AccessRules.of(null, 1, List.of(users)), 0);
    }

    private UserShare share(final int user)
    {
        return shares.of(identity(user));
    }

    private Asked add(final int user, final int keyBytes, final int valueBytes)
    {
        final Asked asked = new Asked(user, keyBytes, valueBytes);
        shares.add(share(user), asked);
        return asked;
    }

    private List<Integer> order(final int most)
    {
        final List<Integer> users = new ArrayList<>();
        OperationRequest next;
        while (users.size() < most && null != (next = shares.next()))
        {
            users.add(((Asked)next).user);
        }
        return users;
    }

    @Test
    void shouldGiveTheNextTurnToWhoeverComesLate()
    {
        users(user(1, UserQuota.NONE), user(2, UserQuota.NONE));
        for (int i = 0; i < 1_000; i++)
        {
            add(1, 8, 100);
        }
        assertThat(order(3)).containsExactly(1, 1, 1);
        add(2, 8, 100);
        // 4096 / 364 = 11 in a turn.
        assertThat(order(12)).containsExactly(1, 1, 1, 1, 1, 1, 1, 1, 2, 1, 1, 1);
        assertThat(shares.waitingCount()).isEqualTo(986);
    }

    @Test
    void shouldShareByBytes()
    {
        users(user(1, UserQuota.NONE), user(2, UserQuota.NONE));
        for (int i = 0; i < 200; i++)
        {
            add(1, 64, 16_064);
            add(2, 44, 100);
        }
        final List<Integer> order = order(150);
        assertThat(order.stream().filter((user) -> 1 == user).count()).isBetween(3L, 4L);
    }

    @Test
    void shouldSaveUpNothingWhileNothingWaits()
    {
        users(user(1, UserQuota.NONE), user(2, UserQuota.NONE));
        for (int i = 0; i < 100; i++)
        {
            add(2, 8, 0);
            assertThat(order(2)).containsExactly(2);
        }
        for (int i = 0; i < 100; i++)
        {
            add(2, 8, 0);
            add(1, 8, 0);
        }
        // 4096 / 264 = 15 in a turn.
        assertThat(order(15)).containsOnly(2);
        assertThat(order(16)).containsExactly(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2);
    }

    @Test
    void shouldChargeWhatWasFoundToTheNextTurns()
    {
        users(user(1, UserQuota.NONE), user(2, UserQuota.NONE));
        for (int i = 0; i < 100; i++)
        {
            add(1, 8, 0);
            add(2, 8, 0);
        }
        assertThat(order(1)).containsExactly(1);
        share(1).onBegun();
        share(1).onEnded(16_384, 0);
        final List<Integer> order = order(60);
        assertThat(order.stream().filter((user) -> 1 == user).count()).isZero();
    }

    @Test
    void shouldLeaveSlotsToOthers()
    {
        users(user(1, UserQuota.NONE), user(2, UserQuota.NONE));
        for (int i = 0; i < 20; i++)
        {
            add(1, 8, 0);
        }
        for (int i = 0; i < 6; i++)
        {
            assertThat(shares.isAtMost(share(1))).isFalse();
            assertThat(order(1)).containsExactly(1);
            share(1).onBegun();
        }
        assertThat(shares.isAtMost(share(1))).isTrue();
        assertThat(shares.next()).isNull();
        add(2, 8, 0);
        assertThat(order(5)).containsExactly(2);
        share(1).onEnded(0, 0);
        assertThat(order(1)).containsExactly(1);
    }

    @Test
    void shouldLeaveASlotToEachOfTwoWhereThereAreTwo()
    {
        assertThat(new UserShares(1).isAtMost(new UserShare(new WaitingPlaces()))).isFalse();
        final UserShares two = new UserShares(2);
        final UserShare share = new UserShare(new WaitingPlaces());
        share.onBegun();
        assertThat(two.isAtMost(share)).isTrue();
    }

    @Test
    void shouldLetNobodyUseTheQuotaOfAnotherWithAnOldTicket()
    {
        users(user(1, new UserQuota(1, 0, 0, 0, 0)));
        assertThat(shares.of(PeerIdentity.user(1, 7))).isNotSameAs(share(1)).isSameAs(share(0));
        assertThat(shares.of(null)).isSameAs(share(0));
        assertThat(shares.of(PeerIdentity.UNREGISTERED)).isSameAs(share(0));
        assertThat(shares.of(PeerIdentity.user(9, 109))).isSameAs(share(0));
        assertThat(shares.isOfOthers(share(0))).isTrue();
        assertThat(shares.isOfOthers(share(1))).isFalse();
    }

    @Test
    void shouldRefuseWhatIsOverEachPartOfTheQuota()
    {
        users(user(1, new UserQuota(10, 0, 0, 0, 0)), user(2, new UserQuota(0, 1_000, 0, 0, 0)),
            user(3, new UserQuota(0, 0, 2, 0, 0)), user(4, new UserQuota(0, 0, 0, 1, 0)));
        for (int i = 0; i < 3; i++)
        {
            assertThat(share(1).overQuotaNs(false, 0)).isZero();
            share(1).onTaken(new Asked(1, 1, 0), 0);
        }
        assertThat(share(1).overQuotaNs(false, 0)).isEqualTo(50_000_000);
        assertThat(share(1).whyOverQuota(false, 0)).isEqualTo(
            "user u1 has a quota of 10 operations a second at a compute node");

        share(2).onTaken(new Asked(2, 100, 400), 0);
        assertThat(share(2).overQuotaNs(false, 0)).isEqualTo(250_000_000);
        assertThat(share(2).whyOverQuota(false, 0)).contains("1000 bytes a second");
        assertThat(share(2).overQuotaNs(false, 250_000_000)).isZero();
        share(2).onBegun();
        share(2).onEnded(1_000, 250_000_000);
        assertThat(share(2).overQuotaNs(false, 250_000_000)).as("a value was found").isEqualTo(1_000_000_000);

        share(3).onBegun();
        assertThat(share(3).overQuotaNs(false, 0)).isZero();
        add(3, 1, 0);
        assertThat(share(3).overQuotaNs(false, 0)).isEqualTo(UserShare.RETRY_NS);
        assertThat(share(3).whyOverQuota(false, 0)).contains("2 outstanding requests");
        share(3).onEnded(0, 0);
        assertThat(share(3).overQuotaNs(false, 0)).isZero();
        share(3).onScanBegun();
        assertThat(share(3).overQuotaNs(false, 0)).as("a scan counts too").isPositive();

        share(4).onScanBegun();
        assertThat(share(4).overQuotaNs(false, 0)).isZero();
        assertThat(share(4).overQuotaNs(true, 0)).isEqualTo(UserShare.RETRY_NS);
        assertThat(share(4).whyOverQuota(true, 0)).contains("1 scans at once");
        share(4).onScanEnded(0, 0);
        assertThat(share(4).overQuotaNs(true, 0)).isZero();
    }

    private int addAll(final int user)
    {
        int taken = 0;
        while (0 == share(user).overQuotaNs(false, 0))
        {
            add(user, 1, 0);
            taken++;
        }
        return taken;
    }

    @Test
    void shouldLeaveAPlaceToWaitHoweverManyAreGreedy()
    {
        users(user(1, UserQuota.NONE), user(2, UserQuota.NONE), user(3, UserQuota.NONE), user(4, UserQuota.NONE));
        assertThat(addAll(1)).isEqualTo(3_072);
        assertThat(share(1).whyOverQuota(false, 0)).startsWith("requests of user u1 take as many of the places");
        assertThat(share(2).overQuotaNs(false, 0)).isZero();
        assertThat(addAll(0)).as("who is no user").isEqualTo(768);
        assertThat(share(0).whyOverQuota(false, 0)).startsWith("requests of those who are no users take as many");
        assertThat(addAll(2)).isEqualTo(192);
        assertThat(addAll(3)).isEqualTo(48);
        assertThat(addAll(4)).isEqualTo(12);
        assertThat(shares.hasPlace()).isTrue();
        assertThat(share(1).overQuotaNs(true, 0)).as("a scan takes a place, too").isEqualTo(UserShare.RETRY_NS);
        final int waiting = shares.waitingCount();
        assertThat(order(waiting)).hasSize(waiting);
        assertThat(share(1).overQuotaNs(false, 0)).isZero();
        assertThat(shares.waitingCount()).isZero();
    }

    /** All that waits has places, wherever it waits: a user cannot leave more of it at a node by another kind. */
    @Test
    void shouldTakeAPlaceForScansAndForOperationsWhoseTableIsNotOpen()
    {
        users(user(1, UserQuota.NONE), user(2, UserQuota.NONE), user(3, new UserQuota(0, 0, 2, 0, 0)));
        for (int i = 0; i < 1_024; i++)
        {
            share(1).onScanBegun();
            share(1).onAwaitsTable();
        }
        assertThat(addAll(1)).isEqualTo(1_024);
        assertThat(share(1).overQuotaNs(true, 0)).isPositive();
        assertThat(addAll(2)).isEqualTo(768);
        for (int i = 0; i < 1_024; i++)
        {
            share(1).onScanEnded(0, 0);
            share(1).onTable();
        }
        order(3_000);
        assertThat(addAll(2)).as("all have been left").isEqualTo(3_072);
        share(3).onAwaitsTable();
        share(3).onAwaitsTable();
        assertThat(share(3).whyOverQuota(false, 0)).contains("2 outstanding requests");
        assertThat(share(3).overQuotaNs(true, 0)).isPositive();
        share(3).onTable();
        assertThat(share(3).overQuotaNs(false, 0)).isZero();
    }

    /** One that has all the slots that it may have is looked at with each completion, and each look is no turn. */
    @Test
    void shouldSaveUpNothingWhileItHasAllSlotsThatItMayHave()
    {
        users(user(1, UserQuota.NONE), user(2, UserQuota.NONE));
        for (int i = 0; i < 2_000; i++)
        {
            add(1, 8, 0);
        }
        for (int i = 0; i < 6; i++)
        {
            assertThat(order(1)).containsExactly(1);
            share(1).onBegun();
        }
        for (int i = 0; i < 1_000; i++)
        {
            assertThat(shares.next()).isNull();
            share(1).onEnded(0, 0);
            assertThat(order(1)).containsExactly(1);
            share(1).onBegun();
        }
        for (int i = 0; i < 200; i++)
        {
            add(2, 8, 0);
        }
        for (int i = 0; i < 6; i++)
        {
            share(1).onEnded(0, 0);
        }
        // 4096 / 264 = 15 in a turn, of which some may be used up.
        assertThat(order(32).stream().filter((user) -> 2 == user).count()).isGreaterThanOrEqualTo(15);
    }

    @Test
    void shouldKeepWhatWasUsedWhenUsersChange()
    {
        users(user(1, new UserQuota(10, 0, 0, 0, 0)));
        for (int i = 0; i < 3; i++)
        {
            share(1).onTaken(new Asked(1, 1, 0), 0);
        }
        final long waitNs = share(1).overQuotaNs(false, 0);
        assertThat(waitNs).isPositive();
        users(user(1, new UserQuota(10, 0, 0, 0, 0)), user(2, UserQuota.NONE));
        assertThat(share(1).overQuotaNs(false, 0)).isEqualTo(waitNs);
        users(user(1, new UserQuota(11, 0, 0, 0, 0)), user(2, UserQuota.NONE));
        assertThat(share(1).overQuotaNs(false, 0)).isPositive().isLessThan(waitNs);
        users(user(1, UserQuota.NONE));
        assertThat(share(1).overQuotaNs(false, 0)).isZero();
        users();
        assertThat(shares.isEnforced()).isFalse();
        assertThat(share(1)).as("a user that is gone").isSameAs(share(0));
    }

    @Test
    void shouldHandBackAllThatWaits()
    {
        users(user(1, UserQuota.NONE), user(2, UserQuota.NONE));
        final List<OperationRequest> added = new ArrayList<>();
        for (int i = 0; i < 10; i++)
        {
            added.add(add(i % 3, 1, 0));
        }
        final List<OperationRequest> drained = new ArrayList<>();
        shares.drain(drained::add);
        assertThat(drained).containsExactlyInAnyOrderElementsOf(added);
        assertThat(shares.waitingCount()).isZero();
        assertThat(shares.next()).isNull();
        add(1, 1, 0);
        assertThat(order(2)).containsExactly(1);
    }

    @Test
    void shouldAllocateNothingOnceTheUsersAreKnown()
    {
        users(user(1, new UserQuota(1_000, 1_000, 1, 1, 0)), user(2, UserQuota.NONE));
        final Asked first = new Asked(1, 8, 8);
        final Asked second = new Asked(2, 8, 8);
        final ThreadMXBean threads = (ThreadMXBean)ManagementFactory.getThreadMXBean();
        long allocatedBytes = Long.MAX_VALUE;
        for (int round = 0; round < 20 && 0 != allocatedBytes; round++)
        {
            final long beforeBytes = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < 1_000; i++)
            {
                use(first);
                use(second);
            }
            allocatedBytes = threads.getCurrentThreadAllocatedBytes() - beforeBytes;
        }
        assertThat(allocatedBytes).isZero();
    }

    private void use(final Asked asked)
    {
        final UserShare share = shares.of(asked.caller());
        if (0 != share.overQuotaNs(false, 0) && null == share.whyOverQuota(false, 0))
        {
            throw new AssertionError("refused without a reason");
        }
        share.onTaken(asked, 0);
        shares.add(share, asked);
        if (asked != shares.next())
        {
            throw new AssertionError("another one");
        }
        share.onBegun();
        share.onEnded(8, 0);
    }

    /** Beside a model of queues: nothing is lost or begun twice, the order of each user stays, nobody starves. */
    @Test
    void shouldAgreeWithQueues()
    {
        for (int seed = 0; seed < 300; seed++)
        {
            final SplittableRandom random = new SplittableRandom(seed);
            final int count = random.nextInt(1, 12);
            final User[] users = new User[count];
            Arrays.setAll(users, (i) -> user(i + 1, UserQuota.NONE));
            users(Arrays.copyOf(users, 1));
            users(users);
            final List<ArrayDeque<OperationRequest>> queues = new ArrayList<>();
            final int[] underWay = new int[count + 1];
            for (int i = 0; i <= count; i++)
            {
                queues.add(new ArrayDeque<>());
            }
            for (int step = 0; step < 500; step++)
            {
                final int user = random.nextInt(count + 1);
                if (random.nextInt(3) > 0)
                {
                    queues.get(user).add(add(user, random.nextInt(1, 5_000), random.nextInt(16_000)));
                }
                if (underWay[user] > 0 && random.nextBoolean())
                {
                    underWay[user]--;
                    share(user).onEnded(random.nextInt(16_000), 0);
                }
                if (random.nextBoolean())
                {
                    final OperationRequest next = shares.next();
                    boolean mayBegin = false;
                    for (int i = 0; i <= count; i++)
                    {
                        mayBegin |= !queues.get(i).isEmpty() && underWay[i] < 6;
                    }
                    assertThat(null != next).as("seed %d step %d", seed, step).isEqualTo(mayBegin);
                    if (null != next)
                    {
                        final int of = ((Asked)next).user;
                        assertThat(next).isSameAs(queues.get(of).poll());
                        share(of).onBegun();
                        underWay[of]++;
                        assertThat(underWay[of]).isLessThanOrEqualTo(6);
                    }
                }
            }
            shares.drain((request) -> assertThat(request).isSameAs(queues.get(((Asked)request).user).poll()));
            assertThat(queues).allMatch(ArrayDeque::isEmpty);
            for (int i = 0; i <= count; i++)
            {
                while (underWay[i]-- > 0)
                {
                    share(i).onEnded(0, 0);
                }
            }
        }
    }
}
