package io.verbena.memory;

import io.verbena.meta.store.InMemoryMetaStore;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.control.MemoryNodeClient;
import io.verbena.protocol.control.MetaClient;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.Heartbeat;
import io.verbena.protocol.message.HeldSecrets;
import io.verbena.protocol.message.NodeRegistration;
import io.verbena.protocol.message.NotificationRequest;
import io.verbena.protocol.message.Registration;
import io.verbena.protocol.message.TableEntry;
import io.verbena.protocol.session.Credentials;
import io.verbena.raas.BatchListener;
import io.verbena.raas.PeerAddress;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.RaasConfiguration;
import io.verbena.raas.RaasContext;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.VirtualQp;
import io.verbena.raas.directory.NodeRole;
import io.verbena.rdma.sim.SimNode;
import org.agrona.concurrent.Agent;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** What a process that reaches the fabric, and is nobody, can do in the name of others: nothing. */
class ForgedIdentitySimTest
{
    private static final long TIMEOUT_NS = 5_000_000;

    private SimControlPlane plane;
    private MemoryNode memory;
    private SimComputeNode victim;
    private SimNode attackerNode;
    private RaasContext attacker;
    private MetaClient meta;

    @BeforeEach
    void open()
    {
        plane = new SimControlPlane(7, new InMemoryMetaStore(), 1);
        memory = plane.memoryNodes.getFirst();
        victim = plane.addComputeNode();
        attackerNode = plane.world.addNode("attacker");
        attacker = RaasContext.open(attackerNode.device(), new RaasConfiguration());
        attackerNode.addAgent(new Agent()
        {
            @Override
            public int doWork()
            {
                return attacker.poll();
            }

            @Override
            public String roleName()
            {
                return "attacker";
            }
        });
        meta = new MetaClient(attacker, connect(plane.metaServer.address()));
    }

    @AfterEach
    void close()
    {
        plane.close();
    }

    private VirtualQp connect(final PeerAddress peer)
    {
        final VirtualQp vqp = attacker.connect(peer, BatchListener.CALLS_ONLY, TIMEOUT_NS);
        plane.runUntil(() -> VirtualQp.State.CONNECTING != vqp.state());
        return vqp;
    }

    private <T> ControlCall<T> done(final ControlCall<T> call)
    {
        plane.runUntil(call::isDone);
        return call;
    }

    private void expectForbidden(final ControlCall<?> call)
    {
        assertThat(done(call).status()).as(call.failure()).isEqualTo(ControlStatus.FORBIDDEN);
    }

    private PeerIdentity victimIdentity()
    {
        return victim.registration.identity();
    }

    private Registration register()
    {
        return done(meta.register(new NodeRegistration(
            0, NodeRole.COMPUTE_NODE, attackerNode.device().address(), 0, new RemoteRegion(0, 0, 0)), TIMEOUT_NS))
            .result();
    }

    private void expectVictimIsServed()
    {
        final VirtualQp vqp = victim.connect(memory, plane.address(memory));
        plane.runUntil(() -> VirtualQp.State.CONNECTING != vqp.state());
        assertThat(vqp.state()).as(vqp.failure()).isEqualTo(VirtualQp.State.READY);
        final int before = victim.beats;
        plane.runUntil(() -> victim.beats > before + 3);
        assertThat(victim.lost).isFalse();
    }

