package io.verbena.raas;

import io.verbena.raas.encryption.ConnectionCipher;
import io.verbena.raas.encryption.ConnectionGate;
import io.verbena.raas.identity.IdentitySecret;
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
import io.verbena.rdma.verbs.WorkCompletionOpcode;
import io.verbena.rdma.verbs.WorkCompletions;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

/** Encrypted connections: calls over them, and what somebody between, or a hostile peer, is answered. */
class EncryptedCallsTest
{
    private static final int PORT = 9;
    private static final int RAW_PORT = 11;
    private static final PeerIdentity ANN = new PeerIdentity(5, 7);
    private static final PeerIdentity GOOD = new PeerIdentity(3, 1);
    private static final int RECEIVED = 8192;
    private static final String REQUEST = "a request that nobody may read";

    @TempDir
    Path directory;
    private final IdentitySecret secret = IdentitySecret.random(new SecureRandom());
    private final Map<PeerIdentity, IdentitySecret> secrets = new HashMap<>(Map.of(ANN, secret, GOOD, secret));
    private final List<PeerIdentity> served = new ArrayList<>();
    private final List<String> audited = new ArrayList<>();
    private final WorkCompletions polled = new WorkCompletions(8);
    private SoftPair pair;
    private RpcServer server;
    private VirtualQp good;
    private ProtectionDomain domain;
    private CompletionQueue completions;
    private MemoryRegion memory;
    private UnsafeBuffer buffer;
    private QueuePair queuePair;
    private ConnectionCipher cipher;
    private long nonce;

    @BeforeEach
    void open()
    {
        pair = new SoftPair(directory, new RaasConfiguration(), new RaasConfiguration().encrypted(true));
        server = pair.server.serve(PORT, (_, _) -> Admission.callsOnly(), secrets::get,
            (caller, method, request, offset, length, reply) ->
            {
                served.add(caller);
                return pair.handler.onRequest(caller, method, request, offset, length, reply);
            });
        server.encryption((_) -> false, (who, what) -> audited.add(who + ": " + what));
        pair.client.identity(GOOD, 1, (_) -> secret);
        good = connect(PORT);
        assertThat(good.state()).as(good.failure()).isEqualTo(VirtualQp.State.READY);
        domain = pair.clientDevice.allocateProtectionDomain();
        completions = pair.clientDevice.createCompletionQueue(64);
        memory = domain.allocateRegistered(1 << 14, AccessFlags.LOCAL_WRITE);
        buffer = new UnsafeBuffer(memory.segment().address(), 1 << 14);
        queuePair = newQueuePair();
    }

    /** Whatever was tried: who has done nothing is served as before. */
    @AfterEach
    void close()
    {
        assertThat(call(good, 1, "good")).isEqualTo("OK good");
        queuePair.close();
        memory.close();
        completions.close();
        domain.close();
        server.close();
        pair.close();
    }

    private QueuePair newQueuePair()
    {
        return domain.createQueuePair(completions, completions, new QueuePairCapabilities(16, 16, 0, 1));
    }

    private VirtualQp connect(final int port)
    {
        final VirtualQp vqp = pair.client.connect(
            new PeerAddress(pair.serverDevice.address(), port, 1, 1), BatchListener.CALLS_ONLY, SoftPair.TIMEOUT_NS);
        pair.runUntil(() -> vqp.state() != VirtualQp.State.CONNECTING);
        return vqp;
    }

    private String call(final VirtualQp over, final int method, final String text)
    {
        final byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
        final List<String> answers = new ArrayList<>();
        pair.client.rpcClient().call(over, method, new UnsafeBuffer(bytes), 0, bytes.length, SoftPair.TIMEOUT_NS,
            (callId, status, payload, offset, length) ->
                answers.add(status + " " + payload.getStringWithoutLengthAscii(offset, length)));
        pair.runUntil(() -> !answers.isEmpty());
        return answers.getFirst();
    }

    private byte[] claim(final PeerIdentity identity)
    {
        return proved(unproved(identity));
    }

