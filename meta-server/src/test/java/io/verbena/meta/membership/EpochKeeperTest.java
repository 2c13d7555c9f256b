package io.verbena.meta.membership;

import io.verbena.meta.store.InMemoryMetaStore;
import io.verbena.meta.store.MetaState;
import org.junit.jupiter.api.Test;

import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

class EpochKeeperTest
{
    private static final long INTERVAL_NS = 10;
    private static final long IDLE_INTERVAL_NS = 1000;

    private final InMemoryMetaStore store = new InMemoryMetaStore();
    private long nowNs;
    private EpochKeeper epochs = start();

    @Test
    void shouldGrowByItselfWhenNobodyCounts()
    {
        assertThat(advance()).isTrue();
        assertThat(epochs.epoch()).isEqualTo(2);
        assertThat(epochs.safeEpoch()).isEqualTo(1);
    }

    @Test
    void shouldSayWhoHasPassedWhat()
    {
        epochs.join(7);
        epochs.join(3);
        final long joined = epochs.epoch() - 1;
        assertThat(advance()).isTrue();
        epochs.onPassed(3, joined + 1);
        assertThat(epochs.passedEpochs()).containsExactly(Map.entry(3, joined + 1), Map.entry(7, joined));
        assertThat(epochs.safeEpoch()).isEqualTo(joined);
        epochs.release(7);
        assertThat(epochs.passedEpochs()).containsOnlyKeys(3);
    }

    @Test
    void shouldGrowSlowlyWhileNobodyWaits()
    {
        nowNs += IDLE_INTERVAL_NS - 1;
        assertThat(epochs.advance(nowNs)).isFalse();
        nowNs++;
        assertThat(epochs.advance(nowNs)).isTrue();

        epochs.want();
        assertThat(advance()).isTrue();
        nowNs += IDLE_INTERVAL_NS - 1;
        assertThat(epochs.advance(nowNs)).as("a wish is good for one epoch").isFalse();
    }

    @Test
    void shouldTellWhenTheNextOneIsDue()
    {
        nowNs += 1;
        assertThat(epochs.idleNs(nowNs)).isEqualTo(IDLE_INTERVAL_NS - 1);
        epochs.want();
        assertThat(epochs.idleNs(nowNs)).isEqualTo(INTERVAL_NS - 1);
        epochs.join(1);
        assertThat(advance()).isTrue();
        assertThat(epochs.idleNs(nowNs)).as("waits for the node to be heard").isEqualTo(Long.MAX_VALUE);
        epochs.onPassed(1, 1);
        assertThat(epochs.idleNs(nowNs)).isEqualTo(IDLE_INTERVAL_NS);
    }

    @Test
    void shouldWaitForWhoRestsOnlyWhenSomebodyWaits()
    {
        epochs.join(1);
        epochs.join(2);
        assertThat(epochs.isWaitedFor(1, 1)).isFalse();
        epochs.want();
        assertThat(epochs.isWaitedFor(1, 1)).as("has passed what it takes").isFalse();
        assertThat(advance()).isTrue();
        assertThat(epochs.isWaitedFor(1, 1)).as("did not hear of what was waited for").isTrue();
        assertThat(epochs.isWaitedFor(1, 2)).as("nobody waits any more").isFalse();
        epochs.want();
        assertThat(epochs.isWaitedFor(1, 2)).isTrue();
        epochs.onPassed(1, 1);
        assertThat(epochs.isWaitedFor(1, 2)).isFalse();
        assertThat(epochs.isWaitedFor(2, 2)).isTrue();
        assertThat(epochs.isWaitedFor(3, 2)).as("does not count").isFalse();
        epochs.onPassed(2, 1);
        assertThat(advance()).isTrue();
        epochs.onPassed(1, 2);
        epochs.onPassed(2, 2);
        nowNs += IDLE_INTERVAL_NS;
        assertThat(epochs.advance(nowNs)).isTrue();
        assertThat(epochs.isWaitedFor(1, 3)).as("an epoch that comes by itself is heard in time").isFalse();
    }