    @Test
    void shouldNotRenewEndOrHearWhatBelongsToAnotherNode()
    {
        final int nodeId = victimIdentity().nodeId();
        final int incarnation = victimIdentity().incarnation();
        expectForbidden(meta.heartbeat(nodeId, incarnation, 0, false, HeldSecrets.NONE, TIMEOUT_NS));
        expectForbidden(meta.leave(nodeId, incarnation, TIMEOUT_NS));
        expectForbidden(meta.awaitChange(new NotificationRequest(nodeId, incarnation, 0, 0), TIMEOUT_NS));
        final Registration own = register();
        expectForbidden(meta.heartbeat(nodeId, incarnation, 0, false, HeldSecrets.NONE, TIMEOUT_NS));
        expectForbidden(meta.leave(nodeId, incarnation, TIMEOUT_NS));
        expectForbidden(meta.leave(own.nodeId(), own.incarnation() - 1, TIMEOUT_NS));
        expectForbidden(meta.awaitChange(new NotificationRequest(nodeId, 0, 0, 0), TIMEOUT_NS));
        assertThat(plane.metaServer.refusedIdentities()).isEqualTo(7);
        assertThat(plane.metaServer.isKnown(victimIdentity())).isTrue();
        expectVictimIsServed();
    }

    @Test
    void shouldNotChangeTablesAsNobody()
    {
        final int tableId = done(victim.meta.allocateTableId(0, TIMEOUT_NS)).result();
        final TableEntry table = new TableEntry("users", tableId, new byte[8]);
        done(victim.meta.createTable(table, List.of(), 0, TIMEOUT_NS)).result();
        expectForbidden(meta.allocateTableId(0, TIMEOUT_NS));
        expectForbidden(meta.createTable(new TableEntry("mine", tableId, new byte[8]), List.of(), 0, TIMEOUT_NS));
        expectForbidden(meta.growTable(table, 0, List.of(victimIdentity()), TIMEOUT_NS));
        expectForbidden(meta.dropTable("users", TIMEOUT_NS));
        assertThat(done(meta.table("users", TIMEOUT_NS)).result().tableId()).isEqualTo(tableId);
    }

    @Test
    void shouldNotChangeTablesOnceItsLeaseIsOver()
    {
        final Registration own = register();
        assertThat(done(meta.allocateTableId(0, TIMEOUT_NS)).status()).isEqualTo(ControlStatus.OK);
        done(meta.leave(own.nodeId(), own.incarnation(), TIMEOUT_NS)).result();
        expectForbidden(meta.allocateTableId(0, TIMEOUT_NS));
    }

    @Test
    void shouldNotFenceAsAClientOrAsANode()
    {
        for (final PeerIdentity self : List.of(PeerIdentity.UNREGISTERED, PeerIdentity.CLIENT))
        {
            attacker.identity(self);
            final RaasContext context =
                RaasContext.open(attackerNode.device(), new RaasConfiguration().identity(self));
            final VirtualQp vqp = context.connect(
                plane.address(memory), BatchListener.CALLS_ONLY, TIMEOUT_NS);
            final ControlCall<Void> fence = new MemoryNodeClient(context, vqp).fence(victimIdentity(), TIMEOUT_NS);
            plane.runUntil(() ->
            {
                context.poll();
                return fence.isDone();
            });
            assertThat(fence.status()).as(fence.failure()).isEqualTo(ControlStatus.FORBIDDEN);
            context.close();
        }
        assertThat(memory.refusedIdentities()).isEqualTo(2);
        expectVictimIsServed();
    }

    @Test
    void shouldNotFenceByClaimingToBeTheMetaServer()
    {
        attacker.identity(PeerIdentity.META_SERVER);
        assertThat(connect(plane.address(memory)).failure()).contains("meta server did not prove");
        final Registration own = register();
        attacker.identity(PeerIdentity.META_SERVER, 1, (_) -> own.secret().latest());
        assertThat(connect(plane.address(memory)).failure()).contains("meta server did not prove");
        expectVictimIsServed();
    }

