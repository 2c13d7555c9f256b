package io.verbena.elle.txn.graph;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.elle.txn.isolation.EdgeKind;

import org.jgrapht.Graph;
import org.jgrapht.alg.connectivity.KosarajuStrongConnectivityInspector;
import org.jgrapht.graph.DefaultDirectedGraph;
import org.jgrapht.graph.DefaultEdge;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/** Our graphs against JGraphT's. */
class GraphPropertyTest
{
    private static final int ROUNDS = 300;
    private static final int KIND = EdgeKind.RW.bit();

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void shouldFindTheComponentsThatAnotherLibraryFinds(final long seed)
    {
        final SplittableRandom random = new SplittableRandom(seed);
        for (int round = 0; round < ROUNDS; round++)
        {
            final int nodes = 1 + random.nextInt(40);
            final int edges = random.nextInt(3 * nodes);
            final GraphBuilder builder = new GraphBuilder(nodes);
            final Graph<Integer, DefaultEdge> oracle = emptyGraph(nodes);
            for (int i = 0; i < edges; i++)
            {
                final int from = random.nextInt(nodes);
                final int to = random.nextInt(nodes);
                final int kind = 1 << random.nextInt(3);
                builder.link(from, to, kind);
                if (kind == KIND)
                {
                    oracle.addEdge(from, to);
                }
            }
            assertThat(cyclicSets(builder.build())).as("seed %d round %d", seed, round)
                .isEqualTo(cyclicSets(oracle));
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void shouldPutEachBeforeEachThroughJunctions(final long seed)
    {
        final SplittableRandom random = new SplittableRandom(seed);
        for (int round = 0; round < ROUNDS; round++)
        {
            final int nodes = 30;
            final int[] before = some(random, nodes);
            final int[] after = some(random, nodes);
            final GraphBuilder builder = new GraphBuilder(nodes);
            builder.linkAll(before, after, KIND);
            final DependencyGraph graph = builder.build();
            for (int node = 0; node < nodes; node++)
            {
                final int from = node;
                final Set<Integer> expected = new HashSet<>();
                if (Arrays.binarySearch(before, node) >= 0)
                {
                    Arrays.stream(after).filter(to -> to != from).forEach(expected::add);
                }
                assertThat(successors(graph, node)).as("seed %d round %d", seed, round).isEqualTo(expected);
            }
        }
    }

    @Test
    void shouldNeedFarFewerEdgesThanPairs()
    {
        final int[] all = IntStream.range(0, 10_000).toArray();
        final GraphBuilder builder = new GraphBuilder(all.length);
        builder.linkAll(all, all, KIND);
        assertThat(builder.build().edgeCount()).isLessThan(40 * all.length);
    }

    @Test
    void shouldNotOverflowTheStackOnALongPath()
    {
        final int nodes = 300_000;
        final GraphBuilder builder = new GraphBuilder(nodes);
        for (int node = 0; node < nodes; node++)
        {
            builder.link(node, (node + 1) % nodes, KIND);
        }
        final int[][] cyclic = StrongComponents.of(builder.build(), KIND).cyclic();
        assertThat(cyclic).hasNumberOfRows(1);
        assertThat(cyclic[0]).hasSize(nodes);
    }

    @Test
    void shouldCutOutAPart()
    {
        final GraphBuilder builder = new GraphBuilder(5);
        builder.link(1, 3, 1);
        builder.link(3, 4, 2);
        builder.link(4, 1, 4);
        builder.link(4, 0, 4);
        final int[] scratch = new int[5];
        Arrays.fill(scratch, -1);
        final DependencyGraph part = builder.build().part(new int[]{1, 3, 4}, scratch);
        assertThat(part.edgeCount()).isEqualTo(3);
        assertThat(part.kindsBetween(2, 0)).isEqualTo(4);
        assertThat(part.name(2)).isEqualTo(4);
        assertThat(scratch).containsOnly(-1);
    }

    private static int[] some(final SplittableRandom random, final int nodes)
    {
        final int percent = random.nextInt(101);
        return IntStream.range(0, nodes).filter(ignored -> random.nextInt(100) < percent).toArray();
    }

    /** Nodes reached by one edge; a way through a junction is one edge. */
    private static Set<Integer> successors(final DependencyGraph graph, final int node)
    {
        final Set<Integer> found = new HashSet<>();
        for (int e = graph.firstEdge(node); e < graph.firstEdge(node + 1); e++)
        {
            if (graph.isJunction(graph.target(e)))
            {
                found.addAll(successors(graph, graph.target(e)));
            }
            else
            {
                assertThat(found.add(graph.target(e))).isTrue();
            }
        }
        return found;
    }

    private static Set<Set<Integer>> cyclicSets(final DependencyGraph graph)
    {
        final Set<Set<Integer>> sets = new HashSet<>();
        for (final int[] component : StrongComponents.of(graph, KIND).cyclic())
        {
            assertThat(component).isSorted();
            sets.add(new HashSet<>(Arrays.stream(component).boxed().toList()));
        }
        return sets;
    }

    private static Set<Set<Integer>> cyclicSets(final Graph<Integer, DefaultEdge> graph)
    {
        final List<Set<Integer>> all = new KosarajuStrongConnectivityInspector<>(graph).stronglyConnectedSets();
        final Set<Set<Integer>> sets = new HashSet<>(all);
        sets.removeIf(set -> set.size() == 1);
        return sets;
    }

    private static Graph<Integer, DefaultEdge> emptyGraph(final int nodes)
    {
        final Graph<Integer, DefaultEdge> graph = new DefaultDirectedGraph<>(DefaultEdge.class);
        IntStream.range(0, nodes).forEach(graph::addVertex);
        return graph;
    }
}
