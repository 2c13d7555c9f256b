package io.verbena.memory;

import io.verbena.meta.store.InMemoryMetaStore;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.VirtualQp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

/** Compute nodes get identities that were on disk before, and servers and nodes end at any moment of it. */
class SpareIdentitySimTest
{
    private static final int SPARES = 4;
    private static final int MOMENTS = Integer.getInteger("verbena.spares.moments", 40);
    private static final int STEPS_BETWEEN = 37;
    private static final long WORD = 0x0102030405060708L;

    private final Set<PeerIdentity> given = new HashSet<>();

    /** A server with spares, and memory nodes with keys for them. */
    private static SimControlPlane prepared(final long seed)
    {
        final SimControlPlane plane = new SimControlPlane(seed, new InMemoryMetaStore(), 2);
        plane.addComputeNode();
        plane.runUntil(() -> SPARES == plane.metaServer.spareIdentities() &&
            plane.memoryNodes.stream().allMatch((node) -> SPARES == node.preparedKeys()));
        return plane;
    }

    private static SimComputeNode start(final SimControlPlane plane)
    {
        return new SimComputeNode(plane.world.addNode("compute"), plane.locator());
    }

    private static void assertWrites(final SimControlPlane plane, final SimComputeNode node, final String what)
    {
        for (final MemoryNode memoryNode : plane.memoryNodes)
        {
            final VirtualQp vqp = node.connect(memoryNode, plane.address(memoryNode));
            plane.runUntil(() -> VirtualQp.State.READY == vqp.state() || VirtualQp.State.FAILED == vqp.state());
            assertThat(vqp.failure()).as("%s: %s", what, node.registration).isEmpty();
            final int before = node.succeeded + node.failed;
            node.write(vqp, SimControlPlane.CHUNK_LENGTH_BYTES, WORD);
            plane.runUntil(() -> node.succeeded + node.failed > before);
            assertThat(node.failed).as(what).isZero();
            vqp.close();
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldAdmitANodeWhoseIdentityIsOlderThanTheMemoryNode(final long seed)
    {
        try (SimControlPlane plane = prepared(seed))
        {
            final MemoryNode later = plane.addMemoryNode();
            plane.runUntil(later::isReady);
            final SimComputeNode node = start(plane);
            plane.runUntil(() -> null != node.registration);
            assertThat(node.registration.incarnation()).as("a spare").isLessThan(later.incarnation());
            assertWrites(plane, node, "older than the memory node");
        }
    }

    @Test
    void shouldMakeKeysAheadOfTimeAndKeepNoneForWhoDoesNotCome()
    {
        try (SimControlPlane plane = prepared(1))
        {
            final SimComputeNode node = start(plane);
            plane.runUntil(() -> null != node.registration);
            assertWrites(plane, node, "with a key made before");
            final PeerIdentity identity = node.registration.identity();
            assertThat(plane.memoryNodes).allMatch((memoryNode) -> memoryNode.hasKey(identity));
            plane.runUntil(() -> plane.memoryNodes.stream().allMatch((each) -> SPARES == each.preparedKeys()));

            // Spares that another server does not know: after its leases they are nobody's.
            plane.restartMetaServer();
            assertThat(plane.metaServer.possibleIdentities()).isEqualTo(SPARES);
            plane.runUntil(() -> 0 == plane.metaServer.possibleIdentities() &&
                plane.memoryNodes.stream().allMatch((each) -> SPARES == each.preparedKeys()));
            assertThat(plane.metaServer.stat().fencingNodes()).isZero();
            assertThat(node.lost).as("was written down").isFalse();
        }
    }

    /** Two nodes join while the server is gone at some moment, and another one starts on the same store. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldGiveNothingTwiceWhereverTheServerEnds(final boolean isOnAnotherMachine)
    {
        int lost = 0;
        for (int moment = 0; moment < MOMENTS; moment++)
        {
            given.clear();
            lost += endServerAt(moment * STEPS_BETWEEN, isOnAnotherMachine) ? 1 : 0;
        }
        assertThat(lost).as("servers that ended between an answer and the write behind it").isPositive();
    }

    /** Returns whether a node had an identity that the next server did not know as its own. */
    private boolean endServerAt(final int steps, final boolean isOnAnotherMachine)
    {
        final String what = "ended after " + steps + " steps";
        try (SimControlPlane plane = prepared(1 + steps))
        {
            final List<SimComputeNode> nodes = new ArrayList<>();
            nodes.add(start(plane));
            nodes.add(start(plane));
            final int[] left = {steps};
            plane.runUntil(() -> left[0]-- <= 0);
            final long version = plane.metaServer.stat().membershipVersion();
            if (isOnAnotherMachine)
            {
                plane.moveMetaServer();
            }
            else
            {
                plane.restartMetaServer();
            }
            assertThat(plane.metaServer.stat().membershipVersion()).as(what).isGreaterThanOrEqualTo(version);

            final int spares = plane.metaServer.possibleIdentities();
            nodes.add(start(plane));
            plane.runUntil(() -> nodes.stream().allMatch((node) -> node.lost || node.beats > 0));
            final List<SimComputeNode> lost = nodes.stream().filter((node) -> node.lost).toList();
            assertThat(lost).as(what).hasSizeLessThanOrEqualTo(spares);
            lost.forEach((_) -> nodes.add(start(plane)));
            plane.runUntil(() -> nodes.stream().allMatch((node) -> node.lost || node.beats > 0) &&
                0 == plane.metaServer.possibleIdentities());

            nodes.forEach((node) -> assertThat(given.add(node.registration.identity())).as(what).isTrue());
            assertThat(nodes.stream().map((node) -> node.registration.writerNumber())).as(what)
                .doesNotHaveDuplicates();
            nodes.stream().filter((node) -> !node.lost).forEach((node) -> assertWrites(plane, node, what));
            assertThat(plane.metaServer.stat().liveComputeNodes()).as(what).isEqualTo(1 + nodes.size() - lost.size());
            lost.forEach((node) -> assertThat(plane.memoryNodes).as(what)
                .noneMatch((memoryNode) -> memoryNode.hasKey(node.registration.identity())));
            return !lost.isEmpty();
        }
    }
}
