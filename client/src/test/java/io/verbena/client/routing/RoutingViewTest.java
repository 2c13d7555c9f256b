package io.verbena.client.routing;

import io.verbena.protocol.request.ComputeEndpoint;

import org.junit.jupiter.api.Test;

import java.util.HashSet;
import java.util.Set;
import java.util.stream.IntStream;

import static org.assertj.core.api.Assertions.assertThat;

class RoutingViewTest
{
    @Test
    void shouldSpreadPartitionsEvenly()
    {
        final RoutingView view = view(1, 2, 3, 4);
        final int[] counts = new int[5];

        IntStream.range(0, RoutingView.PARTITIONS).forEach((i) -> counts[view.endpoint(i, 0).id()]++);

        for (int id = 1; id <= 4; id++)
        {
            assertThat(counts[id]).isBetween(RoutingView.PARTITIONS / 6, RoutingView.PARTITIONS / 3);
        }
    }

    @Test
    void shouldMoveOnlyWhatANewNodeTakes()
    {
        final RoutingView before = view(1, 2, 3);
        final RoutingView after = view(1, 2, 3, 9);

        for (int i = 0; i < RoutingView.PARTITIONS; i++)
        {
            assertThat(after.endpoint(i, 0).id()).isIn(before.endpoint(i, 0).id(), 9);
        }
    }

    @Test
    void shouldMoveOnlyWhatAGoneNodeLeaves()
    {
        final RoutingView before = view(1, 2, 3);
        final RoutingView after = view(1, 3);

        for (int i = 0; i < RoutingView.PARTITIONS; i++)
        {
            if (2 != before.endpoint(i, 0).id())
            {
                assertThat(after.endpoint(i, 0).id()).isEqualTo(before.endpoint(i, 0).id());
            }
        }
    }

    @Test
    void shouldReachEveryNodeByCountingAttempts()
    {
        final RoutingView view = view(4, 5, 6);
        final Set<Integer> ids = new HashSet<>();

        IntStream.range(0, 3).forEach((attempt) -> ids.add(view.endpoint(17, attempt).id()));

        assertThat(ids).containsExactlyInAnyOrder(4, 5, 6);
    }

    @Test
    void shouldSpreadSimilarKeysOverPartitions()
    {
        final Set<Integer> partitions = new HashSet<>();

        for (int i = 0; i < 10_000; i++)
        {
            partitions.add(RoutingView.partition(("user" + i).getBytes()));
        }

        assertThat(partitions).hasSizeGreaterThan(RoutingView.PARTITIONS * 9 / 10);
    }

    private static RoutingView view(final int... ids)
    {
        return new RoutingView(IntStream.of(ids).mapToObj(StubNode::new).toArray(ComputeEndpoint[]::new));
    }
}
