package io.verbena.raas;

import io.verbena.raas.encryption.SealedMessageDescriptor;
import io.verbena.raas.identity.IdentitySecret;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.message.MessageHeaderDescriptor;
import io.verbena.rdma.soft.SoftFabric;
import io.verbena.rdma.soft.SoftFabricOptions;
import io.verbena.rdma.verbs.ConnectionAttempt;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.Device;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Messages are left to sealed packets where both ends know by themselves that packets are sealed with what the secret
 * of the identity follows from, and nowhere else, whatever a peer or somebody between says.
 */
class SealedPacketsCallsTest
{
    private static final int PORT = 9;
    private static final ConnectionRequest.PacketSeal SEAL = new ConnectionRequest.PacketSeal(1, 2);
    private static final ConnectionRequest.PacketSeal OTHER = new ConnectionRequest.PacketSeal(1, 3);
    private static final PeerIdentity GOOD = new PeerIdentity(3, 1);
    private static final String TEXT = "a request that nobody may read";

    @TempDir
    Path directory;
    private final IdentitySecret bare = IdentitySecret.random(new SecureRandom());
    private final IdentitySecret covered = bare.coveredBy(SEAL::equals);
    private final List<AutoCloseable> open = new ArrayList<>();
    private final List<Boolean> encrypted = new ArrayList<>();
    private final List<String> seen = new ArrayList<>();
    /** As if somebody changed connect data on the way. */
    private UnaryOperator<byte[]> changedRequest = (data) -> data;
    private UnaryOperator<byte[]> changedAnswer = (data) -> data;
    private int asked = -1;
    private int granted = -1;
    private RaasContext server;
    private RaasContext client;
    private RpcServer rpcServer;
    private VirtualQp vqp;

    @AfterEach
    void close() throws Exception
    {
        for (final AutoCloseable each : open.reversed())
        {
            each.close();
        }
    }

    /** The device as it is, but for what it says of packets, and for connect data. */
    private Device device(
        final Device real, final ConnectionRequest.PacketSeal ofDevice, final ConnectionRequest.PacketSeal ofConnection)
    {
        return proxy(Device.class, real, (method, result, arguments) -> switch (method.getName())
        {
            case "packetSeal" -> ofDevice;
            case "connect" -> proxy(ConnectionAttempt.class, result, (each, value, _) -> switch (each.getName())
            {
                case "packetSeal" -> ofConnection;
                case "privateData" -> answer((byte[])value);
                default -> value;
            });
            case "listen" -> proxy(ConnectionListener.class, result, (each, value, _) ->
                each.getName().equals("poll") && value != null ? request(value, ofConnection) : value);
            default -> result;
        });
    }

    private byte[] answer(final byte[] data)
    {
        final byte[] changed = data.length == 0 ? data : changedAnswer.apply(data.clone());
        granted = data.length == 0 ? granted : ConnectDataDescriptor.encryptionGranted(changed);
        return changed;
    }

    private Object request(final Object real, final ConnectionRequest.PacketSeal seal)
    {
        return proxy(ConnectionRequest.class, real, (method, value, _) -> switch (method.getName())
        {
            case "packetSeal" -> seal;
            case "privateData" ->
            {
                asked = ConnectDataDescriptor.encryptionAsked((byte[])value);
                yield changedRequest.apply((byte[])value);
            }
            default -> value;
        });
    }

    private interface Answers
    {
        Object of(Method method, Object result, Object[] arguments);
    }

