package io.verbena.client.routing;

import io.verbena.raas.RemoteRegion;
import io.verbena.raas.directory.NodeRole;
import io.verbena.raas.directory.PeerRecord;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.RdmaException;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/** Which spares are connected to, and when; {@code SpareConnectionsSimTest} has real connections. */
class SpareConnectionsTest
{
    private static final int PORT = 2;
    private static final long SECOND_NS = TimeUnit.SECONDS.toNanos(1);

    private final List<Integer> asked = new ArrayList<>();
    private final SpareConnections spares = new SpareConnections((node) ->
    {
        assertThat(node.spareAddress().servicePort()).isEqualTo(PORT);
        asked.add(node.incarnation());
        throw new RdmaException("no memory");
    }, new SplittableRandom(1));

    private static PeerRecord serving(final int nodeId, final int incarnation)
    {
        return new PeerRecord(nodeId, incarnation, 1, NodeRole.COMPUTE_NODE, new DeviceAddress(1, nodeId), PORT,
            new RemoteRegion(0, 0, 0));
    }

    private static PeerRecord spare(final int nodeId, final int incarnation)
    {
        return serving(nodeId, incarnation).asSpare();
    }

    private List<Integer> follow(final long nowNs, final boolean mayConnect, final PeerRecord... nodes)
    {
        asked.clear();
        spares.follow(List.of(nodes), mayConnect, nowNs);
        return asked;
    }

    @Test
    void shouldConnectToTheTwoOldest()
    {
        assertThat(follow(0, true, serving(1, 7), spare(2, 12), spare(3, 10), spare(4, 11), serving(5, 8)))
            .containsExactly(10, 11);
        assertThat(follow(0, true)).isEmpty();
        assertThat(follow(0, true, spare(6, 13))).containsExactly(13);
    }

    /** An older meta server does not say where they listen. */
    @Test
    void shouldConnectToNoneWithoutAPort()
    {
        final PeerRecord old = new PeerRecord(2, 9, 1, NodeRole.COMPUTE_NODE, new DeviceAddress(1, 2), 0,
            new RemoteRegion(0, 0, 0));
        assertThat(follow(0, true, serving(1, 7), old)).isEmpty();
    }

    @Test
    void shouldConnectToNoneWhileOthersAreConnectedTo()
    {
        assertThat(follow(0, false, spare(2, 9))).isEmpty();
        assertThat(follow(0, true, spare(2, 9))).containsExactly(9);
    }

    @Test
    void shouldTryAgainMoreAndMoreRarely()
    {
        assertThat(follow(0, true, spare(2, 9))).containsExactly(9);
        assertThat(follow(SECOND_NS / 2 - 1, true, spare(2, 9))).isEmpty();
        assertThat(follow(SECOND_NS, true, spare(2, 9))).containsExactly(9);
        assertThat(follow(2 * SECOND_NS - 1, true, spare(2, 9))).isEmpty();
        int attempts = 0;
        for (int second = 3; second < 3_600; second++)
        {
            attempts += follow(second * SECOND_NS, true, spare(2, 9)).size();
        }
        assertThat(attempts).as("an hour").isBetween(100, 260);
        assertThat(spares.count()).isZero();
        assertThat(spares.take(9, 0)).isNull();
    }

    /** Why a spare could not be connected to says nothing of the node that it becomes. */
    @Test
    void shouldForgetFailuresOfOnesThatAreNoSpares()
    {
        assertThat(follow(0, true, spare(2, 9))).containsExactly(9);
        assertThat(follow(1, true, serving(2, 9))).isEmpty();
        assertThat(follow(2, true, spare(2, 9))).containsExactly(9);
    }
}
