package io.verbena.raas;

import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.message.MessageHeaderDescriptor;
import io.verbena.raas.message.MessageImmediateDescriptor;
import io.verbena.raas.rpc.RpcStatus;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.ConnectionAttempt;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletions;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** A peer that speaks verbs but not our formats, beside one that does. */
class HostilePeerTest
{
    @TempDir
    Path directory;
    private SoftPair pair;
    private VirtualQp good;
    private ProtectionDomain domain;
    private CompletionQueue completions;
    private MemoryRegion memory;
    private UnsafeBuffer buffer;
    private QueuePair queuePair;
    private final WorkCompletions polled = new WorkCompletions(8);

    @BeforeEach
    void open()
    {
        pair = new SoftPair(directory);
        good = pair.connect((on, cookie, status) -> {});
        domain = pair.clientDevice.allocateProtectionDomain();
        completions = pair.clientDevice.createCompletionQueue(64);
        memory = domain.allocateRegistered(1 << 14, AccessFlags.LOCAL_WRITE);
        buffer = new UnsafeBuffer(memory.segment().address(), 1 << 14);
        queuePair = domain.createQueuePair(completions, completions, new QueuePairCapabilities(16, 16, 0, 1));
    }

    @AfterEach
    void close()
    {
        queuePair.close();
        memory.close();
        completions.close();
        domain.close();
        assertThat(good.state()).isEqualTo(VirtualQp.State.READY);
        final boolean[] isAnswered = new boolean[1];
        pair.client.rpcClient().call(good, 1, new UnsafeBuffer(new byte[8]), 0, 8, SoftPair.TIMEOUT_NS,
            (callId, status, payload, offset, length) -> isAnswered[0] = status == RpcStatus.OK);
        pair.runUntil(() -> isAnswered[0]);
        pair.close();
    }

    private ConnectionAttempt connect(final byte[] data)
    {
        final ConnectionAttempt attempt = pair.clientDevice.connect(
            queuePair, pair.serverDevice.address(), SoftPair.PORT, 0, data, SoftPair.TIMEOUT_NS);
        pair.runUntil(() -> attempt.poll() != ConnectionAttempt.State.PENDING);
        return attempt;
    }

    private void connectWell()
    {
        final byte[] data = ConnectDataDescriptor.encodeRequest(new PeerIdentity(77, 1), 8);
        assertThat(connect(data).poll()).isEqualTo(ConnectionAttempt.State.ESTABLISHED);
        assertThat(pair.rpcServer.isConnected(new PeerIdentity(77, 1))).isTrue();
        queuePair.postReceive(0, memory.address() + 8192, 8192, memory.localKey());
    }

    private void send(final int lengthBytes, final int immediate)
    {
        queuePair.begin();
        queuePair.sendWithImmediate(
            1, SendFlags.SIGNALED, memory.address(), lengthBytes, memory.localKey(), immediate);
        assertThat(queuePair.complete()).isZero();
    }

    private void expectClosed()
    {
        pair.runUntil(() -> !pair.rpcServer.isConnected(new PeerIdentity(77, 1)));
        assertThat(pair.rpcServer.connections()).isEqualTo(1);
    }

    @Test
    void shouldRefuseConnectDataOfAnotherVersionByName()
    {
        final byte[] data = ConnectDataDescriptor.encodeRequest(PeerIdentity.UNREGISTERED, 8);
        data[ConnectDataDescriptor.VERSION_OFFSET] = 9;
        final ConnectionAttempt attempt = connect(data);
        assertThat(attempt.poll()).isEqualTo(ConnectionAttempt.State.REJECTED);
        assertThat(new String(attempt.privateData(), StandardCharsets.UTF_8))
            .contains("version 9").contains("version 3");
    }

    @Test
    void shouldRefuseForeignConnectData()
    {
        final ConnectionAttempt attempt = connect(new byte[3]);
        assertThat(attempt.poll()).isEqualTo(ConnectionAttempt.State.REJECTED);
        assertThat(new String(attempt.privateData(), StandardCharsets.UTF_8)).contains("not Verbena connect data");
    }

    @Test
    void shouldCountAndDropMessagesOfKindsThatNobodyHereHas()
    {
        connectWell();
        MessageHeaderDescriptor.encode(buffer, 0, 1, 0, 1);
        // More than there are receives: each goes back.
        for (int i = 1; i <= 40; i++)
        {
            final int kind = i % 16 == MessageImmediateDescriptor.KIND_REQUEST ? 0 : i % 16;
            send(i % 3 * 16, MessageImmediateDescriptor.encode(kind, i, i));
            final int dropped = i;
            pair.runUntil(() -> pair.server.usage().droppedMessages() == dropped);
            assertThat(completions.poll(polled)).isEqualTo(1);
        }
        send(16, MessageImmediateDescriptor.encode(MessageImmediateDescriptor.KIND_REQUEST, 1, 5));
        final int[] immediate = new int[1];
        pair.runUntil(() -> takeMessage(immediate));
        assertThat(MessageImmediateDescriptor.kind(immediate[0])).isEqualTo(MessageImmediateDescriptor.KIND_REPLY);
        assertThat(pair.server.usage().droppedMessages()).isEqualTo(40);
    }

