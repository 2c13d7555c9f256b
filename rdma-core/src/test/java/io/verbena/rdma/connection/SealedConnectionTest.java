package io.verbena.rdma.connection;

import io.verbena.rdma.verbs.ConnectionAttempt;
import io.verbena.rdma.verbs.ConnectionAttempt.State;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.RdmaException;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;
import javax.crypto.KDF;
import javax.crypto.Mac;
import javax.crypto.SecretKey;
import javax.crypto.spec.HKDFParameterSpec;
import javax.crypto.spec.SecretKeySpec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Devices with a secret, those without, and somebody between them. */
class SealedConnectionTest
{
    private static final InetAddress HOST = InetAddress.ofLiteral("::1");
    private static final byte[] BYTES = new byte[ConnectionSecret.LENGTH_BYTES];
    private static final ConnectionSecret SECRET = new ConnectionSecret(BYTES);
    private static final ConnectionSecret OTHER =
        new ConnectionSecret("another secret of thirty-two byt".getBytes(StandardCharsets.US_ASCII));

    private final FakeQueuePair requester = new FakeQueuePair(11);
    private final FakeQueuePair responder = new FakeQueuePair(12);
    @TempDir
    private Path directory;
    private FakeDevice own;
    private FakeDevice peer;
    private byte[] recorded;

    @BeforeEach
    void open() throws IOException
    {
        own = new FakeDevice();
        peer = new FakeDevice();
        own.secret = SECRET;
        peer.secret = SECRET;
    }

    @AfterEach
    void close()
    {
        own.close();
        peer.close();
    }

    private ConnectionAttempt connect(final DeviceAddress to, final boolean isAccepted)
    {
        try (ConnectionListener listener = peer.service.listen(7, () -> { }))
        {
            final ConnectionAttempt attempt = own.connect(requester, to, 20_000);
            if (isAccepted)
            {
                FakeDevice.awaitRequest(listener).accept(peer.queuePair(responder), 0, new byte[]{3});
            }
            FakeDevice.await(attempt);
            assertThat(isAccepted || listener.poll() == null).isTrue();
            return attempt;
        }
    }

    private void assertRefused(final String why)
    {
        final ConnectionAttempt attempt = connect(peer.address(), false);
        assertThat(attempt.poll()).isEqualTo(State.UNREACHABLE);
        assertThat(attempt.problem()).endsWith(why).doesNotContain("\n");
        assertThat(requester.isSealDecided).isFalse();
    }

    @Test
    void shouldAgreeOnKeysOfEachDirection()
    {
        assertThat(connect(peer.address(), true).poll()).isEqualTo(State.ESTABLISHED);
        assertThat(requester.keys.sending()).isEqualTo(responder.keys.receiving());
        assertThat(requester.keys.receiving()).isEqualTo(responder.keys.sending());
        assertThat(requester.keys.sending()).isNotEqualTo(requester.keys.receiving());
        assertThat(requester.keys.sending().getEncoded()).hasSize(ConnectionSecret.LENGTH_BYTES);
        assertThat(requester.keys.toString() + SECRET).doesNotContain("Spec");
        assertThat(own.refused.get() + peer.refused.get()).isZero();
    }

    @Test
    void shouldMakeOtherKeysForEachConnection()
    {
        connect(peer.address(), true);
        final SecretKey first = requester.keys.sending();
        requester.toReset(null);
        responder.toReset(null);
        connect(peer.address(), true);
        assertThat(requester.keys.sending()).isNotEqualTo(first);
    }

    @Test
    void shouldRefuseAPeerInClearAndSayWhy()
    {
        own.secret = null;
        assertRefused(": only sealed packets are taken there: give encrypt=KEYFILE with the key of that end");
        assertThat(peer.refused).hasValue(1);
    }

    /** What a peer says of itself is not proved: the address that is reported is the connection's. */
    @Test
    void shouldReportWhereARefusedPeerIsWhateverItSays()
    {
        own.secret = null;
        own.gidLow = 99;
        assertRefused(": only sealed packets are taken there: give encrypt=KEYFILE with the key of that end");
        assertThat(peer.lastRefused).isEqualTo(HOST);
    }

