package io.verbena.elle.txn.graph;

import io.verbena.elle.txn.isolation.CycleShape;
import io.verbena.elle.txn.isolation.EdgeKind;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * Breadth-first search for a shortest cycle of a given shape in one strongly connected part of a graph.
 *
 * <p>It walks over pairs of a node and what must be remembered of the way there: whether an order edge was used,
 * whether a second anti-dependency was, whether the last edge was one, and whether two stood in a row.
 */
public final class CycleSearch
{
    private static final int ORDER_USED = 1;
    private static final int SEVERAL_MISSED = 2;
    private static final int LAST_MISSED = 4;
    private static final int ADJACENT = 8;
    private static final int STATE_BITS = 4;
    private static final int NOT_ALLOWED = -1;

    private static final int WW = EdgeKind.WW.bit();
    private static final int WR = EdgeKind.WR.bit();
    private static final int RW = EdgeKind.RW.bit();

    private final DependencyGraph graph;
    private final long maxSteps;
    private final BooleanSupplier stop;

    private final int[] seenBy;
    private final int[] cameFrom;
    private final IntList level = new IntList();
    private final IntList nextLevel = new IntList();
    private final IntList junctions = new IntList();
    private int search;
    private long steps;
    private boolean exhausted;

    private CycleShape shape;
    private int order;
    private boolean[] arena;
    private int origin;
    private int goal;

    public CycleSearch(final DependencyGraph graph, final long maxSteps, final BooleanSupplier stop)
    {
        this.graph = graph;
        this.maxSteps = maxSteps;
        this.stop = stop;
        seenBy = new int[graph.nodeCount() << STATE_BITS];
        cameFrom = new int[seenBy.length];
    }

    /** Whether the last search ended early and empty-handed, so that what it did not find may yet exist. */
    public boolean isExhausted()
    {
        return exhausted;
    }

    /**
     * Looks for a cycle.
     *
     * @param wanted  shape.
     * @param variant of the shape; a cycle must have at least one of its order edges.
     * @param within  nodes to stay within: those that lie on some cycle of the kinds of the shape.
     * @param starts  nodes to begin at.
     * @return a shortest closed walk of that shape, cut into cycles; empty if none was found.
     */
    public List<RawCycle> find(
        final CycleShape wanted, final int variant, final boolean[] within, final boolean[] starts)
    {
        shape = wanted;
        order = CycleShape.orderOf(variant);
        arena = within;
        steps = 0;
        exhausted = false;
        List<RawCycle> best = List.of();
        int bestLength = Integer.MAX_VALUE;
        for (int node = 0; node < graph.plainCount() && bestLength > 2; node++)
        {
            if (starts[node] && within[node])
            {
                final int length = search(node, bestLength);
                if (length < bestLength)
                {
                    bestLength = length;
                    best = walk();
                }
                if (exhausted || steps > maxSteps)
                {
                    // With a cycle at hand this only means that a shorter one may exist.
                    exhausted = best.isEmpty();
                    break;
                }
            }
        }
        return best;
    }

    /** Edges on the shortest way from the node back to it, if they are fewer than the limit; else the limit. */
    private int search(final int from, final int limit)
    {
        search++;
        origin = from;
        goal = NOT_ALLOWED;
        level.clear();
        nextLevel.clear();
        for (int e = graph.firstEdge(from); e < graph.firstEdge(from + 1); e++)
        {
            if ((graph.kinds(e) & shape.start().bit()) != 0)
            {
                reach(graph.target(e), shape.start() == EdgeKind.RW ? LAST_MISSED : 0, NOT_ALLOWED);
            }
        }
        for (int length = 2; length < limit && nextLevel.count() > 0; length++)
        {
            level.clear();
            for (int i = 0; i < nextLevel.count(); i++)
            {
                level.add(nextLevel.get(i));
            }
            nextLevel.clear();
            for (int i = 0; i < level.count() && goal == NOT_ALLOWED; i++)
            {
                expand(level.get(i));
            }
            if (goal != NOT_ALLOWED)
            {
                return length;
            }
            if (steps > maxSteps || stop.getAsBoolean())
            {
                exhausted = true;
                return limit;
            }
        }
        return limit;
    }

    private void expand(final int place)
    {
        final int node = place >>> STATE_BITS;
        final int state = place & ((1 << STATE_BITS) - 1);
        for (int e = graph.firstEdge(node); e < graph.firstEdge(node + 1); e++)
        {
            steps++;
            final int target = graph.target(e);
            if (arena[target])
            {
                final int kinds = graph.kinds(e);
                tryEdge(target, afterData(state, kinds), place);
                tryEdge(target, afterMissed(state, kinds), place);
                tryEdge(target, (kinds & order) != 0 ? (state | ORDER_USED) & ~LAST_MISSED : NOT_ALLOWED, place);
            }
        }
    }