    @Test
    void shouldCountAndDropRepliesToCallsThatWereNotMade()
    {
        final List<RpcStatus> ended = new ArrayList<>();
        try (ConnectionListener listener = pair.clientDevice.listen(9))
        {
            final VirtualQp vqp = pair.client.connect(
                new PeerAddress(pair.clientDevice.address(), 9, 5, 1), BatchListener.CALLS_ONLY, SoftPair.TIMEOUT_NS);
            final VirtualQp sibling = pair.client.connect(
                new PeerAddress(pair.clientDevice.address(), 9, 5, 1), BatchListener.CALLS_ONLY, SoftPair.TIMEOUT_NS);
            pair.runUntil(() -> accept(listener.poll()));
            pair.runUntil(() -> vqp.isReady() && sibling.isReady());
            pair.client.rpcClient().call(vqp, 1, new UnsafeBuffer(new byte[8]), 0, 8, SoftPair.TIMEOUT_NS,
                (callId, status, payload, offset, length) -> ended.add(status));
            final int[] immediate = new int[1];
            pair.runUntil(() -> takeMessage(immediate));
            final int slot = MessageImmediateDescriptor.slot(immediate[0]);
            final int generation = MessageHeaderDescriptor.generation(buffer, 8192);
            for (int i = 0; i < 20; i++)
            {
                // A slot beyond all, one that is not in use, the life before of the right one, two that disagree.
                reply(60_000, generation, generation);
                reply(slot + 1, generation, generation);
                reply(slot, generation - 1, generation - 1);
                reply(slot, generation, generation + 1);
            }
            assertThat(ended).isEmpty();
            assertThat(vqp.isReady()).isTrue();
            assertThat(pair.client.usage().droppedMessages()).isEqualTo(80);
            reply(slot, generation, generation);
            pair.runUntil(() -> !ended.isEmpty());
            assertThat(ended).containsExactly(RpcStatus.OK);
            reply(slot, generation, generation);
            assertThat(pair.client.usage().droppedMessages()).isEqualTo(81);
            assertThat(sibling.isReady()).isTrue();
            assertThat(ended).hasSize(1);
        }
    }

    private boolean accept(final ConnectionRequest request)
    {
        if (request == null)
        {
            return false;
        }
        request.prepare(queuePair);
        queuePair.postReceive(0, memory.address() + 8192, 8192, memory.localKey());
        request.accept(queuePair, 0, ConnectDataDescriptor.encodeAnswer(
            Admission.accept(0, new byte[0]), 8, 1));
        return true;
    }

    private void reply(final int slot, final int generation, final int headerGeneration)
    {
        MessageHeaderDescriptor.encode(buffer, 0, 1, 0, headerGeneration);
        send(16, MessageImmediateDescriptor.encode(MessageImmediateDescriptor.KIND_REPLY, generation, slot));
        pair.poll(2);
        assertThat(completions.poll(polled)).isEqualTo(1);
    }

    @Test
    void shouldCloseTheConnectionWhenTheLengthIsNotWhatTheHeaderSays()
    {
        connectWell();
        MessageHeaderDescriptor.encode(buffer, 0, 1, 1000, 1);
        send(24, MessageImmediateDescriptor.encode(MessageImmediateDescriptor.KIND_REQUEST, 1, 0));
        expectClosed();
    }

    @Test
    void shouldCloseTheConnectionWhenTheMessageIsTooShortOrTooLong()
    {
        connectWell();
        send(3, MessageImmediateDescriptor.encode(MessageImmediateDescriptor.KIND_REQUEST, 1, 0));
        expectClosed();
        queuePair.close();
        queuePair = domain.createQueuePair(completions, completions, new QueuePairCapabilities(16, 16, 0, 1));
        connectWell();
        send(8192, MessageImmediateDescriptor.encode(MessageImmediateDescriptor.KIND_REQUEST, 1, 0));
        expectClosed();
    }

    @Test
    void shouldRefuseAMessageOfAnotherVersionByName()
    {
        connectWell();
        MessageHeaderDescriptor.encode(buffer, 0, 1, 0, 1);
        buffer.putByte(MessageHeaderDescriptor.VERSION_OFFSET, (byte)7);
        send(16, MessageImmediateDescriptor.encode(MessageImmediateDescriptor.KIND_REQUEST, 1, 5));
        final int[] immediate = new int[1];
        pair.runUntil(() -> takeMessage(immediate));
        assertThat(MessageImmediateDescriptor.kind(immediate[0])).isEqualTo(MessageImmediateDescriptor.KIND_REFUSAL);
        assertThat(MessageImmediateDescriptor.slot(immediate[0])).isEqualTo(5);
        final int payload = 8192 + MessageHeaderDescriptor.HEADER_LENGTH_BYTES;
        assertThat(buffer.getStringWithoutLengthUtf8(payload, MessageHeaderDescriptor.payloadLength(buffer, 8192)))
            .contains("version 7");
    }

    private boolean takeMessage(final int[] immediate)
    {
        final int count = completions.poll(polled);
        for (int i = 0; i < count; i++)
        {
            if (polled.opcode(i) == io.verbena.rdma.verbs.WorkCompletionOpcode.RECV)
            {
                immediate[0] = polled.immediate(i);
                return true;
            }
        }
        return false;
    }
}
