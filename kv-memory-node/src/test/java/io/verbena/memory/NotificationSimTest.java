package io.verbena.memory;

import io.verbena.meta.store.InMemoryMetaStore;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.NotificationRequest;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** When a node that rests hears of news: at once when somebody waits, and not before. */
class NotificationSimTest
{
    private static final long TIMEOUT_NS = 1_000_000_000;

    @Test
    void shouldTellNothingUntilThereAreNews()
    {
        try (SimControlPlane plane = new SimControlPlane(1, new InMemoryMetaStore(), 1))
        {
            final SimComputeNode resting = restingNode(plane);
            final ControlCall<Void> news = ask(resting);
            run(plane, 5 * SimControlPlane.LEASE_NS);
            assertThat(news.isDone()).as("nobody waits").isFalse();

            plane.addComputeNode();
            plane.runUntil(news::isDone);
            assertThat(news.status()).as("another version").isEqualTo(ControlStatus.OK);
        }
    }

    @Test
    void shouldTellWhenSomebodyWaitsForTheNode()
    {
        try (SimControlPlane plane = new SimControlPlane(2, new InMemoryMetaStore(), 1))
        {
            final SimComputeNode resting = restingNode(plane);
            // It wants each next epoch, and gets none that the other one has not passed.
            plane.addComputeNode();
            for (int i = 0; i < 20; i++)
            {
                final long before = resting.beats;
                plane.runUntil(() -> resting.beats > before);
                final long askedNs = plane.world.clock().nanoTime();
                final ControlCall<Void> news = ask(resting);
                plane.runUntil(news::isDone);
                assertThat(news.status()).isEqualTo(ControlStatus.OK);
                assertThat(plane.world.clock().nanoTime() - askedNs).isLessThan(SimControlPlane.LEASE_NS / 5);
            }
        }
    }

    @Test
    void shouldAnswerTheEarlierRequestWhenANodeAsksAnewAndRefuseThatOfAnother()
    {
        try (SimControlPlane plane = new SimControlPlane(3, new InMemoryMetaStore(), 1))
        {
            final SimComputeNode resting = restingNode(plane);
            final ControlCall<Void> first = ask(resting);
            run(plane, 100_000);
            final ControlCall<Void> second = ask(resting);
            plane.runUntil(first::isDone);
            assertThat(first.status()).isEqualTo(ControlStatus.OK);
            assertThat(second.isDone()).isFalse();

            final ControlCall<Void> ofNobody = resting.meta.awaitChange(
                new NotificationRequest(resting.registration.nodeId(), 99, resting.epoch, resting.version), TIMEOUT_NS);
            plane.runUntil(ofNobody::isDone);
            assertThat(ofNobody.status()).as("not its own").isEqualTo(ControlStatus.FORBIDDEN);
        }
    }

    /** What it wanted while it did not rest has come. */
    private static SimComputeNode restingNode(final SimControlPlane plane)
    {
        final SimComputeNode node = plane.addComputeNode();
        node.rest();
        run(plane, 5 * SimControlPlane.LEASE_NS);
        assertThat(node.epoch).isEqualTo(plane.metaServer.stat().epoch());
        return node;
    }

    private static ControlCall<Void> ask(final SimComputeNode node)
    {
        return node.meta.awaitChange(new NotificationRequest(
            node.registration.nodeId(), node.registration.incarnation(), node.epoch, node.version), TIMEOUT_NS);
    }

    private static void run(final SimControlPlane plane, final long durationNs)
    {
        final long endNs = plane.world.clock().nanoTime() + durationNs;
        plane.runUntil(() -> endNs - plane.world.clock().nanoTime() <= 0);
    }
}
