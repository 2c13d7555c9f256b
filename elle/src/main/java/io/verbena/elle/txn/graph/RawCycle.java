package io.verbena.elle.txn.graph;

import io.verbena.elle.txn.isolation.AnomalyType;
import io.verbena.elle.txn.isolation.CycleShape;
import io.verbena.elle.txn.isolation.EdgeKind;

import java.util.ArrayList;
import java.util.List;

/**
 * A cycle as found, without words.
 *
 * @param nodes in order, each once.
 * @param kinds of the edges; the i-th leaves the i-th node.
 */
public record RawCycle(List<Integer> nodes, List<EdgeKind> kinds)
{
    public AnomalyType type()
    {
        return CycleShape.typeOf(kinds);
    }

    /** Cuts a closed walk at the nodes it visits again, and turns runs of one order into a single edge. */
    public static List<RawCycle> ofWalk(final List<Integer> walkNodes, final List<EdgeKind> walkKinds)
    {
        final List<RawCycle> cycles = new ArrayList<>();
        final List<Integer> nodes = new ArrayList<>();
        final List<EdgeKind> kinds = new ArrayList<>();
        for (int i = 0; i < walkNodes.size(); i++)
        {
            final int seen = nodes.indexOf(walkNodes.get(i));
            if (seen >= 0)
            {
                cycles.add(cut(nodes, kinds, seen));
            }
            nodes.add(walkNodes.get(i));
            kinds.add(walkKinds.get(i));
        }
        cycles.add(cut(nodes, kinds, 0));
        return cycles;
    }

    private static RawCycle cut(final List<Integer> nodes, final List<EdgeKind> kinds, final int from)
    {
        final List<Integer> cycleNodes = nodes.subList(from, nodes.size());
        final List<EdgeKind> cycleKinds = kinds.subList(from, kinds.size());
        final RawCycle cycle = merged(cycleNodes, cycleKinds);
        cycleNodes.clear();
        cycleKinds.clear();
        return cycle;
    }

    /** The order of a process is transitive, and so is real time. */
    private static RawCycle merged(final List<Integer> nodes, final List<EdgeKind> kinds)
    {
        final List<Integer> keptNodes = new ArrayList<>();
        final List<EdgeKind> keptKinds = new ArrayList<>();
        EdgeKind previous = kinds.getLast();
        for (int i = 0; i < nodes.size(); i++)
        {
            final EdgeKind kind = kinds.get(i);
            final boolean order = kind == EdgeKind.PROCESS || kind == EdgeKind.REALTIME;
            if (!order || kind != previous)
            {
                keptNodes.add(nodes.get(i));
                keptKinds.add(kind);
            }
            previous = kind;
        }
        return new RawCycle(List.copyOf(keptNodes), List.copyOf(keptKinds));
    }
}
