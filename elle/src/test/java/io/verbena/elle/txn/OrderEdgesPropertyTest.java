package io.verbena.elle.txn;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.elle.history.History;
import io.verbena.elle.history.Operation;
import io.verbena.elle.txn.generate.TxnHistoryGenerator;
import io.verbena.elle.txn.graph.DependencyGraph;
import io.verbena.elle.txn.graph.GraphBuilder;
import io.verbena.elle.txn.isolation.EdgeKind;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.BitSet;

/** The chain of moments against the definition of real time, pair by pair. */
class OrderEdgesPropertyTest
{
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void shouldReachExactlyWhatCameLater(final long seed)
    {
        final History history = new TxnHistoryGenerator(TxnWorkload.LIST_APPEND, seed)
            .transactions(150).processes(7).generate();
        final GraphBuilder builder = new GraphBuilder(history.operations().size());
        OrderEdges.addTo(builder, history);
        final DependencyGraph graph = builder.build();
        for (final Operation from : history.operations())
        {
            final BitSet reached = new BitSet();
            reach(graph, from.id(), reached);
            for (final Operation to : history.operations())
            {
                final boolean isLater = !from.isFail() && !to.isFail() && from.precedes(to);
                assertThat(reached.get(to.id())).as("seed %d: %s before %s", seed, from, to).isEqualTo(isLater);
            }
        }
        assertThat(graph.edgeCount()).isLessThan(4 * history.operations().size());
    }

    /** By edges of real time, through junctions only. */
    private static void reach(final DependencyGraph graph, final int node, final BitSet reached)
    {
        for (int e = graph.firstEdge(node); e < graph.firstEdge(node + 1); e++)
        {
            final int target = graph.target(e);
            if ((graph.kinds(e) & EdgeKind.REALTIME.bit()) != 0 && !reached.get(target))
            {
                reached.set(target);
                if (graph.isJunction(target))
                {
                    reach(graph, target, reached);
                }
            }
        }
    }
}