    private byte[] encryptedClaim(final PeerIdentity identity)
    {
        return proved(ConnectDataDescriptor.encrypted(unproved(identity), new SecureRandom()));
    }

    private byte[] unproved(final PeerIdentity identity)
    {
        nonce++;
        return ConnectDataDescriptor.encodeRequest(identity, 8, nonce, new byte[IdentitySecret.LENGTH_BYTES]);
    }

    private byte[] proved(final byte[] request)
    {
        return ConnectDataDescriptor.proved(request, secret, queuePair.number(), pair.clientDevice.address(), PORT);
    }

    private ConnectionAttempt attempt(final byte[] data)
    {
        // With the right to READ, as a context gives it: the probe of the server ends no connection here.
        final ConnectionAttempt attempt = pair.clientDevice.connect(
            queuePair, pair.serverDevice.address(), PORT, AccessFlags.REMOTE_READ, data, SoftPair.TIMEOUT_NS);
        pair.runUntil(() -> attempt.poll() != ConnectionAttempt.State.PENDING);
        return attempt;
    }

    private String refusal(final byte[] data)
    {
        final ConnectionAttempt attempt = attempt(data);
        return attempt.poll() == ConnectionAttempt.State.ESTABLISHED ? "" :
            new String(attempt.privateData(), StandardCharsets.UTF_8);
    }

    private ConnectionCipher connectEncrypted()
    {
        final byte[] data = encryptedClaim(ANN);
        final ConnectionAttempt attempt = attempt(data);
        assertThat(attempt.poll()).isEqualTo(ConnectionAttempt.State.ESTABLISHED);
        queuePair.postReceive(0, memory.address() + RECEIVED, RECEIVED, memory.localKey());
        return ConnectionCipher.of(secret, true, data, attempt.privateData(), ConnectionCipher.scratch(4112));
    }

    private static int immediate(final int kind)
    {
        return MessageImmediateDescriptor.encode(kind, 1, 5);
    }

    private static final int IMMEDIATE = immediate(MessageImmediateDescriptor.KIND_REQUEST);

    /** A request in clear; returns its length. */
    private int write(final String text)
    {
        MessageHeaderDescriptor.encode(buffer, 0, 1, text.length(), 1);
        buffer.putStringWithoutLengthAscii(MessageHeaderDescriptor.HEADER_LENGTH_BYTES, text);
        return MessageHeaderDescriptor.HEADER_LENGTH_BYTES + text.length();
    }

    private int seal(final String text)
    {
        return cipher.seal(buffer, 0, write(text), IMMEDIATE);
    }

    private void send(final int lengthBytes, final int immediate)
    {
        queuePair.begin();
        queuePair.sendWithImmediate(
            1, SendFlags.SIGNALED, memory.address(), lengthBytes, memory.localKey(), immediate);
        assertThat(queuePair.complete()).isZero();
    }

    private int receivedBytes()
    {
        final int count = completions.poll(polled);
        for (int i = 0; i < count; i++)
        {
            if (polled.opcode(i) == WorkCompletionOpcode.RECV)
            {
                return polled.byteLength(i);
            }
        }
        return -1;
    }

    private void exchange()
    {
        send(seal(REQUEST), IMMEDIATE);
        final int[] length = {-1};
        pair.runUntil(() -> (length[0] = Math.max(length[0], receivedBytes())) >= 0);
        assertThat(length[0]).isEqualTo(MessageHeaderDescriptor.HEADER_LENGTH_BYTES + REQUEST.length() + 16);
        assertThat(buffer.getStringWithoutLengthAscii(RECEIVED, length[0])).doesNotContain("nobody");
        assertThat(cipher.open(
            buffer, RECEIVED, length[0], immediate(MessageImmediateDescriptor.KIND_REPLY))).isPositive();
        assertThat(buffer.getStringWithoutLengthAscii(
            RECEIVED + MessageHeaderDescriptor.HEADER_LENGTH_BYTES, REQUEST.length())).isEqualTo(REQUEST);
        queuePair.postReceive(0, memory.address() + RECEIVED, RECEIVED, memory.localKey());
    }

