package io.verbena.elle.txn.graph;

/**
 * A graph over int arrays: the edges of a node stand side by side, in the order of their targets, each with the set of
 * its kinds as bits. Immutable once built.
 *
 * <p>Nodes below {@link #plainCount()} stand for transactions (or versions). Those above are junctions: "each of these
 * before each of those" is drawn through one of them with a + b instead of a * b edges. An edge into a junction and one
 * out of it are together one edge, of the kind of the first.
 */
public final class DependencyGraph
{
    private final int plainCount;
    private final int[] offsets;
    private final int[] targets;
    private final byte[] kinds;
    private final int[] names;

    public DependencyGraph(
        final int plainCount, final int[] offsets, final int[] targets, final byte[] kinds, final int[] names)
    {
        this.plainCount = plainCount;
        this.offsets = offsets;
        this.targets = targets;
        this.kinds = kinds;
        this.names = names;
    }

    public int nodeCount()
    {
        return offsets.length - 1;
    }

    public int plainCount()
    {
        return plainCount;
    }

    public boolean isJunction(final int node)
    {
        return node >= plainCount;
    }

    public int edgeCount()
    {
        return targets.length;
    }

    /** Index of the first edge of the node; its edges end where those of the next node begin. */
    public int firstEdge(final int node)
    {
        return offsets[node];
    }

    public int target(final int edge)
    {
        return targets[edge];
    }

    public int kinds(final int edge)
    {
        return kinds[edge];
    }

    /** Number that the node has in the graph from which this one was cut. */
    public int name(final int node)
    {
        return names == null ? node : names[node];
    }

    /** The kinds of the edge between two nodes, or 0 if there is none. */
    public int kindsBetween(final int from, final int to)
    {
        int low = offsets[from];
        int high = offsets[from + 1] - 1;
        while (low <= high)
        {
            final int middle = (low + high) >>> 1;
            if (targets[middle] == to)
            {
                return kinds[middle];
            }
            if (targets[middle] < to)
            {
                low = middle + 1;
            }
            else
            {
                high = middle - 1;
            }
        }
        return 0;
    }

    /**
     * Cuts out some nodes and the edges among them.
     *
     * @param nodes   ascending.
     * @param scratch of length {@link #nodeCount()} and filled with -1, as it is again afterwards.
     */
    public DependencyGraph part(final int[] nodes, final int[] scratch)
    {
        int plain = 0;
        for (int i = 0; i < nodes.length; i++)
        {
            scratch[nodes[i]] = i;
            plain += isJunction(nodes[i]) ? 0 : 1;
        }
        final int[] partOffsets = new int[nodes.length + 1];
        final IntList partTargets = new IntList();
        final IntList partKinds = new IntList();
        for (int i = 0; i < nodes.length; i++)
        {
            for (int e = offsets[nodes[i]]; e < offsets[nodes[i] + 1]; e++)
            {
                if (scratch[targets[e]] >= 0)
                {
                    partTargets.add(scratch[targets[e]]);
                    partKinds.add(kinds[e]);
                }
            }
            partOffsets[i + 1] = partTargets.count();
        }
        final byte[] kindBytes = new byte[partKinds.count()];
        for (int i = 0; i < kindBytes.length; i++)
        {
            kindBytes[i] = (byte)partKinds.get(i);
        }
        for (final int node : nodes)
        {
            scratch[node] = -1;
        }
        return new DependencyGraph(plain, partOffsets, partTargets.toArray(), kindBytes, nodes);
    }
}
