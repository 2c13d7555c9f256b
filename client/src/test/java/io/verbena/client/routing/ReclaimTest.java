package io.verbena.client.routing;

import io.verbena.client.KvClient;
import io.verbena.client.KvClientOptions;
import io.verbena.client.KvUnavailableException;
import io.verbena.protocol.request.ComputeEndpoint;
import io.verbena.protocol.request.ControlRequest;

import org.agrona.concurrent.SystemNanoClock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** A client asks each node that it is connected to for one sweep. */
@Timeout(60)
class ReclaimTest
{
    private static final long SHORT_NS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final Duration SHORT = Duration.ofNanos(SHORT_NS);

    private final ComputeNodeSet nodes = new ComputeNodeSet();
    private final RoutedKvClient client = RoutedKvClient.open(nodes, SystemNanoClock.INSTANCE, new KvClientOptions());

    @AfterEach
    void tearDown()
    {
        client.close();
    }

    @Test
    void shouldAskEveryNodeToReclaimAndNameThoseThatDoNotConfirm()
    {
        nodes.add(new StubNode(1).onControl((request) -> {}));
        nodes.add(new StubNode(2).refusing(ComputeEndpoint.CLOSED));
        nodes.add(new StubNode(3).onControl((request) -> complete(request, ControlRequest.Status.NOT_SERVING)));
        final StubNode last = new StubNode(4).onControl((request) -> complete(request, ControlRequest.Status.OK));
        nodes.add(last);
        try (KvClient hasty = RoutedKvClient.open(
            nodes, SystemNanoClock.INSTANCE, new KvClientOptions().timeout(SHORT)))
        {
            assertThat(hasty.reclaim()).containsExactlyInAnyOrder(1, 2, 3);
        }
        assertThat(last.seen()).hasSize(1).first().asString().contains("SWEEP");
    }

    /** A client that was just opened has no connection yet: to ask nobody, and say that all have done it, is wrong. */
    @Test
    void shouldWaitForANodeThatCanReclaim()
    {
        final StubNode node = new StubNode(1).onControl((request) -> complete(request, ControlRequest.Status.OK));
        Thread.ofVirtual().start(() ->
        {
            LockSupport.parkNanos(20 * SHORT_NS);
            nodes.add(node);
        });
        assertThat(client.reclaim()).isEmpty();
        assertThat(node.seen()).hasSize(1);

        nodes.remove(node);
        try (KvClient hasty = RoutedKvClient.open(
            nodes, SystemNanoClock.INSTANCE, new KvClientOptions().timeout(SHORT)))
        {
            assertThatThrownBy(hasty::reclaim).isInstanceOf(KvUnavailableException.class)
                .hasMessageContaining("there is no compute node");
        }
    }

    private static void complete(final ControlRequest request, final ControlRequest.Status status)
    {
        request.start();
        request.answer(status, null, "");
        request.complete();
    }
}