    private void expectClosed(final int requestsServed)
    {
        pair.runUntil(() -> !server.isConnected(ANN));
        assertThat(served).as("requests that were carried out").hasSize(requestsServed);
        assertThat(server.encryption().refusedMessages()).isEqualTo(1);
        assertThat(server.encryption().refused()).isEqualTo(1);
        assertThat(server.encryption().connections()).isEqualTo(1);
        assertThat(audited).containsExactly("node 5 incarnation 7: " + ConnectionGate.MESSAGE);
    }

    @Test
    void shouldEncryptCallsOfAnyLengthAndTheirAnswers()
    {
        for (final int length : new int[]{0, 1, 100, RpcClient.MAX_MESSAGE_BYTES})
        {
            final String text = "x".repeat(length);
            assertThat(call(good, 1, text)).isEqualTo("OK " + text);
        }
        assertThat(server.encryption().connections()).isEqualTo(1);
        assertThat(server.encryption().refused()).isZero();
        assertThat(audited).isEmpty();
    }

    @Test
    void shouldEncryptRefusalsAndAnswersThatWerePutOff()
    {
        final List<DeferredReply> deferred = new ArrayList<>();
        final List<Boolean> encrypted = new ArrayList<>();
        pair.handler = (caller, method, request, offset, length, reply) ->
        {
            encrypted.add(reply.isEncrypted());
            if (method == 2)
            {
                return reply.refuse("not today");
            }
            deferred.add(reply.defer());
            return RpcReply.DEFERRED;
        };
        assertThat(call(good, 2, "x")).isEqualTo("REFUSED not today");
        final List<RpcStatus> answers = new ArrayList<>();
        for (int i = 0; i < 3; i++)
        {
            pair.client.rpcClient().call(good, 1, new UnsafeBuffer(new byte[8]), 0, 8, SoftPair.TIMEOUT_NS,
                (callId, status, payload, offset, length) -> answers.add(status));
        }
        pair.runUntil(() -> deferred.size() == 3);
        deferred.reversed().forEach((each) -> assertThat(each.reply(new UnsafeBuffer(new byte[8]), 0, 8)).isTrue());
        pair.runUntil(() -> answers.size() == 3);
        assertThat(answers).containsOnly(RpcStatus.OK);
        assertThat(encrypted).hasSize(4).containsOnly(true);
        pair.handler = (caller, method, request, offset, length, reply) ->
        {
            reply.buffer().putBytes(reply.offset(), request, offset, length);
            return length;
        };
    }

    @Test
    void shouldExchangeWhatTheFormatSays()
    {
        cipher = connectEncrypted();
        assertThat(server.encryption().connections()).isEqualTo(2);
        exchange();
        exchange();
        assertThat(served).containsExactly(ANN, ANN);
        assertThat(server.encryption().refused()).isZero();
    }

    @Test
    void shouldCloseAConnectionWithAMessageInClear()
    {
        cipher = connectEncrypted();
        exchange();
        send(write(REQUEST), IMMEDIATE);
        expectClosed(1);
    }

    @Test
    void shouldCloseAConnectionWithAReplayedMessage()
    {
        cipher = connectEncrypted();
        final int length = seal(REQUEST);
        send(length, IMMEDIATE);
        pair.runUntil(() -> served.size() == 1);
        send(length, IMMEDIATE);
        expectClosed(1);
    }

    @Test
    void shouldCloseAConnectionWithMessagesInAnotherOrder()
    {
        cipher = connectEncrypted();
        seal(REQUEST);
        send(seal(REQUEST), IMMEDIATE);
        expectClosed(0);
    }

    @Test
    void shouldCloseAConnectionWithATruncatedMessage()
    {
        cipher = connectEncrypted();
        send(seal(REQUEST) - 1, IMMEDIATE);
        expectClosed(0);
    }

    @Test
    void shouldCloseAConnectionWithAnEmptyMessage()
    {
        cipher = connectEncrypted();
        send(0, IMMEDIATE);
        expectClosed(0);
    }

