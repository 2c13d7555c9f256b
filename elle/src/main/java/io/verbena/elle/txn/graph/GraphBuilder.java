package io.verbena.elle.txn.graph;

import java.util.Arrays;

/**
 * Collects edges and makes a {@link DependencyGraph} of them in time linear in their number.
 */
public final class GraphBuilder
{
    /** Up to this many edges, "each before each" is drawn edge by edge. */
    private static final int MAX_DIRECT_EDGES = 64;

    private final int plainCount;
    private int nodeCount;
    private final IntList sources = new IntList();
    private final IntList targets = new IntList();
    private final IntList kinds = new IntList();

    public GraphBuilder(final int plainCount)
    {
        this.plainCount = plainCount;
        this.nodeCount = plainCount;
    }

    /** Adds an edge; one from a node to itself is left out, and so is one of no kind. */
    public void link(final int from, final int to, final int kind)
    {
        if (from != to && kind != 0)
        {
            sources.add(from);
            targets.add(to);
            kinds.add(kind);
        }
    }

    public boolean isEmpty()
    {
        return sources.count() == 0;
    }

    /** Adds a node that only joins edges. */
    public int addJunction()
    {
        return nodeCount++;
    }

    /**
     * Puts each of the first before each of the second, but none before itself.
     *
     * @param before ascending, each once.
     * @param after  ascending, each once.
     */
    public void linkAll(final int[] before, final int[] after, final int kind)
    {
        if ((long)before.length * after.length <= MAX_DIRECT_EDGES)
        {
            for (final int from : before)
            {
                for (final int to : after)
                {
                    link(from, to, kind);
                }
            }
            return;
        }
        final IntList onlyBefore = new IntList();
        final IntList onlyAfter = new IntList();
        final IntList both = new IntList();
        split(before, after, onlyBefore, onlyAfter, both);
        join(onlyBefore, 0, onlyBefore.count(), onlyAfter, 0, onlyAfter.count(), kind);
        join(onlyBefore, 0, onlyBefore.count(), both, 0, both.count(), kind);
        join(both, 0, both.count(), onlyAfter, 0, onlyAfter.count(), kind);
        joinEachOther(both, 0, both.count(), kind);
    }

    public DependencyGraph build()
    {
        // Two stable counting sorts: by target, then by source.
        final int edgeCount = sources.count();
        final int[] byTarget = sorted(null, targets, edgeCount);
        final int[] order = sorted(byTarget, sources, edgeCount);
        final int[] offsets = new int[nodeCount + 1];
        final int[] outTargets = new int[edgeCount];
        final byte[] outKinds = new byte[edgeCount];
        int count = 0;
        int previousSource = -1;
        for (final int edge : order)
        {
            final int source = sources.get(edge);
            final int target = targets.get(edge);
            if (source == previousSource && outTargets[count - 1] == target)
            {
                outKinds[count - 1] |= (byte)kinds.get(edge);
            }
            else
            {
                outTargets[count] = target;
                outKinds[count] = (byte)kinds.get(edge);
                count++;
                offsets[source + 1]++;
            }
            previousSource = source;
        }
        for (int node = 0; node < nodeCount; node++)
        {
            offsets[node + 1] += offsets[node];
        }
        return new DependencyGraph(plainCount, offsets, Arrays.copyOf(outTargets, count),
            Arrays.copyOf(outKinds, count), null);
    }

    private int[] sorted(final int[] order, final IntList keys, final int edgeCount)
    {
        final int[] starts = new int[nodeCount + 1];
        for (int i = 0; i < edgeCount; i++)
        {
            starts[keys.get(i) + 1]++;
        }
        for (int node = 0; node < nodeCount; node++)
        {
            starts[node + 1] += starts[node];
        }
        final int[] result = new int[edgeCount];
        for (int i = 0; i < edgeCount; i++)
        {
            final int edge = order == null ? i : order[i];
            result[starts[keys.get(edge)]++] = edge;
        }
        return result;
    }

    private static void split(
        final int[] before, final int[] after, final IntList onlyBefore, final IntList onlyAfter, final IntList both)
    {
        int i = 0;
        int j = 0;
        while (i < before.length || j < after.length)
        {
            if (j == after.length || (i < before.length && before[i] < after[j]))
            {
                onlyBefore.add(before[i++]);
            }
            else if (i == before.length || after[j] < before[i])
            {
                onlyAfter.add(after[j++]);
            }
            else
            {
                both.add(before[i++]);
                j++;
            }
        }
    }

    private void join(
        final IntList before, final int beforeFrom, final int beforeTo,
        final IntList after, final int afterFrom, final int afterTo, final int kind)
    {
        if (beforeFrom == beforeTo || afterFrom == afterTo)
        {
            return;
        }
        final int junction = addJunction();
        for (int i = beforeFrom; i < beforeTo; i++)
        {
            link(before.get(i), junction, kind);
        }
        for (int i = afterFrom; i < afterTo; i++)
        {
            link(junction, after.get(i), kind);
        }
    }

    /** Halves the list again and again: any two of its nodes end up in different halves exactly once. */
    private void joinEachOther(final IntList nodes, final int from, final int to, final int kind)
    {
        if (to - from < 2)
        {
            return;
        }
        final int middle = (from + to) >>> 1;
        join(nodes, from, middle, nodes, middle, to, kind);
        join(nodes, middle, to, nodes, from, middle, kind);
        joinEachOther(nodes, from, middle, kind);
        joinEachOther(nodes, middle, to, kind);
    }
}