    /** An answer that is not taken is reported with the address that was asked. */
    @Test
    void shouldReportWhatWasAskedWhereAnAnswerIsNotTaken()
    {
        peer.secret = null;
        assertRefused(": packets are in clear there, and sealed here: give both ends encrypt=KEYFILE, or neither");
        assertThat(own.lastRefused).isEqualTo(HOST);
    }

    @Test
    void shouldSayThatThePeerIsInClear()
    {
        peer.secret = null;
        assertRefused(": packets are in clear there, and sealed here: give both ends encrypt=KEYFILE, or neither");
        assertThat(own.refused).hasValue(1);
    }

    @Test
    void shouldRefuseAPeerWithAnotherKey()
    {
        own.secret = OTHER;
        assertRefused(": the key of that end is another one: give both ends the same encrypt=KEYFILE");
        assertThat(peer.refused).hasValue(1);
    }

    @Test
    void shouldTakeAPeerInClearWhereThatIsAccepted()
    {
        own.secret = null;
        peer.isClearAccepted = true;
        assertThat(connect(peer.address(), true).poll()).isEqualTo(State.ESTABLISHED);
        assertThat(responder.isSealDecided).isTrue();
        assertThat(responder.keys).isNull();
        own.secret = OTHER;
        requester.toReset(null);
        assertRefused(": the key of that end is another one: give both ends the same encrypt=KEYFILE");
    }

    @Test
    void shouldConnectInClearWithoutSecrets()
    {
        own.secret = null;
        peer.secret = null;
        assertThat(connect(peer.address(), true).poll()).isEqualTo(State.ESTABLISHED);
        assertThat(requester.isSealDecided || responder.isSealDecided).isFalse();
    }

    @Test
    void shouldTakeRejectionsThatAreProved()
    {
        try (ConnectionListener listener = peer.service.listen(7, () -> { }))
        {
            final ConnectionAttempt attempt = own.connect(requester, peer.address(), 20_000);
            FakeDevice.awaitRequest(listener).reject(new byte[]{9});
            assertThat(FakeDevice.await(attempt)).isEqualTo(State.REJECTED);
            assertThat(attempt.privateData()).containsExactly(9);
        }
        requester.toReset(null);
        final ConnectionAttempt attempt = own.connect(requester, peer.address(), 20_000);
        assertThat(FakeDevice.await(attempt)).isEqualTo(State.UNREACHABLE);
        assertThat(attempt.problem()).endsWith(": nobody listens at that service port");
    }

    /** Each byte of request and answer: no connection whose ends have keys of each other. */
    @Test
    void shouldMakeNoConnectionWhenAByteIsChangedOnTheWay() throws IOException
    {
        final int length = ConnectionMessage.HEADER_LENGTH_BYTES + 2 + 16 + 16;
        for (int at = 0; at < length; at++)
        {
            assertNoConnection(at, true);
            if (at < length - 1)
            {
                assertNoConnection(at, false);
            }
        }
    }

    private void assertNoConnection(final int at, final boolean isRequest) throws IOException
    {
        final UnaryOperator<byte[]> change = (bytes) ->
        {
            final byte[] changed = bytes.clone();
            changed[at] ^= 1;
            return changed;
        };
        peer.peerPatienceMs = 300;
        own.peerPatienceMs = 300;
        final FakeQueuePair asking = new FakeQueuePair(11);
        final FakeQueuePair answering = new FakeQueuePair(12);
        try (Between between = new Between(peer.service.tcpPort(),
            isRequest ? change : UnaryOperator.identity(), isRequest ? UnaryOperator.identity() : change);
            ConnectionListener listener = peer.service.listen(7, () -> { }))
        {
            final ConnectionAttempt attempt =
                own.connect(asking, new DeviceAddress(0, 1, between.port()), TimeUnit.SECONDS.toMillis(1));
            between.carry(() ->
            {
                final ConnectionRequest request = listener.poll();
                if (request != null)
                {
                    request.accept(peer.queuePair(answering), 0, new byte[]{3});
                }
            }, () -> attempt.poll() != State.PENDING);
            assertThat(attempt.poll()).as("byte %d of the %s", at, isRequest ? "request" : "answer")
                .isNotEqualTo(State.ESTABLISHED);
            assertThat(asking.state()).isEqualTo(QueuePairState.RESET);
        }
    }