    @Test
    void shouldCloseAConnectionWithAMessageThatIsTooLong()
    {
        cipher = connectEncrypted();
        send(4160, IMMEDIATE);
        expectClosed(0);
    }

    @Test
    void shouldCloseAConnectionWithAChangedMessage()
    {
        cipher = connectEncrypted();
        final int length = seal(REQUEST);
        buffer.putByte(20, (byte)(buffer.getByte(20) ^ 1));
        send(length, IMMEDIATE);
        expectClosed(0);
    }

    @Test
    void shouldCloseAConnectionWithAChangedImmediate()
    {
        cipher = connectEncrypted();
        send(seal(REQUEST), IMMEDIATE + 1);
        expectClosed(0);
    }

    @Test
    void shouldCloseAConnectionWithAMessageOfAnotherConnection()
    {
        final ConnectionCipher foreign = connectEncrypted();
        queuePair.close();
        queuePair = newQueuePair();
        pair.runUntil(() -> !server.isConnected(ANN));
        cipher = connectEncrypted();
        send(foreign.seal(buffer, 0, write(REQUEST), IMMEDIATE), IMMEDIATE);
        expectClosed(0);
    }

    @Test
    void shouldCloseAConnectionWithAMessageForAnEndpoint()
    {
        for (final int kind : new int[]{MessageImmediateDescriptor.KIND_MESSAGE, MessageImmediateDescriptor.KIND_CREDIT,
            MessageImmediateDescriptor.KIND_CLOSE, MessageImmediateDescriptor.KIND_WRITE})
        {
            final long before = server.encryption().refusedMessages();
            cipher = connectEncrypted();
            send(0, immediate(kind));
            pair.runUntil(() -> !server.isConnected(ANN));
            assertThat(server.encryption().refusedMessages()).isEqualTo(before + 1);
            assertThat(pair.server.usage().droppedMessages()).isZero();
            queuePair.close();
            queuePair = newQueuePair();
        }
    }

    /** The keys follow from all that was sent: a changed answer leads to others. */
    @Test
    void shouldCloseAConnectionWhoseAnswerWasChangedOnTheWay()
    {
        final byte[] data = encryptedClaim(ANN);
        final byte[] answer = attempt(data).privateData().clone();
        answer[ConnectDataDescriptor.ACCESS_FLAGS_OFFSET] ^= 2;
        cipher = ConnectionCipher.of(secret, true, data, answer, ConnectionCipher.scratch(4112));
        send(seal(REQUEST), IMMEDIATE);
        expectClosed(0);
    }

    @Test
    void shouldRefuseMessagesOfEndpointsWhichWouldNotBeEncrypted()
    {
        MessageEndpoint.accept(server, (_, _, _) ->
        {
            throw new AssertionError("asked");
        });
        assertThat(call(good, 65_535, "x".repeat(48))).contains("REFUSED").contains("messages would not be");
    }

    @Test
    void shouldRefuseConnectionsInClearWhereTheyHaveToBeEncrypted()
    {
        server.encryption(ANN::equals, (who, what) -> audited.add(who + ": " + what));
        assertThat(refusal(claim(ANN))).isEqualTo(
            "only encrypted connections are taken here: give --encrypt, or VERBENA_ENCRYPT=true");
        assertThat(server.isConnected(ANN)).isFalse();
        assertThat(server.encryption().refusedInClear()).isEqualTo(1);
        assertThat(server.encryption().refused()).isEqualTo(1);
        assertThat(audited).containsExactly("node 5 incarnation 7: " + ConnectionGate.IN_CLEAR);
        assertThat(server.refusedProofs()).isZero();
        assertThat(refusal(claim(GOOD))).as("others may").isEmpty();
        queuePair.close();
        queuePair = newQueuePair();
        cipher = connectEncrypted();
        exchange();
    }

    @Test
    void shouldRefuseEncryptionThatItDoesNotKnow()
    {
        for (final int unknown : new int[]{3, -1, 256})
        {
            final byte[] data = ConnectDataDescriptor.encrypted(unproved(ANN), new SecureRandom());
            new UnsafeBuffer(data).putInt(ConnectDataDescriptor.ENCRYPTION_OFFSET, unknown);
            assertThat(refusal(proved(data))).contains("encryption " + unknown + " is not known here");
        }
    }

