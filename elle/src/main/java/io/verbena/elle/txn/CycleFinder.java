package io.verbena.elle.txn;

import io.verbena.elle.txn.graph.CycleSearch;
import io.verbena.elle.txn.graph.DependencyGraph;
import io.verbena.elle.txn.graph.GraphBuilder;
import io.verbena.elle.txn.graph.RawCycle;
import io.verbena.elle.txn.graph.StrongComponents;
import io.verbena.elle.txn.isolation.AnomalyType;
import io.verbena.elle.txn.isolation.ConsistencyModel;
import io.verbena.elle.txn.isolation.CycleShape;
import io.verbena.elle.txn.isolation.EdgeKind;
import io.verbena.elle.txn.isolation.ModelLattice;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * Finds out which cycles one strongly connected component of the dependency graph holds: first which models can no
 * longer be, in linear time and without any doubt, then examples, for which there may not be time enough.
 */
final class CycleFinder
{
    private static final int WW = EdgeKind.WW.bit();
    private static final int WR = EdgeKind.WR.bit();
    private static final int RW = EdgeKind.RW.bit();

    /** The model that each variant's cycles of writes, of information, without adjacent rw, and of all kinds forbid. */
    private static final ConsistencyModel[][] MODELS =
    {
        {
            ConsistencyModel.READ_UNCOMMITTED, ConsistencyModel.STRONG_SESSION_READ_UNCOMMITTED,
            ConsistencyModel.STRONG_READ_UNCOMMITTED
        },
        {
            ConsistencyModel.READ_COMMITTED, ConsistencyModel.STRONG_SESSION_READ_COMMITTED,
            ConsistencyModel.STRONG_READ_COMMITTED
        },
        {
            ConsistencyModel.SNAPSHOT_ISOLATION, ConsistencyModel.STRONG_SESSION_SNAPSHOT_ISOLATION,
            ConsistencyModel.STRONG_SNAPSHOT_ISOLATION
        },
        {
            ConsistencyModel.SERIALIZABLE, ConsistencyModel.STRONG_SESSION_SERIALIZABLE,
            ConsistencyModel.STRICT_SERIALIZABLE
        }
    };

    private final DependencyGraph component;
    private final TxnOptions options;
    private final Set<AnomalyType> types = EnumSet.noneOf(AnomalyType.class);
    private final Set<AnomalyType> unsearched = EnumSet.noneOf(AnomalyType.class);
    private final Set<ConsistencyModel> impossible = EnumSet.noneOf(ConsistencyModel.class);
    private final List<RawCycle> cycles = new ArrayList<>();

    CycleFinder(final DependencyGraph component, final TxnOptions options)
    {
        this.component = component;
        this.options = options;
    }

    CycleFinder run()
    {
        final CycleSearch search = new CycleSearch(component, options.maxSearchSteps(), options.stop());
        for (int variant = 0; variant < CycleShape.variants() && !options.stop().getAsBoolean(); variant++)
        {
            runVariant(search, variant);
        }
        return this;
    }

    /** One cycle of each type found, but none of a type that a worse one found is a case of. */
    List<RawCycle> cycles()
    {
        return cycles;
    }

    /** Models that cannot hold because a cycle that they forbid exists, whether or not it was found. */
    Set<ConsistencyModel> impossible()
    {
        return impossible;
    }

    /** Types of which a cycle may exist though the search for it ended early. */
    Set<AnomalyType> unsearched()
    {
        return unsearched;
    }

    private void runVariant(final CycleSearch search, final int variant)
    {
        final int order = CycleShape.orderOf(variant);
        final boolean[] writes = cyclic(WW | order, 0, variant);
        final boolean[] information = cyclic(WW | WR | order, 1, variant);
        final boolean[] all = cyclic(WW | WR | RW | order, 3, variant);
        final boolean[] apart = startsOfCyclesWithoutAdjacent(order);
        note(apart, 2, variant);
        find(search, CycleShape.WRITES, variant, writes, writes);
        find(search, CycleShape.INFORMATION, variant, information, information);
        find(search, CycleShape.ONE_MISSED, variant, all, apart);
        find(search, CycleShape.NONE_ADJACENT, variant, all, apart);
        find(search, CycleShape.SOME_ADJACENT, variant, all, all);
    }

    private void find(
        final CycleSearch search,
        final CycleShape shape,
        final int variant,
        final boolean[] within,
        final boolean[] starts)
    {
        final AnomalyType type = shape.type(variant);
        if (ModelLattice.closure(types).contains(type))
        {
            return;
        }
        for (final RawCycle cycle : search.find(shape, variant, within, starts))
        {
            // The pieces of a walk may be of worse types than the walk.
            if (!ModelLattice.closure(types).contains(cycle.type()))
            {
                types.add(cycle.type());
                cycles.add(cycle);
            }
        }
        if (search.isExhausted())
        {
            unsearched.add(type);
        }
    }

    private boolean[] cyclic(final int kinds, final int row, final int variant)
    {
        final boolean[] inCycle = StrongComponents.of(component, kinds).inCycle();
        note(inCycle, row, variant);
        return inCycle;
    }

    private void note(final boolean[] inCycle, final int row, final int variant)
    {
        for (final boolean found : inCycle)
        {
            if (found)
            {
                impossible.add(MODELS[row][variant]);
                return;
            }
        }
    }

    /**
     * Nodes where a cycle with at least one rw, and no two of them in a row, can begin with an rw.
     *
     * <p>Snapshot isolation is: each edge of another kind, followed by an rw or not, leads on to a later snapshot
     * (Cerone, Gotsman 2016, theorem 9). So the graph is doubled: node 2x is x reached by another edge, 2x + 1 is x
     * reached by an rw, from where no rw leads on.
     */
    private boolean[] startsOfCyclesWithoutAdjacent(final int order)
    {
        final int nodes = component.nodeCount();
        final int other = WW | WR | order;
        final GraphBuilder builder = new GraphBuilder(2 * nodes);
        for (int node = 0; node < nodes; node++)
        {
            for (int e = component.firstEdge(node); e < component.firstEdge(node + 1); e++)
            {
                final int target = component.target(e);
                final int kinds = component.kinds(e);
                if (component.isJunction(node))
                {
                    builder.link(2 * node, 2 * target, kinds & other);
                    builder.link(2 * node + 1, 2 * target + 1, kinds & RW);
                }
                else
                {
                    builder.link(2 * node, 2 * target, kinds & other);
                    builder.link(2 * node + 1, 2 * target, kinds & other);
                    builder.link(2 * node, 2 * target + 1, kinds & RW);
                }
            }
        }
        final DependencyGraph doubled = builder.build();
        final StrongComponents components = StrongComponents.of(doubled, other | RW);
        final boolean[] starts = new boolean[nodes];
        for (int node = 0; node < component.plainCount(); node++)
        {
            for (int e = doubled.firstEdge(2 * node); e < doubled.firstEdge(2 * node + 1); e++)
            {
                starts[node] |= (doubled.kinds(e) & RW) != 0 &&
                    components.componentOf(2 * node) == components.componentOf(doubled.target(e));
            }
        }
        return starts;
    }
}
