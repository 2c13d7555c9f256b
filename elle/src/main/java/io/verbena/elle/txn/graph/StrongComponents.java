package io.verbena.elle.txn.graph;

import java.util.Arrays;

/**
 * Strongly connected components, by Tarjan's algorithm (1972) with its recursion turned into a loop: a history of a
 * million transactions makes paths of a million nodes.
 */
public final class StrongComponents
{
    private final int[] componentOf;
    private final int count;

    private StrongComponents(final int[] componentOf, final int count)
    {
        this.componentOf = componentOf;
        this.count = count;
    }

    /** Finds the components of the graph in which only edges of the given kinds exist. */
    public static StrongComponents of(final DependencyGraph graph, final int kindMask)
    {
        return new Search(graph, kindMask).run();
    }

    /** Number of the node's component, from 0. */
    public int componentOf(final int node)
    {
        return componentOf[node];
    }

    public int count()
    {
        return count;
    }

    /** The components of more than one node, each with its nodes ascending. */
    public int[][] cyclic()
    {
        final int[] starts = new int[count + 1];
        for (final int component : componentOf)
        {
            starts[component + 1]++;
        }
        int cyclicCount = 0;
        for (int i = 0; i < count; i++)
        {
            cyclicCount += starts[i + 1] > 1 ? 1 : 0;
        }
        final int[][] members = new int[count][];
        final int[][] cyclic = new int[cyclicCount][];
        final int[] filled = new int[count];
        int next = 0;
        for (int node = 0; node < componentOf.length; node++)
        {
            final int component = componentOf[node];
            if (starts[component + 1] > 1)
            {
                if (members[component] == null)
                {
                    members[component] = new int[starts[component + 1]];
                    cyclic[next++] = members[component];
                }
                members[component][filled[component]++] = node;
            }
        }
        return cyclic;
    }

    /** For each node whether its component has more than one. */
    public boolean[] inCycle()
    {
        final int[] sizes = new int[count];
        for (final int component : componentOf)
        {
            sizes[component]++;
        }
        final boolean[] inCycle = new boolean[componentOf.length];
        for (int node = 0; node < inCycle.length; node++)
        {
            inCycle[node] = sizes[componentOf[node]] > 1;
        }
        return inCycle;
    }

    private static final class Search
    {
        private static final int UNSEEN = -1;

        private final DependencyGraph graph;
        private final int kindMask;
        private final int[] number;
        private final int[] low;
        private final int[] nextEdge;
        private final int[] componentOf;
        private final IntList path = new IntList();
        private final IntList open = new IntList();
        private int numbered;
        private int components;

        private Search(final DependencyGraph graph, final int kindMask)
        {
            this.graph = graph;
            this.kindMask = kindMask;
            final int nodes = graph.nodeCount();
            number = new int[nodes];
            low = new int[nodes];
            nextEdge = new int[nodes];
            componentOf = new int[nodes];
            Arrays.fill(number, UNSEEN);
            Arrays.fill(componentOf, UNSEEN);
        }

        private StrongComponents run()
        {
            for (int node = 0; node < number.length; node++)
            {
                if (number[node] == UNSEEN)
                {
                    enter(node);
                    while (path.count() > 0)
                    {
                        step(path.last());
                    }
                }
            }
            return new StrongComponents(componentOf, components);
        }

        private void enter(final int node)
        {
            number[node] = numbered;
            low[node] = numbered++;
            nextEdge[node] = graph.firstEdge(node);
            path.add(node);
            open.add(node);
        }

        private void step(final int node)
        {
            final int end = graph.firstEdge(node + 1);
            while (nextEdge[node] < end)
            {
                final int edge = nextEdge[node]++;
                if ((graph.kinds(edge) & kindMask) != 0)
                {
                    final int target = graph.target(edge);
                    if (number[target] == UNSEEN)
                    {
                        enter(target);
                        return;
                    }
                    if (componentOf[target] == UNSEEN)
                    {
                        low[node] = Math.min(low[node], number[target]);
                    }
                }
            }
            leave(node);
        }

        private void leave(final int node)
        {
            path.removeLast();
            if (path.count() > 0)
            {
                low[path.last()] = Math.min(low[path.last()], low[node]);
            }
            if (low[node] == number[node])
            {
                int member;
                do
                {
                    member = open.removeLast();
                    componentOf[member] = components;
                }
                while (member != node);
                components++;
            }
        }
    }
}
