package io.verbena.elle.txn;

import io.verbena.elle.txn.graph.CycleSearch;
import io.verbena.elle.txn.graph.DependencyGraph;
import io.verbena.elle.txn.graph.GraphBuilder;
import io.verbena.elle.txn.graph.StrongComponents;
import io.verbena.elle.txn.isolation.AnomalyType;
import io.verbena.elle.txn.isolation.CycleShape;
import io.verbena.elle.txn.isolation.EdgeKind;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.stream.Collectors;

/**
 * What is known of the order of each register's versions: a graph over all versions of all keys, the initial states
 * behind the others, whose kinds of edges are {@link VersionSource}s.
 *
 * <p>Sources are added one after the other. Where one makes a circle of the versions of a key, that is an anomaly, and
 * the source is not used for that key.
 */
final class VersionGraph
{
    private final Transactions transactions;
    private final Findings findings;
    private DependencyGraph graph;

    VersionGraph(
        final Transactions transactions,
        final Footprint footprint,
        final TxnOptions options,
        final Findings findings)
    {
        this.transactions = transactions;
        this.findings = findings;
        graph = new GraphBuilder(nodes()).build();
        for (final VersionSource source : VersionSource.values())
        {
            if (source.isAssumed(options))
            {
                add(source, VersionEdges.of(source, transactions, footprint));
            }
        }
    }

    /** Edges from one version to versions that come after it; nodes are versions, and places of initial states. */
    DependencyGraph graph()
    {
        return graph;
    }

    int initialOf(final int key)
    {
        return VersionEdges.initialOf(transactions, key);
    }

    /** Why one version is before another, or null if that is not known directly. */
    VersionSource sourceOf(final int before, final int after)
    {
        final int kinds = graph.kindsBetween(before, after);
        return kinds == 0 ? null : VersionSource.values()[Integer.numberOfTrailingZeros(kinds)];
    }

    private int nodes()
    {
        return VersionEdges.initialOf(transactions, transactions.keyCount());
    }

    private int keyOf(final int node)
    {
        return node < transactions.versionCount() ? transactions.keyOfVersion(node) :
            node - transactions.versionCount();
    }

    private void add(final VersionSource source, final VersionEdges edges)
    {
        final BitSet without = new BitSet();
        final DependencyGraph tried = merged(edges, source, without);
        for (final int[] circle : StrongComponents.of(tried, ~0).cyclic())
        {
            without.set(keyOf(circle[0]));
            findings.add(AnomalyType.CYCLIC_VERSIONS, () -> cyclic(tried, circle));
        }
        graph = without.isEmpty() ? tried : merged(edges, source, without);
    }

    private DependencyGraph merged(final VersionEdges edges, final VersionSource source, final BitSet without)
    {
        final GraphBuilder builder = new GraphBuilder(nodes());
        for (int node = 0; node < nodes(); node++)
        {
            for (int e = graph.firstEdge(node); e < graph.firstEdge(node + 1); e++)
            {
                builder.link(node, graph.target(e), graph.kinds(e));
            }
        }
        for (int i = 0; i < edges.count(); i++)
        {
            if (!without.get(keyOf(edges.before(i))))
            {
                builder.link(edges.before(i), edges.after(i), source.bit());
            }
        }
        return builder.build();
    }

    private Anomaly cyclic(final DependencyGraph tried, final int[] circle)
    {
        final List<Integer> nodes = shortestCircle(tried, circle);
        final List<String> names = new ArrayList<>();
        for (int i = 0; i < nodes.size(); i++)
        {
            final int next = nodes.get((i + 1) % nodes.size());
            final int kinds = tried.kindsBetween(nodes.get(i), next);
            names.add(name(nodes.get(i)) + " before " + name(next) + " (" +
                VersionSource.values()[Integer.numberOfTrailingZeros(kinds)].reason() + ")");
        }
        final List<Integer> writers = nodes.stream()
            .filter(node -> node < transactions.versionCount()).map(transactions::writer).distinct().toList();
        return Anomaly.of(AnomalyType.CYCLIC_VERSIONS, writers, "the versions of key " +
            Words.value(transactions.keyName(keyOf(circle[0]))) + " would follow each other in a circle: " +
            names.stream().collect(Collectors.joining(", ")));
    }

    private static List<Integer> shortestCircle(final DependencyGraph tried, final int[] circle)
    {
        final GraphBuilder builder = new GraphBuilder(circle.length);
        for (int i = 0; i < circle.length; i++)
        {
            for (int e = tried.firstEdge(circle[i]); e < tried.firstEdge(circle[i] + 1); e++)
            {
                final int target = Arrays.binarySearch(circle, tried.target(e));
                if (target >= 0)
                {
                    builder.link(i, target, EdgeKind.WW.bit());
                }
            }
        }
        final boolean[] everywhere = new boolean[circle.length];
        Arrays.fill(everywhere, true);
        return new CycleSearch(builder.build(), circle.length * 1_000L, () -> false)
            .find(CycleShape.WRITES, 0, everywhere, everywhere)
            .getFirst().nodes().stream().map(node -> circle[node]).toList();
    }

    private String name(final int node)
    {
        return node < transactions.versionCount() ? Words.value(transactions.valueOfVersion(node)) : "nil";
    }
}