    /** A request that was recorded gets an answer, which has another random number, and is never said to be ready. */
    @Test
    void shouldMakeOtherKeysOfARequestThatIsReplayed() throws IOException
    {
        final ConnectionMessage request = ConnectionProof.request(SECRET, own, new ConnectionMessage(
            ConnectionMessage.REQUEST, 7, 1, 1, 5, 1, own.address(), new byte[0]));
        final SecretKey first = accepted(request, null);
        assertThat(recorded).isNotNull();
        responder.toReset(null);
        peer.peerPatienceMs = 300;
        assertThat(accepted(request, recorded)).isNotEqualTo(first);
        final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (responder.state() != QueuePairState.ERR && System.nanoTime() - endNs < 0)
        {
            Thread.onSpinWait();
        }
        assertThat(responder.state()).isEqualTo(QueuePairState.ERR);
    }

    /** Somebody between leads the connection to another device that has the key. */
    @Test
    void shouldTakeNoAnswerOfAnotherDevice()
    {
        final DeviceAddress asked = peer.address();
        peer.gidLow = 2;
        try (ConnectionListener listener = peer.service.listen(7, () -> { }))
        {
            final ConnectionAttempt attempt = own.connect(requester, asked, 20_000);
            FakeDevice.awaitRequest(listener).accept(peer.queuePair(responder), 0, new byte[0]);
            assertThat(FakeDevice.await(attempt)).isEqualTo(State.UNREACHABLE);
            assertThat(attempt.problem()).endsWith(": the answer is of another device");
            assertThat(requester.state()).isNotEqualTo(QueuePairState.RTS);
            assertThat(own.refused).hasValue(1);
        }
    }

    private static ConnectionMessage message(final byte[] bytes)
    {
        return ConnectionMessage.take(ByteBuffer.wrap(bytes).position(bytes.length));
    }

    /** With the READY that is given, or else with the one of this exchange, which is recorded. */
    private SecretKey accepted(final ConnectionMessage request, final byte[] givenReady) throws IOException
    {
        try (ConnectionListener listener = peer.service.listen(7, () -> { });
            Socket socket = new Socket(HOST, peer.service.tcpPort()))
        {
            socket.setSoTimeout(20_000);
            socket.getOutputStream().write(request.bytes());
            FakeDevice.awaitRequest(listener).accept(peer.queuePair(responder), 0, new byte[0]);
            final ConnectionMessage answer = message(socket.getInputStream().readNBytes(
                ConnectionMessage.HEADER_LENGTH_BYTES + ConnectionMessage.RANDOM_LENGTH_BYTES +
                    ConnectionMessage.PROOF_LENGTH_BYTES));
            recorded = ConnectionProof.of(SECRET, request).after(answer).sealed(own, new ConnectionMessage(
                ConnectionMessage.READY, 0, 0, 0, 5, 0, own.address(), new byte[0])).bytes();
            socket.getOutputStream().write(null == givenReady ? recorded : givenReady);
            socket.getInputStream().readAllBytes();
            return responder.keys.sending();
        }
    }

    /** From HMAC and HKDF alone, as the pages say. */
    @Test
    void shouldProveAndDeriveAsThePagesSay() throws GeneralSecurityException
    {
        final ConnectionMessage request = ConnectionProof.request(SECRET, own, new ConnectionMessage(
            ConnectionMessage.REQUEST, 7, 1, 1, 5, 1, own.address(), new byte[]{1}));
        final ConnectionMessage accept = ConnectionProof.of(SECRET, request).sealed(own, new ConnectionMessage(
            ConnectionMessage.ACCEPT, 7, 2, 2, 5, 1, own.address(), new byte[]{2}));
        final SecretKey messages = hkdf("verbena connection messages".getBytes(StandardCharsets.US_ASCII));
        assertThat(request.proof()).isEqualTo(mac(messages, new byte[0], request));
        assertThat(accept.proof()).isEqualTo(mac(messages, request.bytes(), accept));
        final ConnectionKeys keys = ConnectionProof.of(SECRET, request).keys(accept, true);
        assertThat(keys.sending()).isEqualTo(hkdf(context("verbena packets of the requester", request, accept)));
        assertThat(keys.receiving()).isEqualTo(hkdf(context("verbena packets of the acceptor", request, accept)));
    }

