package io.verbena.meta.raft;

import org.junit.jupiter.api.Test;

import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

class NodeSilenceTest
{
    private static final long LEASE_NS = TimeUnit.SECONDS.toNanos(10);
    private static final long HALF_NS = LEASE_NS / 2;
    /** Clocks begin anywhere. */
    private static final long START_NS = Long.MAX_VALUE - HALF_NS;

    private final NodeSilence silence = new NodeSilence(LEASE_NS);

    private boolean look(final long sinceStartNs, final long requests)
    {
        return silence.isDue(START_NS + sinceStartNs, requests, true);
    }

    @Test
    void shouldGiveWayWhenHalfOfALeaseHasPassedSinceANodeWasHeardOf()
    {
        silence.begin(START_NS);
        assertThat(look(1, 1)).isFalse();
        assertThat(look(HALF_NS, 1)).isFalse();
        assertThat(look(HALF_NS + 1, 1)).isTrue();
    }

    @Test
    void shouldNotGiveWayWhileNodesAreHeardOf()
    {
        silence.begin(START_NS);
        for (int i = 1; i < 5; i++)
        {
            assertThat(look(i * HALF_NS, i)).isFalse();
        }
    }

    /** Each leadership begins with whole leases. */
    @Test
    void shouldGiveWayOnceUntilANodeIsHeardOf()
    {
        silence.begin(START_NS);
        assertThat(look(HALF_NS, 0)).as("a new leader that nobody reaches").isTrue();
        assertThat(look(2 * HALF_NS, 0)).as("the other member was not elected").isFalse();

        silence.begin(START_NS + 3 * HALF_NS);
        assertThat(look(5 * HALF_NS, 0)).as("it leads again, and nobody reaches it").isFalse();
        assertThat(look(6 * HALF_NS, 1)).as("heard of").isFalse();
        assertThat(look(7 * HALF_NS, 1)).isTrue();
    }

    /** As many requests as in the leadership before, and as late as its last one. */
    @Test
    void shouldCountFromTheBeginningOfALeadership()
    {
        silence.begin(START_NS);
        assertThat(look(1, 3)).isFalse();
        silence.begin(START_NS + 2 * HALF_NS);
        assertThat(look(3 * HALF_NS - 1, 0)).isFalse();
        assertThat(look(4 * HALF_NS - 1, 3)).as("heard of").isFalse();
        assertThat(look(5 * HALF_NS - 2, 3)).isFalse();
        assertThat(look(5 * HALF_NS - 1, 3)).isTrue();
    }

    /** That there were some under the leadership before is not heard now. */
    @Test
    void shouldNotTakeEarlierRequestsForOnesOfThisLeadership()
    {
        silence.begin(START_NS);
        assertThat(look(0, 3)).isFalse();
        assertThat(look(HALF_NS, 3)).isTrue();
        silence.begin(START_NS + 2 * HALF_NS);
        assertThat(look(2 * HALF_NS, 0)).isFalse();
        assertThat(look(3 * HALF_NS, 0)).isFalse();
    }

    @Test
    void shouldNotGiveWayWhereNoNodeHasALease()
    {
        silence.begin(START_NS);
        assertThat(silence.isDue(START_NS + LEASE_NS, 0, false)).isFalse();
        assertThat(silence.isDue(START_NS + LEASE_NS, 0, true)).isTrue();
    }

    @Test
    void shouldNotGiveWayWhereLeasesAreTooShortForAnElection()
    {
        final long shortNs = TimeUnit.SECONDS.toNanos(8);
        final NodeSilence enough = new NodeSilence(shortNs);
        enough.begin(START_NS);
        assertThat(enough.isDue(START_NS + shortNs, 0, true)).isTrue();
        final NodeSilence tooShort = new NodeSilence(shortNs - 2);
        tooShort.begin(START_NS);
        assertThat(tooShort.isDue(START_NS + shortNs, 0, true)).isFalse();
    }
}