    /** Else whoever changes packets had a connection in clear that is proved to be somebody else's. */
    @Test
    void shouldRefuseARequestWhoseEncryptionWasTakenAwayAddedOrChangedOnTheWay()
    {
        final byte[] data = encryptedClaim(ANN);
        final List<byte[]> changed = new ArrayList<>(List.of(
            Arrays.copyOf(data, ConnectDataDescriptor.REQUEST_LENGTH_BYTES),
            ConnectDataDescriptor.encrypted(claim(ANN), new SecureRandom())));
        for (int offset = ConnectDataDescriptor.ENCRYPTION_OFFSET; offset < data.length; offset++)
        {
            changed.add(data.clone());
            changed.getLast()[offset] ^= 1;
        }
        changed.forEach((request) -> assertThat(refusal(request)).contains("did not prove"));
        assertThat(server.isConnected(ANN)).isFalse();
        assertThat(refusal(data)).as("as it was sent").isEmpty();
    }

    @Test
    void shouldRefuseEncryptionOfWhoProvesNothing()
    {
        assertThat(refusal(ConnectDataDescriptor.encrypted(
            ConnectDataDescriptor.encodeRequest(PeerIdentity.CLIENT, 8), new SecureRandom())))
            .contains("client proves nothing");
        final RpcServer trusting = pair.server.serve(
            12, (_, _) -> Admission.callsOnly(), (caller, method, request, offset, length, reply) -> 0);
        assertThat(connect(12).failure()).contains("node 3 incarnation 1 proves nothing");
        trusting.close();
    }

    @Test
    void shouldNotConnectWithoutASecret()
    {
        pair.client.identity(ANN);
        final VirtualQp vqp = connect(PORT);
        assertThat(vqp.state()).isEqualTo(VirtualQp.State.FAILED);
        assertThat(vqp.failure()).contains("encryption takes keys, and node 5 incarnation 7 shares no secret");
        pair.client.identity(GOOD, 100, (_) -> secret);
        good = connect(PORT);
    }

    /** A peer that answers as one does that knows no encryption, or as somebody between makes it answer. */
    @Test
    void shouldNotConnectToAPeerThatGrantsNoEncryption()
    {
        for (final boolean isUnknown : new boolean[]{false, true})
        {
            try (ConnectionListener listener = pair.clientDevice.listen(RAW_PORT))
            {
                final VirtualQp vqp = pair.client.connect(new PeerAddress(
                    pair.clientDevice.address(), RAW_PORT, 5, 1), BatchListener.CALLS_ONLY, SoftPair.TIMEOUT_NS);
                final byte[] bare = ConnectDataDescriptor.encodeAnswer(Admission.accept(0, new byte[]{1}), 8, 1);
                final byte[] answer = isUnknown ? ConnectDataDescriptor.encrypted(bare, new SecureRandom()) : bare;
                answer[answer.length - (isUnknown ? 20 : 1)] = 9;
                pair.runUntil(() -> accept(listener.poll(), answer) != null);
                pair.runUntil(() -> vqp.state() != VirtualQp.State.CONNECTING);
                assertThat(vqp.failure()).contains("encryption was asked for, and the peer grants none");
                vqp.close();
            }
            queuePair.close();
            queuePair = newQueuePair();
        }
    }

    private byte[] accept(final ConnectionRequest request, final byte[] answer)
    {
        if (request == null)
        {
            return null;
        }
        request.prepare(queuePair);
        queuePair.postReceive(0, memory.address() + RECEIVED, RECEIVED, memory.localKey());
        request.accept(queuePair, 0, answer);
        return request.privateData();
    }