    private static <T> T proxy(final Class<T> type, final Object real, final Answers answers)
    {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[]{type}, (_, method, arguments) ->
        {
            try
            {
                return answers.of(method, method.invoke(real, arguments), arguments);
            }
            catch (final InvocationTargetException ex)
            {
                throw ex.getCause();
            }
        }));
    }

    private <T extends AutoCloseable> T add(final T closeable)
    {
        open.add(closeable);
        return closeable;
    }

    /** Connects, with what each end knows of the packets. */
    private void connect(
        final ConnectionRequest.PacketSeal ofClientDevice, final ConnectionRequest.PacketSeal atClient,
        final ConnectionRequest.PacketSeal atServer,
        final IdentitySecret clientSecret, final IdentitySecret serverSecret)
    {
        final SoftFabric fabric = add(SoftFabric.open(new SoftFabricOptions().directory(directory)));
        final Device serverDevice = fabric.openDevice("server");
        final Device clientDevice = fabric.openDevice("client");
        open.add(serverDevice::close);
        open.add(clientDevice::close);
        server = add(RaasContext.open(device(serverDevice, atServer, atServer), new RaasConfiguration()));
        client = add(RaasContext.open(device(clientDevice, ofClientDevice, atClient),
            new RaasConfiguration().encrypted(true)));
        client.identity(GOOD, 1, (_) -> clientSecret);
        rpcServer = add(server.serve(PORT, (_, _) -> Admission.callsOnly(),
            (identity) -> identity.equals(GOOD) ? serverSecret : null,
            (caller, method, request, offset, length, reply) ->
            {
                encrypted.add(reply.isEncrypted());
                seen.add(request.getStringWithoutLengthAscii(offset, length));
                reply.buffer().putBytes(reply.offset(), request, offset, length);
                return length;
            }));
        rpcServer.encryption((_) -> true, (_, _) -> { });
        vqp = client.connect(
            new PeerAddress(serverDevice.address(), PORT, 1, 1), BatchListener.CALLS_ONLY, SoftPair.TIMEOUT_NS);
        poll(() -> vqp.state() != VirtualQp.State.CONNECTING);
    }

    private interface Condition
    {
        boolean isMet();
    }

    private void poll(final Condition condition)
    {
        final long began = System.nanoTime();
        while (!condition.isMet())
        {
            assertThat(System.nanoTime() - began).isLessThan(SoftPair.TIMEOUT_NS);
            server.poll();
            client.poll();
        }
    }

    private String call()
    {
        return call(SoftPair.TIMEOUT_NS / 2);
    }

    private String call(final long timeoutNs)
    {
        final byte[] bytes = TEXT.getBytes(StandardCharsets.US_ASCII);
        final List<String> answers = new ArrayList<>();
        client.rpcClient().call(vqp, 1, new UnsafeBuffer(bytes), 0, bytes.length, timeoutNs,
            (_, status, payload, offset, length) ->
                answers.add(status + " " + payload.getStringWithoutLengthAscii(offset, length)));
        poll(() -> !answers.isEmpty());
        return answers.getFirst();
    }

    private void assertServed(final int expectedAsked, final int expectedGranted)
    {
        assertThat(vqp.state()).as(vqp.failure()).isEqualTo(VirtualQp.State.READY);
        assertThat(asked).isEqualTo(expectedAsked);
        assertThat(granted).isEqualTo(expectedGranted);
        final int sealedBytes = expectedGranted == SealedMessageDescriptor.AES_128_GCM ?
            SealedMessageDescriptor.TAG_LENGTH_BYTES : 0;
        for (int i = 0; i < 3; i++)
        {
            final long before = client.counters().payloadBytes;
            assertThat(call()).isEqualTo("OK " + TEXT);
            assertThat(client.counters().payloadBytes - before).as("bytes of a request")
                .isEqualTo(MessageHeaderDescriptor.HEADER_LENGTH_BYTES + TEXT.length() + sealedBytes);
        }
        assertThat(encrypted).containsOnly(true);
        assertThat(rpcServer.encryption().connections()).isEqualTo(1);
    }

    private static byte[] with(final byte[] data, final int offset, final int encryption)
    {
        new UnsafeBuffer(data).putInt(offset, encryption);
        return data;
    }

    private static int atEnd(final byte[] answer)
    {
        return answer.length - ConnectDataDescriptor.ENCRYPTION_LENGTH_BYTES;
    }

    @Test
    void shouldLeaveMessagesToPacketsThatBothEndsKnowToBeSealed()
    {
        connect(SEAL, SEAL, SEAL, covered, covered);
        assertServed(SealedMessageDescriptor.IN_SEALED_PACKETS, SealedMessageDescriptor.IN_SEALED_PACKETS);
    }

    @Test
    void shouldBeCoveredByNoPacketsInClear()
    {
        assertThat(bare.coveredBy((_) -> true).isCoveredBy(null)).isFalse();
        assertThat(covered.isCoveredBy(SEAL)).isTrue();
        assertThat(covered.derive("user", 1, 1).isCoveredBy(SEAL)).as("what is derived from it").isFalse();
    }

    /** Peers of one host: the device seals, this connection is over memory. */
    @Test
    void shouldSealMessagesWherePacketsOfThisConnectionAreNot()
    {
        connect(SEAL, null, null, covered, covered);
        assertServed(SealedMessageDescriptor.IN_SEALED_PACKETS, SealedMessageDescriptor.AES_128_GCM);
    }

    @Test
    void shouldSealMessagesWherePacketsAreSealedWithAnotherKeyThanTheTokens()
    {
        connect(OTHER, OTHER, OTHER, covered, covered);
        assertServed(SealedMessageDescriptor.AES_128_GCM, SealedMessageDescriptor.AES_128_GCM);
    }

    /** Of a user, whose ticket others that have the key do not know. */
    @Test
    void shouldSealMessagesOfASecretThatPacketsDoNotCover()
    {
        connect(SEAL, SEAL, SEAL, bare, bare);
        assertServed(SealedMessageDescriptor.AES_128_GCM, SealedMessageDescriptor.AES_128_GCM);
    }

    /** Somebody who has the key of the server's packets, and not the token, passes on what an operator has sent. */
    @Test
    void shouldNotLeaveMessagesToPacketsOfAKeyThatIsNotTheTokens()
    {
        connect(SEAL, SEAL, OTHER, covered, covered);
        assertServed(SealedMessageDescriptor.IN_SEALED_PACKETS, SealedMessageDescriptor.AES_128_GCM);
    }

    @Test
    void shouldNotLeaveMessagesToPacketsUnasked()
    {
        connect(null, SEAL, SEAL, covered, covered);
        assertServed(SealedMessageDescriptor.AES_128_GCM, SealedMessageDescriptor.AES_128_GCM);
    }

    /** A peer that claims sealed packets where they are not, or somebody between who changes the answer. */
    @Test
    void shouldNotSendAnythingToAPeerThatClaimsSealedPacketsWhereTheyAreNot()
    {
        for (final ConnectionRequest.PacketSeal atClient : new ConnectionRequest.PacketSeal[]{null, OTHER})
        {
            connect(SEAL, atClient, SEAL, covered, covered);
            assertThat(vqp.state()).isEqualTo(VirtualQp.State.FAILED);
            assertThat(vqp.failure()).contains("leaves encryption to sealed packets").doesNotContain("\n");
            assertThat(seen).isEmpty();
        }
    }

    @Test
    void shouldNotTakeSealedPacketsThatItHasNotAskedFor()
    {
        changedAnswer = (answer) -> with(answer, atEnd(answer), SealedMessageDescriptor.IN_SEALED_PACKETS);
        connect(null, SEAL, null, covered, covered);
        assertThat(vqp.failure()).contains("leaves encryption to sealed packets");
        assertThat(seen).isEmpty();
    }

    @Test
    void shouldRefuseAnswersThatGrantWhatIsNone()
    {
        for (final int none : new int[]{0, 3, -1, Integer.MIN_VALUE})
        {
            changedAnswer = (answer) -> with(answer, atEnd(answer), none);
            connect(SEAL, SEAL, SEAL, covered, covered);
            assertThat(vqp.failure()).contains("the peer grants none");
        }
        assertThat(seen).isEmpty();
    }

    /** The proof covers which of both is asked for. */
    @Test
    void shouldRefuseARequestThatWasChangedFromOneToTheOther()
    {
        changedRequest = (data) -> with(data, ConnectDataDescriptor.ENCRYPTION_OFFSET,
            SealedMessageDescriptor.IN_SEALED_PACKETS);
        connect(null, SEAL, SEAL, covered, covered);
        assertThat(vqp.failure()).contains("did not prove");
        changedRequest = (data) -> with(data, ConnectDataDescriptor.ENCRYPTION_OFFSET,
            SealedMessageDescriptor.AES_128_GCM);
        connect(SEAL, SEAL, SEAL, covered, covered);
        assertThat(vqp.failure()).contains("did not prove");
    }

    /** One end seals messages and the other does not: nothing is taken. */
    @Test
    void shouldTakeNothingWhereTheAnswerWasChangedToSealedMessages()
    {
        changedAnswer = (answer) -> with(answer, atEnd(answer), SealedMessageDescriptor.AES_128_GCM);
        connect(SEAL, SEAL, SEAL, covered, covered);
        // Nobody answers: it ends by its deadline, which is before that of this test.
        assertThat(call(SoftPair.TIMEOUT_NS / 20)).doesNotStartWith("OK");
        assertThat(seen).isEmpty();
    }
}
