package io.verbena.memory;

import io.verbena.meta.store.InMemoryMetaStore;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.control.MetaClient;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.Heartbeat;
import io.verbena.protocol.message.HeldSecrets;
import io.verbena.raas.BatchListener;
import io.verbena.raas.PeerAddress;
import io.verbena.raas.RaasConfiguration;
import io.verbena.raas.RaasContext;
import io.verbena.raas.VirtualQp;
import io.verbena.raas.identity.IdentitySecret;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.rdma.sim.SimNode;
import io.verbena.rdma.sim.SimWorld;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;

/** Secrets are renewed under running nodes: what was stolen is of no use two rounds later, and nobody else notices. */
class SecretRenewalSimTest
{
    private static final long TIMEOUT_NS = 5_000_000;
    private static final long ROUND_NS = 20 * SimControlPlane.LEASE_NS;

    private SimControlPlane plane;
    private MemoryNode memory;
    private SimNode thief;
    private long nonce = 1_000;

    private void open(final long seed)
    {
        plane = new SimControlPlane(
            new SimWorld(seed, SimControlPlane.options()), new InMemoryMetaStore(), 2, 2 * ROUND_NS);
        memory = plane.memoryNodes.getFirst();
        thief = plane.world.addNode("thief");
    }

    @AfterEach
    void close()
    {
        plane.close();
    }

    /** One whose connections are all new, and which proves itself by one secret. */
    private RaasContext context(final SimNode node, final PeerIdentity as, final IdentitySecret secret)
    {
        final RaasContext context = RaasContext.open(node.device(), new RaasConfiguration());
        context.identity(as, ++nonce, (_) -> secret);
        return context;
    }

    private VirtualQp connect(final RaasContext context, final PeerAddress peer)
    {
        final VirtualQp vqp = context.connect(peer, BatchListener.CALLS_ONLY, TIMEOUT_NS);
        plane.runUntil(() ->
        {
            context.poll();
            return VirtualQp.State.CONNECTING != vqp.state();
        });
        return vqp;
    }

    private boolean isTaken(final PeerIdentity as, final IdentitySecret secret, final PeerAddress peer)
    {
        try (RaasContext context = context(thief, as, secret))
        {
            return VirtualQp.State.READY == connect(context, peer).state();
        }
    }

    /** Until a round has begun, and all have heard of it. */
    private void runUntilRound(final int round, final SimComputeNode... nodes)
    {
        plane.runUntil(() -> plane.metaServer.secretRound() >= round);
        runUntilHeard(nodes);
    }

    private void runUntilHeard(final SimComputeNode... nodes)
    {
        for (final SimComputeNode node : nodes)
        {
            plane.runUntil(() -> node.credentials.held().tokensRound() == plane.metaServer.secretRound());
        }
    }

    @Test
    void shouldTakeAnOldSecretInTheNextRoundAndRefuseAndCountItLater()
    {
        open(11);
        final SimComputeNode robbed = plane.addComputeNode();
        final SimComputeNode other = plane.addComputeNode();
        final PeerIdentity identity = robbed.registration.identity();
        final PeerAddress metaServer = plane.metaServer.address();
        final PeerAddress memoryNode = plane.address(memory);
        final IdentitySecret token = robbed.credentials.towards(memoryNode);
        final IdentitySecret secret = robbed.credentials.towards(metaServer);
        final VirtualQp lasting = other.connect(memory, memoryNode);
        plane.runUntil(() -> VirtualQp.State.READY == lasting.state());

        runUntilRound(2, robbed, other);
        assertThat(robbed.credentials.towards(memoryNode)).isNotEqualTo(token);
        assertThat(robbed.credentials.towards(metaServer)).isNotEqualTo(secret);
        assertThat(isTaken(identity, token, memoryNode)).as("in the overlap").isTrue();
        assertThat(isTaken(identity, secret, metaServer)).as("in the overlap").isTrue();
        assertThat(memory.refusedIdentities() + plane.metaServer.refusedIdentities()).isZero();

        runUntilRound(3, robbed, other);
        assertThat(isTaken(identity, token, memoryNode)).isFalse();
        assertThat(isTaken(identity, secret, metaServer)).isFalse();
        assertThat(memory.refusedIdentities()).isEqualTo(1);
        assertThat(plane.metaServer.refusedIdentities()).isEqualTo(1);
        assertThat(isTaken(identity, robbed.credentials.towards(memoryNode), memoryNode)).as("the latest").isTrue();

        other.write(lasting, 64 << 10, 7);
        plane.runUntil(() -> 1 == other.succeeded + other.failed);
        assertThat(other.succeeded).as("over a connection of the first round").isEqualTo(1);
        assertThat(lasting.state()).isEqualTo(VirtualQp.State.READY);
        assertThat(other.lost || robbed.lost).isFalse();
        assertThat(other.registrations).isEqualTo(1);
    }