    /** Replies that somebody makes up: in clear, changed, or those of another call. */
    @Test
    void shouldNotTakeRepliesThatThePeerHasNotSealed()
    {
        for (final String attack : List.of("none", "clear", "changed", "refusal", "replayed"))
        {
            try (ConnectionListener listener = pair.clientDevice.listen(RAW_PORT))
            {
                final VirtualQp vqp = pair.client.connect(new PeerAddress(
                    pair.clientDevice.address(), RAW_PORT, 5, 1), BatchListener.CALLS_ONLY, SoftPair.TIMEOUT_NS);
                final byte[] answer = ConnectDataDescriptor.encrypted(
                    ConnectDataDescriptor.encodeAnswer(Admission.callsOnly(), 8, 1), new SecureRandom());
                final byte[][] data = new byte[1][];
                pair.runUntil(() -> null != (data[0] = accept(listener.poll(), answer)));
                pair.runUntil(vqp::isReady);
                cipher = ConnectionCipher.of(secret, false, data[0], answer, ConnectionCipher.scratch(4112));
                final List<RpcStatus> ended = new ArrayList<>();
                pair.client.rpcClient().call(vqp, 1, new UnsafeBuffer(REQUEST.getBytes(StandardCharsets.US_ASCII)), 0,
                    REQUEST.length(), SoftPair.TIMEOUT_NS, (callId, status, payload, offset, length) ->
                        ended.add(status));
                final int[] length = {-1};
                pair.runUntil(() -> (length[0] = Math.max(length[0], receivedBytes())) >= 0);
                assertThat(buffer.getStringWithoutLengthAscii(RECEIVED, length[0])).doesNotContain("nobody");
                final int requestImmediate = polled.immediate(0);
                assertThat(cipher.open(buffer, RECEIVED, length[0], requestImmediate)).isPositive();
                reply(attack, requestImmediate, MessageHeaderDescriptor.generation(buffer, RECEIVED));
                pair.runUntil(() -> !ended.isEmpty());
                final boolean isAnswered = attack.equals("none") || attack.equals("replayed");
                assertThat(ended).as(attack).containsExactly(isAnswered ? RpcStatus.OK : RpcStatus.PEER_FAILED);
                if (attack.equals("none"))
                {
                    assertThat(vqp.isReady()).isTrue();
                }
                else
                {
                    pair.runUntil(() -> vqp.state() == VirtualQp.State.FAILED);
                    assertThat(vqp.failure()).contains("not the next one that the peer has sealed");
                }
                vqp.close();
                pair.client.forget(vqp.peer());
            }
            queuePair.close();
            queuePair = newQueuePair();
            pair.poll(10);
        }
    }

    private void reply(final String attack, final int requestImmediate, final int generation)
    {
        MessageHeaderDescriptor.encode(buffer, 0, 1, 0, generation);
        final int slot = MessageImmediateDescriptor.slot(requestImmediate);
        final int bits = MessageImmediateDescriptor.generation(requestImmediate);
        final int right = MessageImmediateDescriptor.encode(MessageImmediateDescriptor.KIND_REPLY, bits, slot);
        final int length = attack.equals("clear") ? MessageHeaderDescriptor.HEADER_LENGTH_BYTES :
            cipher.seal(buffer, 0, MessageHeaderDescriptor.HEADER_LENGTH_BYTES, right);
        if (attack.equals("changed"))
        {
            buffer.putByte(30, (byte)(buffer.getByte(30) ^ 64));
        }
        send(length, attack.equals("refusal") ?
            MessageImmediateDescriptor.encode(MessageImmediateDescriptor.KIND_REFUSAL, bits, slot) : right);
        if (attack.equals("replayed"))
        {
            pair.poll(2);
            send(length, right);
        }
    }

    @Test
    void shouldLeaveConnectDataInClearAsItWas()
    {
        final byte[] data = claim(ANN);
        assertThat(data).hasSize(ConnectDataDescriptor.REQUEST_LENGTH_BYTES);
        final ConnectionAttempt attempt = attempt(data);
        assertThat(attempt.privateData()).hasSize(ConnectDataDescriptor.REGIONS_OFFSET);
        assertThat(ConnectDataDescriptor.encryptionAsked(data)).isZero();
        assertThat(ConnectDataDescriptor.encryptionGranted(attempt.privateData())).isZero();
        assertThat(server.encryption().connections()).isEqualTo(1);
    }
}
