package io.verbena.memory;

import io.verbena.protocol.view.View;
import io.verbena.raas.BatchListener;
import io.verbena.raas.ConnectDataDescriptor;
import io.verbena.raas.PeerAddress;
import io.verbena.raas.RaasConfiguration;
import io.verbena.raas.RaasContext;
import io.verbena.raas.VirtualQp;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.rdma.sim.SimNode;
import io.verbena.rdma.sim.SimWorld;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.ConnectionAttempt;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.table.format.ChunkDescriptor;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

/** Who is let in at a memory node when it connects, and with a key to the region. */
class MemoryGateSimTest
{
    private static final int LENGTH = 65_536;
    private static final int CHUNKS = 4;
    private static final long HEADERS = 4096 + (long)CHUNKS * LENGTH;
    private static final int PORT = 2;
    private static final int INCARNATION = 20;
    private static final long TIMEOUT_NS = 50_000_000;
    private static final long MAX_STEPS = 1_000_000;
    private static final PeerIdentity MEMBER = new PeerIdentity(6, 10);
    private static final PeerIdentity LATER = new PeerIdentity(5, 50);
    private static final PeerIdentity ENDED_BEFORE = new PeerIdentity(8, 11);

    private final SimWorld world = new SimWorld(1, new SimFabricOptions());
    private final SimNode memory = world.addNode("memory");
    private final SimNode compute = world.addNode("compute");
    private final RaasContext raas = RaasContext.open(memory.device(), new RaasConfiguration());
    private final RaasContext client = RaasContext.open(compute.device(), new RaasConfiguration());
    private final MemoryRegion region = raas.protectionDomain().allocateRegistered(
        HEADERS + CHUNKS * ChunkDescriptor.HEADER_BYTES, AccessFlags.LOCAL_WRITE);
    private final ChunkTable chunks =
        new ChunkTable(4096, LENGTH, CHUNKS, new ChunkHeaders(region.segment(), HEADERS, CHUNKS));
    private final MemoryAnswers answers =
        new MemoryAnswers(region.segment(), LENGTH, chunks, this::fence, this::views);
    private final MemoryGate gate = new MemoryGate(raas, region, PORT, answers, null, () -> "joining");

    private record Polled(RaasContext context) implements Agent
    {
        @Override
        public int doWork()
        {
            return context.poll();
        }

        @Override
        public String roleName()
        {
            return "polled";
        }
    }

    private void fence(final PeerIdentity identity)
    {
        gate.fence(identity);
    }

    private MemoryAnswers.Views views()
    {
        return gate;
    }

    @BeforeEach
    void setUp()
    {
        memory.addAgent(new Polled(raas));
        compute.addAgent(new Polled(client));
    }

    @AfterEach
    void close()
    {
        gate.close();
        world.close();
    }

    private VirtualQp connect(final PeerIdentity identity)
    {
        client.identity(identity);
        final VirtualQp vqp = client.connect(
            new PeerAddress(memory.device().address(), PORT, 1, INCARNATION), BatchListener.CALLS_ONLY, TIMEOUT_NS);
        world.runUntil(() -> VirtualQp.State.CONNECTING != vqp.state(), MAX_STEPS);
        return vqp;
    }

    /** The next one to the same peer is connected anew. */
    private void forget(final VirtualQp vqp)
    {
        vqp.close();
        client.forget(vqp.peer());
    }

    private void admit()
    {
        gate.admit(new ComputeAdmission(INCARNATION, Set.of(MEMBER)));
    }

    private void shouldGetAKey(final PeerIdentity identity)
    {
        final VirtualQp vqp = connect(identity);
        assertThat(vqp.failure()).isEmpty();
        assertThat(vqp.peerRegions()).hasSize(1);
        assertThat(gate.hasKey(identity)).isTrue();
        forget(vqp);
    }

    private void shouldBeRefused(final PeerIdentity identity, final String why)
    {
        assertThat(connect(identity).failure()).contains(identity.toString()).contains(why);
        assertThat(gate.hasKey(identity)).isFalse();
    }