    @Test
    void shouldNotGrowFasterThanItsInterval()
    {
        epochs.want();
        nowNs += INTERVAL_NS - 1;
        assertThat(epochs.advance(nowNs)).isFalse();
        nowNs++;
        assertThat(epochs.advance(nowNs)).isTrue();
        assertThat(epochs.advance(nowNs)).isFalse();
    }

    @Test
    void shouldWaitForTheSlowestAndNeverBeTwoAhead()
    {
        epochs.join(1);
        epochs.join(2);
        assertThat(advance()).isTrue();
        epochs.onPassed(1, 1);
        assertThat(advance()).isFalse();
        assertThat(epochs.safeEpoch()).isZero();

        epochs.onPassed(2, 1);
        assertThat(epochs.safeEpoch()).isEqualTo(1);
        assertThat(advance()).isTrue();
        assertThat(epochs.epoch()).isEqualTo(3);
    }

    @Test
    void shouldIgnoreOldWordAndRefuseWhatCannotBe()
    {
        epochs.join(1);
        advance();
        assertThat(epochs.onPassed(1, 1)).isTrue();
        assertThat(epochs.onPassed(1, 0)).isTrue();
        assertThat(epochs.safeEpoch()).isEqualTo(1);
        assertThat(epochs.onPassed(1, 2)).isFalse();
        assertThat(epochs.onPassed(9, 0)).isFalse();
        assertThat(epochs.safeEpoch()).isEqualTo(1);
    }

    @Test
    void shouldGoOnWhenTheSlowestIsReleased()
    {
        epochs.join(1);
        epochs.join(2);
        advance();
        epochs.onPassed(1, 1);

        epochs.release(2);

        assertThat(epochs.nodeCount()).isEqualTo(1);
        assertThat(epochs.safeEpoch()).isEqualTo(1);
        assertThat(advance()).isTrue();
    }

    @Test
    void shouldNotLetAJoiningNodeLowerTheSafeEpoch()
    {
        for (int i = 0; i < 5; i++)
        {
            advance();
        }

        final long safeEpoch = epochs.safeEpoch();
        epochs.join(1);

        assertThat(epochs.safeEpoch()).isEqualTo(safeEpoch);
    }

    @Test
    void shouldBeginAboveAllAnnouncedEpochsAndHoldTheSafeOneWhenRestarted()
    {
        for (int i = 0; i < 2 * EpochKeeper.RESERVED_EPOCHS; i++)
        {
            advance();
        }

        final long announced = epochs.epoch();
        epochs = start();
        epochs.restore(1);
        final long first = epochs.epoch();
        assertThat(first).isGreaterThan(announced);
        assertThat(epochs.safeEpoch()).isZero();
        assertThat(advance()).as("what node 1 passed is not known").isFalse();

        epochs.onPassed(1, announced);
        assertThat(epochs.safeEpoch()).isZero();

        for (long passed = first - 1; passed < first + EpochKeeper.RESTART_BARRIER_EPOCHS; passed++)
        {
            epochs.onPassed(1, passed);
            assertThat(epochs.safeEpoch()).isZero();
            assertThat(advance()).isTrue();
        }

        epochs.onPassed(1, first + EpochKeeper.RESTART_BARRIER_EPOCHS);
        assertThat(epochs.safeEpoch()).isEqualTo(first + EpochKeeper.RESTART_BARRIER_EPOCHS);
    }

    private EpochKeeper start()
    {
        final MetaState state = store.load();
        return new EpochKeeper(
            MembershipConductor.openLedger(store, state, 1, TestSecrets.first()),
            !state.isNew(), INTERVAL_NS, IDLE_INTERVAL_NS, nowNs);
    }

    private boolean advance()
    {
        epochs.want();
        nowNs += INTERVAL_NS;
        return epochs.advance(nowNs);
    }
}