    private int afterData(final int state, final int kinds)
    {
        final int allowed = shape.kinds(0) & (WW | WR);
        return (kinds & allowed) != 0 ? state & ~LAST_MISSED : NOT_ALLOWED;
    }

    private int afterMissed(final int state, final int kinds)
    {
        if ((kinds & RW) == 0)
        {
            return NOT_ALLOWED;
        }
        return switch (shape)
        {
            case NONE_ADJACENT -> (state & LAST_MISSED) == 0 ? state | SEVERAL_MISSED | LAST_MISSED : NOT_ALLOWED;
            case SOME_ADJACENT ->
                state | SEVERAL_MISSED | LAST_MISSED | ((state & LAST_MISSED) != 0 ? ADJACENT : 0);
            default -> NOT_ALLOWED;
        };
    }

    private void tryEdge(final int target, final int state, final int place)
    {
        if (state != NOT_ALLOWED)
        {
            reach(target, state, place);
        }
    }

    /** Notes that a node was reached; one reached through a junction was reached by the same edge. */
    private void reach(final int target, final int state, final int place)
    {
        visit(target, state, place);
        while (junctions.count() > 0)
        {
            final int junctionPlace = junctions.removeLast();
            final int junction = junctionPlace >>> STATE_BITS;
            for (int e = graph.firstEdge(junction); e < graph.firstEdge(junction + 1); e++)
            {
                steps++;
                if (arena[graph.target(e)])
                {
                    visit(graph.target(e), state, junctionPlace);
                }
            }
        }
    }

    private void visit(final int node, final int state, final int place)
    {
        final int visited = node << STATE_BITS | state;
        if (seenBy[visited] == search || !arena[node])
        {
            return;
        }
        seenBy[visited] = search;
        cameFrom[visited] = place;
        if (graph.isJunction(node))
        {
            junctions.add(visited);
        }
        else if (node == origin && isWanted(state))
        {
            goal = visited;
        }
        else
        {
            nextLevel.add(visited);
        }
    }

    private boolean isWanted(final int state)
    {
        if (order != 0 && (state & ORDER_USED) == 0)
        {
            return false;
        }
        return switch (shape)
        {
            // Each walk begins with an anti-dependency, so ending with one puts two in a row.
            case NONE_ADJACENT -> (state & SEVERAL_MISSED) != 0 && (state & LAST_MISSED) == 0;
            case SOME_ADJACENT -> (state & SEVERAL_MISSED) != 0 && (state & (ADJACENT | LAST_MISSED)) != 0;
            default -> true;
        };
    }

    private List<RawCycle> walk()
    {
        final List<Integer> nodes = new ArrayList<>();
        final List<EdgeKind> kinds = new ArrayList<>();
        int place = goal;
        while (place != NOT_ALLOWED)
        {
            // From here back over any junctions to the transaction before.
            final int state = place & ((1 << STATE_BITS) - 1);
            int edgeTarget = place;
            int before = cameFrom[place];
            while (before != NOT_ALLOWED && graph.isJunction(before >>> STATE_BITS))
            {
                edgeTarget = before;
                before = cameFrom[before];
            }
            final int from = before == NOT_ALLOWED ? origin : before >>> STATE_BITS;
            nodes.add(graph.name(from));
            kinds.add(before == NOT_ALLOWED ? shape.start() :
                kindTaken(graph.kindsBetween(from, edgeTarget >>> STATE_BITS),
                    before & ((1 << STATE_BITS) - 1), state));
            place = before;
        }
        Collections.reverse(nodes);
        Collections.reverse(kinds);
        return RawCycle.ofWalk(nodes, kinds);
    }

    /** Several reasons may stand between two transactions; this is the one that the walk made use of. */
    private EdgeKind kindTaken(final int kinds, final int before, final int after)
    {
        if ((after & LAST_MISSED) != 0)
        {
            return EdgeKind.RW;
        }
        final boolean orderNeeded = (after & ORDER_USED) != 0 && (before & ORDER_USED) == 0;
        if (!orderNeeded && (kinds & shape.kinds(0) & WW) != 0)
        {
            return EdgeKind.WW;
        }
        if (!orderNeeded && (kinds & shape.kinds(0) & WR) != 0)
        {
            return EdgeKind.WR;
        }
        return order == EdgeKind.PROCESS.bit() ? EdgeKind.PROCESS : EdgeKind.REALTIME;
    }
}