    private static byte[] context(final String name, final ConnectionMessage request, final ConnectionMessage accept)
    {
        final byte[] first = request.bytes();
        final byte[] second = accept.bytes();
        return ByteBuffer.allocate(name.length() + 2 + first.length + second.length)
            .put(name.getBytes(StandardCharsets.US_ASCII)).putShort((short)first.length).put(first).put(second).array();
    }

    private static SecretKey hkdf(final byte[] context) throws GeneralSecurityException
    {
        return KDF.getInstance("HKDF-SHA256").deriveKey("Generic", HKDFParameterSpec.ofExtract()
            .addIKM(new SecretKeySpec(BYTES, "Generic")).thenExpand(context, 32));
    }

    private static byte[] mac(final SecretKey key, final byte[] before, final ConnectionMessage message)
        throws GeneralSecurityException
    {
        final byte[] bytes = message.bytes();
        final Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(key);
        mac.update(ByteBuffer.allocate(2 + before.length).putShort((short)before.length).put(before).flip());
        mac.update(bytes, 0, bytes.length - ConnectionMessage.PROOF_LENGTH_BYTES);
        return Arrays.copyOf(mac.doFinal(), ConnectionMessage.PROOF_LENGTH_BYTES);
    }

    @Test
    void shouldReadTheKeyOfAFileThatNobodyElseReads() throws IOException
    {
        final Path file = directory.resolve("token");
        Files.writeString(file, "00".repeat(32) + "\ntls-authority sha256:00\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        final ConnectionMessage request = ConnectionProof.request(ConnectionSecret.read(file), own,
            new ConnectionMessage(ConnectionMessage.REQUEST, 7, 1, 1, 5, 1, own.address(), new byte[0]));
        assertThat(ConnectionProof.isProved(SECRET, request)).isTrue();
        assertThat(ConnectionProof.isProved(OTHER, request)).isFalse();
        for (final String rights : new String[]{"rw-r-----", "rw----r--", "rw--w----", "rw-----w-"})
        {
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(rights));
            assertProblem(file, "can be read or changed by others: chmod 600 " + file);
        }
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        for (final String text : new String[]{"", "00".repeat(31), "00".repeat(33), "0g".repeat(32)})
        {
            Files.writeString(file, text);
            assertProblem(file, "is no key: it takes 64 lower-case hex digits");
        }
        assertProblem(directory.resolve("none"), "cannot be read: there is no such file");
    }

    private static void assertProblem(final Path file, final String problem)
    {
        assertThatThrownBy(() -> ConnectionSecret.read(file)).isInstanceOf(RdmaException.class)
            .hasMessageContaining(problem).hasMessageNotContaining("\n");
    }

    /** Carries what two ends send each other, and changes the first message of each. */
    private static final class Between implements AutoCloseable
    {
        private final ServerSocket server = new ServerSocket(0, 1, HOST);
        private final int target;
        private final UnaryOperator<byte[]> request;
        private final UnaryOperator<byte[]> answer;

        Between(final int target, final UnaryOperator<byte[]> request, final UnaryOperator<byte[]> answer)
            throws IOException
        {
            this.target = target;
            this.request = request;
            this.answer = answer;
        }

        int port()
        {
            return server.getLocalPort();
        }

        void carry(final Runnable onRound, final BooleanSupplier isOver) throws IOException
        {
            try (Socket near = server.accept(); Socket far = new Socket(HOST, target))
            {
                far.setTcpNoDelay(true);
                boolean isRequestOver = false;
                boolean isAnswerOver = false;
                final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
                while (!isOver.getAsBoolean() && System.nanoTime() - endNs < 0)
                {
                    isRequestOver |= pass(near, far, isRequestOver ? UnaryOperator.identity() : request);
                    isAnswerOver |= pass(far, near, isAnswerOver ? UnaryOperator.identity() : answer);
                    onRound.run();
                }
            }
        }

        private static boolean pass(final Socket from, final Socket to, final UnaryOperator<byte[]> change)
            throws IOException
        {
            final InputStream in = from.getInputStream();
            final int available = in.available();
            if (available > 0)
            {
                try
                {
                    to.getOutputStream().write(change.apply(in.readNBytes(available)));
                }
                catch (final SocketException ex)
                {
                    // That end has closed.
                    return true;
                }
            }
            return available > 0;
        }

        @Override
        public void close() throws IOException
        {
            server.close();
        }
    }
}
