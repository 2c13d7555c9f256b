package io.verbena.compute.maintenance;

import io.verbena.table.sweep.ExpirySweep;

import java.util.Arrays;

/**
 * Which ranges of groups a node sweeps in a round, so that n nodes walk a table once and not n times: those of one of n
 * shares. In the next round it takes the next share, so that what a node leaves out, because it has not opened a table
 * or cannot reach a memory node, another one comes to. Rounds are counted by the wall clock: nodes that agree on it
 * take different shares; where they do not, a range is swept twice in a round, or in a later one, and nothing else
 * happens. Of a table in which no record with a deadline is known the round takes a sample.
 *
 * @param rank  of the node among those that serve, from 0.
 * @param nodes that serve, 1 or more.
 * @param round of all nodes.
 */
record SweepShare(int rank, int nodes, long round)
{
    /** Of so many ranges of its share a sample has one. */
    static final int SAMPLE = 16;
    private static final int SPREAD = 0x9E3779B9;

    /**
     * @param nodeId of this node.
     * @param others numbers of the compute nodes that are known, ascending; this one may be missing.
     * @return its share.
     */
    static SweepShare of(final int nodeId, final int[] others, final long round)
    {
        final int at = Arrays.binarySearch(others, nodeId);
        return at >= 0 ? new SweepShare(at, others.length, round) : new SweepShare(-at - 1, others.length + 1, round);
    }

    /** @return ranges of a subtable. */
    static int ranges(final int groupCount)
    {
        return (groupCount + ExpirySweep.GROUPS - 1) / ExpirySweep.GROUPS;
    }

    /** @return between how many ranges of the share there is one that is swept. */
    int stride(final boolean hasDeadlines)
    {
        return hasDeadlines ? nodes : nodes * SAMPLE;
    }

    /**
     * @param suffix of the subtable.
     * @return the first range of a subtable that is swept, which it may not have; each {@link #stride} behind it is
     *     swept, too.
     */
    int first(final int tableId, final int suffix, final boolean hasDeadlines)
    {
        final long start = (tableId * SPREAD ^ suffix) * SPREAD >>> 1;
        final int inShare = (int)Math.floorMod(start + rank + round, (long)nodes);
        final int skipped = hasDeadlines ? 0 : (int)Math.floorMod(start + round / nodes, (long)SAMPLE);
        return inShare + skipped * nodes;
    }
}
