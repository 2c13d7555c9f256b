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

    /** Between two looks, of a leader that has its processor. */
    private static final long LOOK_NS = LEASE_NS / 8;

    private final NodeSilence silence = new NodeSilence(LEASE_NS);
    private long lookedNs;
    private long heard;

    private void begin(final long sinceStartNs)
    {
        silence.begin(START_NS + sinceStartNs);
        lookedNs = sinceStartNs;
        heard = 0;
    }

    /** Looks all the time until then, and is not due before. */
    private boolean look(final long sinceStartNs, final long requests)
    {
        for (long at = lookedNs + LOOK_NS; at < sinceStartNs; at += LOOK_NS)
        {
            assertThat(silence.isDue(START_NS + at, heard, () -> true)).isFalse();
        }
        lookedNs = sinceStartNs;
        heard = requests;
        return silence.isDue(START_NS + sinceStartNs, requests, () -> true);
    }

    /** What it could not hear is no silence. */
    @Test
    void shouldNotCountTimeInWhichTheLeaderWasAway()
    {
        begin(0);
        assertThat(look(1, 1)).isFalse();
        assertThat(silence.isDue(START_NS + 1 + LEASE_NS, 1, () -> true)).isFalse();
        lookedNs = 1 + LEASE_NS;
        assertThat(look(LEASE_NS + HALF_NS, 1)).isFalse();
        assertThat(look(LEASE_NS + HALF_NS + 1, 1)).isTrue();
    }

    @Test
    void shouldGiveWayWhenHalfOfALeaseHasPassedSinceANodeWasHeardOf()
    {
        begin(0);
        assertThat(look(1, 1)).isFalse();
        assertThat(look(HALF_NS, 1)).isFalse();
        assertThat(look(HALF_NS + 1, 1)).isTrue();
    }

    @Test
    void shouldNotGiveWayWhileNodesAreHeardOf()
    {
        begin(0);
        for (int i = 1; i < 5; i++)
        {
            assertThat(look(i * HALF_NS, i)).isFalse();
        }
    }

    /** Each leadership begins with whole leases. */
    @Test
    void shouldGiveWayOnceUntilANodeIsHeardOf()
    {
        begin(0);
        assertThat(look(HALF_NS, 0)).as("a new leader that nobody reaches").isTrue();
        assertThat(look(2 * HALF_NS, 0)).as("the other member was not elected").isFalse();

        begin(3 * HALF_NS);
        assertThat(look(5 * HALF_NS, 0)).as("it leads again, and nobody reaches it").isFalse();
        assertThat(look(6 * HALF_NS, 1)).as("heard of").isFalse();
        assertThat(look(7 * HALF_NS, 1)).isTrue();
    }

    /** As many requests as in the leadership before, and as late as its last one. */
    @Test
    void shouldCountFromTheBeginningOfALeadership()
    {
        begin(0);
        assertThat(look(1, 3)).isFalse();
        begin(2 * HALF_NS);
        assertThat(look(3 * HALF_NS - 2, 0)).isFalse();
        assertThat(look(3 * HALF_NS - 1, 3)).as("heard of").isFalse();
        assertThat(look(4 * HALF_NS - 2, 3)).isFalse();
        assertThat(look(4 * HALF_NS - 1, 3)).isTrue();
    }

    /** That there were some under the leadership before is not heard now. */
    @Test
    void shouldNotTakeEarlierRequestsForOnesOfThisLeadership()
    {
        begin(0);
        assertThat(look(0, 3)).isFalse();
        assertThat(look(HALF_NS, 3)).isTrue();
        begin(2 * HALF_NS);
        assertThat(look(2 * HALF_NS, 0)).isFalse();
        assertThat(look(3 * HALF_NS, 0)).isFalse();
    }

    @Test
    void shouldNotGiveWayWhereNoNodeHasALease()
    {
        begin(0);
        assertThat(look(HALF_NS - 1, 0)).isFalse();
        assertThat(silence.isDue(START_NS + HALF_NS, 0, () -> false)).isFalse();
        assertThat(silence.isDue(START_NS + HALF_NS, 0, () -> true)).isTrue();
    }

    @Test
    void shouldNotGiveWayWhereLeasesAreTooShortForAnElection()
    {
        final long shortNs = TimeUnit.SECONDS.toNanos(8);
        assertThat(isEverDue(new NodeSilence(shortNs))).isTrue();
        assertThat(isEverDue(new NodeSilence(shortNs - 2))).isFalse();
    }

    private static boolean isEverDue(final NodeSilence silence)
    {
        silence.begin(START_NS);
        boolean isDue = false;
        for (long at = 0; at < LEASE_NS; at += LOOK_NS / 2)
        {
            isDue |= silence.isDue(START_NS + at, 0, () -> true);
        }
        return isDue;
    }
}