    @Test
    void shouldGiveNoSecretToAnIncarnationThatWasFenced()
    {
        open(12);
        final SimComputeNode robbed = plane.addComputeNode();
        final PeerIdentity identity = robbed.registration.identity();
        final IdentitySecret secret = robbed.credentials.towards(plane.metaServer.address());
        robbed.node.kill();
        plane.runUntil(() -> 0 == plane.metaServer.stat().liveComputeNodes() &&
            0 == plane.metaServer.stat().fencingNodes());
        runUntilRound(2);
        try (RaasContext context = context(thief, identity, secret))
        {
            final VirtualQp vqp = connect(context, plane.metaServer.address());
            assertThat(vqp.state()).as(vqp.failure()).isEqualTo(VirtualQp.State.READY);
            final ControlCall<Heartbeat> call = new MetaClient(context, vqp).heartbeat(
                identity.nodeId(), identity.incarnation(), 0, false, HeldSecrets.NONE, TIMEOUT_NS);
            plane.runUntil(() ->
            {
                context.poll();
                return call.isDone();
            });
            assertThat(call.status()).as(call.failure()).isEqualTo(ControlStatus.UNKNOWN_NODE);
        }
    }

    /** A server that has begun a round ends before anybody has heard of it, or while some have. */
    @ParameterizedTest
    @ValueSource(longs = {0, 300_000, 1_000_000, 4_000_000})
    void shouldGoOnWhenTheServerEndsInTheMiddle(final long afterNs)
    {
        open(13);
        final SimComputeNode compute = plane.addComputeNode();
        for (int round = 2; round < 5; round++)
        {
            final int next = round;
            plane.runUntil(() -> next == plane.metaServer.secretRound());
            final long fromNs = compute.raas.clock().nanoTime();
            plane.runUntil(() -> compute.raas.clock().nanoTime() - fromNs >= afterNs);
            if (3 == round)
            {
                plane.moveMetaServer();
            }
            else
            {
                plane.restartMetaServer();
            }
            assertThat(plane.metaServer.secretRound()).as("a round is never taken back").isEqualTo(round);
            expectServed(compute);
            runUntilHeard(compute);
            expectServed(compute);
        }
        assertThat(compute.registrations).isEqualTo(1);
        expectNobodyRefused();
    }

    private void expectServed(final SimComputeNode compute)
    {
        for (final MemoryNode each : plane.memoryNodes)
        {
            final PeerAddress address = plane.address(each);
            try (RaasContext context = context(
                compute.node, compute.registration.identity(), compute.credentials.towards(address)))
            {
                final VirtualQp vqp = connect(context, address);
                assertThat(vqp.state()).as(vqp.failure()).isEqualTo(VirtualQp.State.READY);
            }
        }
        assertThat(compute.lost).isFalse();
    }

    private void expectNobodyRefused()
    {
        for (final MemoryNode each : plane.memoryNodes)
        {
            assertThat(each.refusedIdentities()).isZero();
        }
        assertThat(plane.metaServer.refusedIdentities()).isZero();
    }

    /** Nodes come, servers take turns, and their clocks are off by years: nobody is refused, and rounds go on. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void shouldRenewWhateverHappensMeanwhile(final long seed)
    {
        open(seed);
        final Random random = new Random(seed);
        final SimComputeNode compute = plane.addComputeNode();
        for (int step = 0; step < 25; step++)
        {
            switch (random.nextInt(6))
            {
                case 0 ->
                {
                    plane.wallOffsetMs += random.nextLong(-1_000_000_000_000L, 1_000_000_000_000L);
                    plane.restartMetaServer();
                }
                case 1 -> expectServed(plane.addComputeNode());
                default -> expectServed(compute);
            }
            final long untilNs = compute.raas.clock().nanoTime() + random.nextLong(ROUND_NS / 4);
            plane.runUntil(() -> compute.raas.clock().nanoTime() >= untilNs);
        }
        final int round = plane.metaServer.secretRound();
        runUntilRound(round + 2, compute);
        expectServed(compute);
        assertThat(compute.registrations).isEqualTo(1);
        expectNobodyRefused();
    }
}
