package io.verbena.meta.catalog;

import io.verbena.meta.membership.MetaLedger;
import io.verbena.meta.store.DurableWriteError;
import io.verbena.meta.store.InMemoryMetaStore;
import io.verbena.meta.store.MetaBatch;
import io.verbena.meta.store.MetaCounters;
import io.verbena.meta.store.MetaState;
import io.verbena.meta.store.MetaStore;
import io.verbena.protocol.access.SecretVerifier;
import io.verbena.protocol.access.User;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class UserCatalogTest
{
    private static final SecretVerifier FIRST = SecretVerifier.ofNobody(new byte[32], "first");
    private static final SecretVerifier SECOND = SecretVerifier.ofNobody(new byte[32], "second");
    private static final MetaCounters COUNTERS = new MetaCounters(77, 5, 6, 7, 4097, 9, 10);

    private final InMemoryMetaStore store = new InMemoryMetaStore();
    private MetaLedger ledger = new MetaLedger(store, COUNTERS);
    private UserCatalog catalog = new UserCatalog(ledger, List.of(), null);

    private User put(final String name, final SecretVerifier verifier)
    {
        return catalog.put(new User(name, 0, 0, 0, verifier, List.of()));
    }

    private void restart()
    {
        final MetaState state = store.load();
        ledger = new MetaLedger(store, state.counters());
        catalog = new UserCatalog(ledger, state.users(), null);
    }

    @Test
    void shouldKnowAfterARestartWhatItKnew()
    {
        final User ann = put("ann", FIRST);
        put("ben", FIRST);
        catalog.remove("ben");
        final long version = catalog.rules().version();
        restart();
        assertThat(catalog.users()).containsExactly(ann);
        assertThat(catalog.rules().version()).isEqualTo(version).isEqualTo(COUNTERS.membershipVersion() + 3);
        assertThat(catalog.rules().user("ann")).isEqualTo(ann);
        assertThat(catalog.rules().user("ben")).isNull();
    }

    /** Every node looks for a new list when the version of the cluster has changed. */
    @Test
    void shouldGiveEachChangeAVersionOfTheCluster()
    {
        long version = ledger.counters().membershipVersion();
        for (int i = 0; i < 4; i++)
        {
            if (i < 3)
            {
                put("ann", 1 == i ? null : FIRST);
            }
            else
            {
                assertThat(catalog.remove("ann")).isTrue();
            }
            assertThat(ledger.counters().membershipVersion()).isEqualTo(++version);
            assertThat(catalog.rules().version()).isEqualTo(version);
        }
        assertThat(catalog.remove("ann")).as("once more").isFalse();
        assertThat(ledger.counters().membershipVersion()).isEqualTo(version);
    }

    @Test
    void shouldKeepTheSecretUnlessThereIsAnotherOne()
    {
        final User made = put("ann", FIRST);
        final User changed = put("ann", null);
        assertThat(changed.verifier()).isEqualTo(FIRST);
        assertThat(changed.identity()).as("connections stay good").isEqualTo(made.identity());
        assertThat(changed.revision()).isGreaterThan(made.revision());
        final User other = put("ann", SECOND);
        assertThat(other.verifier()).isEqualTo(SECOND);
        assertThat(other.identity()).as("connections of the old secret end").isNotEqualTo(made.identity());
    }

    /** What was proved for a user that is gone proves nothing for the one that got its number. */
    @Test
    void shouldNeverGiveAnIdentityTwice()
    {
        final User ann = put("ann", FIRST);
        catalog.remove("ann");
        restart();
        final User ben = put("ben", FIRST);
        assertThat(ben.number()).isEqualTo(ann.number());
        assertThat(ben.identity()).isNotEqualTo(ann.identity());
        assertThat(put("ann", FIRST).number()).isEqualTo(2);
    }

    @Test
    void shouldTakeNoMoreUsersThanCanBe()
    {
        final List<User> restored = new ArrayList<>();
        for (int i = 0; i < User.MAX_USERS - 1; i++)
        {
            restored.add(new User("u" + i, i + 1, 1, 1, FIRST, List.of()));
        }
        catalog = new UserCatalog(ledger, restored, null);
        assertThat(put("last", FIRST).number()).isEqualTo(User.MAX_USERS);
        assertThat(put("ann", FIRST)).isNull();
        assertThat(put("u7", SECOND)).as("one that is there").isNotNull();
        catalog.remove("u7");
        assertThat(put("ann", FIRST).number()).isEqualTo(8);
    }

    /** Nobody is shown what is not on disk. */
    @Test
    void shouldChangeNothingThatCannotBeWritten()
    {
        final MetaStore broken = new MetaStore()
        {
            @Override
            public MetaState load()
            {
                return store.load();
            }

            @Override
            public void write(final MetaBatch batch)
            {
                throw new DurableWriteError("disk on fire", null);
            }

            @Override
            public void close()
            {
                // Nothing is open.
            }
        };
        catalog = new UserCatalog(new MetaLedger(broken, COUNTERS), List.of(), null);
        assertThatThrownBy(() -> put("ann", FIRST)).isInstanceOf(DurableWriteError.class);
        assertThat(catalog.users()).isEmpty();
        assertThat(catalog.user("ann")).isNull();
        assertThat(catalog.rules().isEnforced()).isFalse();
    }
}