    /** Whoever claims a large incarnation was let in. */
    @Test
    void shouldNotReachMemoryAsANodeThatItIsNot()
    {
        final PeerIdentity invented = new PeerIdentity(40, Integer.MAX_VALUE);
        attacker.identity(invented);
        assertThat(connect(plane.address(memory)).failure()).contains("did not prove");
        assertThat(memory.hasKey(invented)).isFalse();
        attacker.identity(victimIdentity());
        assertThat(connect(plane.address(memory)).failure()).contains("did not prove");

        final Credentials own = new Credentials(register());
        attacker.identity(victimIdentity(), 1, own::towards);
        assertThat(connect(plane.address(memory)).failure()).as("with what it got itself").contains("did not prove");
        assertThat(memory.hasKey(victimIdentity())).isFalse();
        attacker.identity(own.identity(), 1, own::towards);
        final VirtualQp vqp = connect(plane.address(memory));
        assertThat(vqp.state()).as(vqp.failure()).isEqualTo(VirtualQp.State.READY);
        assertThat(memory.hasKey(own.identity())).isTrue();
    }

    /** One memory node cannot stand in for a compute node at another: each token is for one of them. */
    @Test
    void shouldNotUseAnotherMemoryNodesTokens()
    {
        final MemoryNode second = plane.addMemoryNode();
        plane.runUntil(second::isReady);
        final Credentials own = new Credentials(register());
        attacker.identity(own.identity(), 1, (peer) -> own.towards(plane.address(second)));
        assertThat(connect(plane.address(memory)).failure()).contains("did not prove");
        attacker.identity(own.identity(), 2, own::towards);
        assertThat(connect(plane.address(memory)).failure()).isEmpty();
        assertThat(connect(plane.address(second)).failure()).isEmpty();
    }

    /** Who registers over one connection acts for each of them, and goes on after the connection broke. */
    @Test
    void shouldActForAllThatWereRegisteredOverAConnection()
    {
        final Registration first = register();
        final Registration second = register();
        for (final Registration each : List.of(first, second))
        {
            assertThat(done(meta.heartbeat(
                each.nodeId(), each.incarnation(), 0, false, HeldSecrets.NONE, TIMEOUT_NS)).status())
                .isEqualTo(ControlStatus.OK);
        }
        attacker.identity(second.identity(), 1, new Credentials(second)::towards);
        plane.restartMetaServer();
        // The first finds the old connection, and that it broke.
        done(meta.heartbeat(second.nodeId(), second.incarnation(), 0, false, HeldSecrets.NONE, TIMEOUT_NS));
        final MetaClient again = new MetaClient(attacker, connect(plane.metaServer.address()));
        final ControlCall<Heartbeat> renewed =
            done(again.heartbeat(second.nodeId(), second.incarnation(), 0, false, HeldSecrets.NONE, TIMEOUT_NS));
        assertThat(renewed.status()).as(renewed.failure()).isEqualTo(ControlStatus.OK);
        expectForbidden(again.heartbeat(first.nodeId(), first.incarnation(), 0, false, HeldSecrets.NONE, TIMEOUT_NS));
    }

    /** Its tokens come with heartbeats, for memory nodes that were not there when it registered. */
    @Test
    void shouldReachAMemoryNodeThatJoinedLater()
    {
        final MemoryNode late = plane.addMemoryNode();
        plane.runUntil(late::isReady);
        final int before = victim.beats;
        plane.runUntil(() -> victim.beats > before + 1);
        final VirtualQp vqp = victim.connect(late, plane.address(late));
        plane.runUntil(() -> VirtualQp.State.CONNECTING != vqp.state());
        assertThat(vqp.state()).as(vqp.failure()).isEqualTo(VirtualQp.State.READY);
    }

    private void killAndAwaitFence(final SimComputeNode node)
    {
        node.node.kill();
        plane.runUntil(() -> 0 == plane.metaServer.stat().liveComputeNodes() &&
            0 == plane.metaServer.stat().fencingNodes());
    }

    /** The numbers of its requests to connect go on growing: no memory node takes it for a replay of itself. */
    @Test
    void shouldKnowTheMetaServerAgainAfterItsRestart()
    {
        killAndAwaitFence(victim);
        plane.restartMetaServer();
        killAndAwaitFence(plane.addComputeNode());
        assertThat(memory.refusedIdentities()).isZero();
        assertThat(plane.metaServer.refusedIdentities()).isZero();
    }
}
