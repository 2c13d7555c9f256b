package io.verbena.elle.txn.isolation;

import java.util.List;

/**
 * The shapes of cycles that are looked for, worst first, each in three variants: of data alone, with the order of
 * processes, with real time.
 */
public enum CycleShape
{
    WRITES(EdgeKind.WW, 0, AnomalyType.G0, AnomalyType.G0_PROCESS, AnomalyType.G0_REALTIME),
    INFORMATION(EdgeKind.WR, EdgeKind.WW.bit(), AnomalyType.G1C, AnomalyType.G1C_PROCESS, AnomalyType.G1C_REALTIME),
    ONE_MISSED(EdgeKind.RW, EdgeKind.WW.bit() | EdgeKind.WR.bit(),
        AnomalyType.G_SINGLE, AnomalyType.G_SINGLE_PROCESS, AnomalyType.G_SINGLE_REALTIME),
    NONE_ADJACENT(EdgeKind.RW, EdgeKind.WW.bit() | EdgeKind.WR.bit(),
        AnomalyType.G_NONADJACENT, AnomalyType.G_NONADJACENT_PROCESS, AnomalyType.G_NONADJACENT_REALTIME),
    SOME_ADJACENT(EdgeKind.RW, EdgeKind.WW.bit() | EdgeKind.WR.bit(),
        AnomalyType.G2_ITEM, AnomalyType.G2_ITEM_PROCESS, AnomalyType.G2_ITEM_REALTIME);

    /** Order edges that may be used besides the data: none, those of processes, those of real time. */
    private static final int[] ORDERS = {0, EdgeKind.PROCESS.bit(), EdgeKind.REALTIME.bit()};

    private final EdgeKind start;
    private final int data;
    private final List<AnomalyType> types;

    CycleShape(final EdgeKind start, final int otherData, final AnomalyType... types)
    {
        this.start = start;
        this.data = start.bit() | otherData;
        this.types = List.of(types);
    }

    public static int variants()
    {
        return ORDERS.length;
    }

    /** The set of order edges of a variant. */
    public static int orderOf(final int variant)
    {
        return ORDERS[variant];
    }

    public AnomalyType type(final int variant)
    {
        return types.get(variant);
    }

    /** The kind of edge that each such cycle has, and with which the search begins. */
    public EdgeKind start()
    {
        return start;
    }

    /** All kinds of edges that such a cycle may have. */
    public int kinds(final int variant)
    {
        return data | ORDERS[variant];
    }

    /** Names the cycle made of such edges; any other edge of a kind between the same nodes does not count. */
    public static AnomalyType typeOf(final List<EdgeKind> cycle)
    {
        int missed = 0;
        boolean adjacent = false;
        boolean reads = false;
        int variant = 0;
        EdgeKind previous = cycle.getLast();
        for (final EdgeKind kind : cycle)
        {
            switch (kind)
            {
                case RW ->
                {
                    missed++;
                    adjacent |= previous == EdgeKind.RW;
                }
                case WR -> reads = true;
                case PROCESS -> variant = Math.max(variant, 1);
                case REALTIME -> variant = 2;
                default ->
                {
                    // Edges of writes are in cycles of every shape.
                }
            }
            previous = kind;
        }
        if (missed == 0)
        {
            return (reads ? INFORMATION : WRITES).type(variant);
        }
        return (missed == 1 ? ONE_MISSED : adjacent ? SOME_ADJACENT : NONE_ADJACENT).type(variant);
    }
}
