package io.verbena.meta.raft;

import org.junit.jupiter.api.Test;

import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

class NodeSilenceTest
{
    private static final long LEASE_NS = TimeUnit.SECONDS.toNanos(10);
    private static final long HALF_NS = LEASE_NS / 2;
    /** Clocks begin anywhere. */
    private static final long START_NS = Long.MAX_VALUE - TimeUnit.SECONDS.toNanos(30);

    private final NodeSilence silence = new NodeSilence(LEASE_NS);

    /** A look so long after the start, when the last node was heard of so long after it. */
    private boolean look(final long nowNs, final long heardNs)
    {
        return silence.isDue(START_NS + nowNs, START_NS + heardNs + LEASE_NS);
    }

    @Test
    void shouldGiveWayWhenHalfOfTheLeaseHasPassedAndNotBefore()
    {
        silence.begin();
        assertThat(look(0, 0)).isFalse();
        assertThat(look(HALF_NS + 1, 2)).as("heard of meanwhile").isFalse();
        assertThat(look(HALF_NS + 1, 2)).isFalse();
        assertThat(look(HALF_NS + 2, 2)).isTrue();
    }

    @Test
    void shouldGiveWayOnceUntilANodeIsHeardOf()
    {
        silence.begin();
        assertThat(look(HALF_NS, 0)).as("a new leader that nobody reaches").isTrue();
        assertThat(look(HALF_NS + 1, 0)).as("the other member is not elected").isFalse();

        silence.begin();
        assertThat(look(2 * HALF_NS, 2 * HALF_NS)).as("it leads again: whole leases, of which none was asked for")
            .isFalse();
        assertThat(look(3 * HALF_NS, 2 * HALF_NS)).isFalse();
        assertThat(look(3 * HALF_NS, 3 * HALF_NS)).as("heard of").isFalse();
        assertThat(look(4 * HALF_NS, 3 * HALF_NS)).isTrue();
    }

    @Test
    void shouldNotGiveWayWithoutNodes()
    {
        silence.begin();
        assertThat(silence.isDue(START_NS + 3 * LEASE_NS, NodeSilence.NO_LEASE)).isFalse();
        assertThat(look(3 * LEASE_NS, 2 * LEASE_NS)).as("all leases are over: nobody is waited for").isFalse();
        assertThat(look(3 * LEASE_NS, 3 * LEASE_NS - HALF_NS)).isTrue();
    }

    /** The first node of a leadership that began without any has asked for its lease. */
    @Test
    void shouldHearOfTheFirstNode()
    {
        silence.begin();
        assertThat(look(HALF_NS, 0)).isTrue();
        silence.begin();
        assertThat(silence.isDue(START_NS + LEASE_NS, NodeSilence.NO_LEASE)).isFalse();
        assertThat(look(LEASE_NS, LEASE_NS)).isFalse();
        assertThat(look(LEASE_NS + HALF_NS, LEASE_NS)).isTrue();
    }

    /** The last of the leases ended by an order, and an earlier one is the last. */
    @Test
    void shouldNotTakeANodeThatLeavesForOneThatIsHeardOf()
    {
        silence.begin();
        assertThat(look(HALF_NS, 0)).isTrue();
        silence.begin();
        assertThat(look(LEASE_NS, LEASE_NS)).isFalse();
        assertThat(look(LEASE_NS, LEASE_NS - 1)).isFalse();
        assertThat(look(LEASE_NS + HALF_NS, LEASE_NS - 1)).isFalse();
    }

    @Test
    void shouldNotGiveWayWhereLeasesAreTooShortForAnElection()
    {
        final long shortNs = TimeUnit.SECONDS.toNanos(8);
        final NodeSilence enough = new NodeSilence(shortNs);
        assertThat(enough.isDue(shortNs / 2, shortNs)).isTrue();
        final NodeSilence tooShort = new NodeSilence(shortNs - 2);
        assertThat(tooShort.isDue(shortNs / 2, shortNs - 2)).isFalse();
    }
}