    /** The end of a node that ended before this life began is reported to nobody: it may believe that it lives. */
    @Test
    void shouldLetInMembersAndWhoeverCameLaterAndNobodyElse()
    {
        admit();
        shouldGetAKey(MEMBER);
        shouldGetAKey(LATER);
        shouldBeRefused(ENDED_BEFORE, "is not a member: register at the meta server");
        shouldBeRefused(new PeerIdentity(MEMBER.nodeId(), 9), "is not a member");
    }

    @Test
    void shouldLetNobodyInBeforeItIsAMemberAndOnceItIsToBeClosed()
    {
        assertThat(connect(MEMBER).failure()).contains("joining: try again later");
        admit();
        shouldGetAKey(MEMBER);
        gate.beginToClose(0);
        assertThat(connect(LATER).failure()).contains("joining: try again later");
        assertThat(gate.hasKey(LATER)).isFalse();
    }

    @Test
    void shouldTakeTheKeyOfWhoWasFencedAndGiveItNone()
    {
        admit();
        shouldGetAKey(LATER);
        assertThat(gate.fence(LATER)).isEqualTo(1);
        shouldBeRefused(LATER, "was fenced here: register anew");
        assertThat(gate.fence(LATER)).as("it has no key").isZero();
        shouldGetAKey(new PeerIdentity(LATER.nodeId(), LATER.incarnation() + 1));
    }

    /** The meta server, an operator, a client: they call, and reach no memory. */
    @Test
    void shouldGiveNoKeyToWhoIsNoNode()
    {
        admit();
        for (final PeerIdentity caller : List.of(
            PeerIdentity.META_SERVER, PeerIdentity.OPERATOR, PeerIdentity.CLIENT, PeerIdentity.UNREGISTERED))
        {
            final VirtualQp vqp = connect(caller);
            assertThat(vqp.failure()).isEmpty();
            assertThat(vqp.peerRegions()).as("%s", caller).isEmpty();
            assertThat(gate.hasKey(caller)).isFalse();
            forget(vqp);
        }
    }

    /** It names what it has left over this connection. */
    @Test
    void shouldGiveNoKeyToWhoHasNotLeftAViewThatIsClosed()
    {
        admit();
        gate.close(View.first(7, List.of(new PeerIdentity(1, 1), new PeerIdentity(2, 2)))
            .filling(new PeerIdentity(3, INCARNATION), MEMBER).filled());
        final VirtualQp vqp = connect(LATER);
        assertThat(vqp.failure()).isEmpty();
        assertThat(vqp.peerRegions()).isEmpty();
        assertThat(gate.hasKey(LATER)).isFalse();
    }

    /** Peers post again what broke with their queue pair to this life, and to no other one. */
    @Test
    void shouldTellWhichLifeAnswers()
    {
        assertThat(answeredIncarnation()).as("it has none yet").isZero();
        admit();
        assertThat(answeredIncarnation()).isEqualTo(INCARNATION);
    }

    private int answeredIncarnation()
    {
        final UnsafeBuffer request = new UnsafeBuffer(new byte[ConnectDataDescriptor.REQUEST_LENGTH_BYTES]);
        request.putInt(ConnectDataDescriptor.MAGIC_OFFSET, ConnectDataDescriptor.MAGIC);
        request.putShort(ConnectDataDescriptor.VERSION_OFFSET, (short)ConnectDataDescriptor.VERSION);
        request.putShort(ConnectDataDescriptor.CREDITS_OFFSET, (short)1);
        final Device device = compute.device();
        try (ProtectionDomain domain = device.allocateProtectionDomain();
            CompletionQueue completions = device.createCompletionQueue(8);
            QueuePair queuePair = domain.createQueuePair(
                completions, completions, new QueuePairCapabilities(2, 2, 0, 1)))
        {
            final ConnectionAttempt attempt = device.connect(
                queuePair, memory.device().address(), PORT, 0, request.byteArray(), TIMEOUT_NS);
            world.runUntil(() -> ConnectionAttempt.State.PENDING != attempt.poll(), MAX_STEPS);
            assertThat(attempt.poll()).isEqualTo(ConnectionAttempt.State.ESTABLISHED);
            return new UnsafeBuffer(attempt.privateData()).getInt(ConnectDataDescriptor.ACCEPTOR_INCARNATION_OFFSET);
        }
    }
}
