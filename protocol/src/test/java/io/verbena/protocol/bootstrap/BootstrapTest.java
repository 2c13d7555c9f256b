package io.verbena.protocol.bootstrap;

import io.verbena.protocol.bootstrap.BootstrapException.Reason;
import io.verbena.protocol.access.AccessRules;
import io.verbena.raas.PeerAddress;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.test.FormatPage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Timeout(60)
class BootstrapTest
{
    private static final int TIMEOUT_MS = 10_000;
    private static final BootstrapAnswer ANSWER =
        new BootstrapAnswer(4, "soft:/dev/shm/ä", new PeerAddress(new DeviceAddress(1, 2, 3), 65_535, 0, 0));
    private static final String HEX = "0123456789abcdef".repeat(4);

    @TempDir
    Path directory;
    private ClusterToken token;
    private BootstrapServer server;

    @BeforeEach
    void open()
    {
        token = ClusterToken.readOrCreate(directory.resolve("token"));
        server = BootstrapServer.open(new ClusterAddress("127.0.0.1", 0), token, ANSWER, () -> AccessRules.NONE,
            (roles) -> null);
    }

    @AfterEach
    void close()
    {
        server.close();
    }

    private static void assertRefused(final Reason reason, final String text, final Runnable asking)
    {
        assertThatThrownBy(asking::run).isInstanceOfSatisfying(BootstrapException.class, (ex) ->
        {
            assertThat(ex.reason()).isEqualTo(reason);
            assertThat(ex.getMessage()).contains(text).doesNotContain("\n");
        });
    }

    @Test
    void shouldSayHowLongItWaitedForAnAnswer() throws IOException
    {
        final ClusterToken token = ClusterToken.readOrCreate(directory.resolve("silent-token"));
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress()))
        {
            final ClusterAddress address = ClusterAddress.parse("verbena://127.0.0.1:" + silent.getLocalPort());
            assertThatThrownBy(() -> BootstrapClient.ask(address, token, 20)).isInstanceOf(BootstrapException.class)
                .hasMessage("cannot join the cluster at " + address + ": no answer within 20 ms; is the cluster up?");
        }
        assertThatThrownBy(() -> ClusterToken.read(directory.resolve("none"))).isInstanceOf(BootstrapException.class)
            .hasMessageContaining("/none (no such file or folder)");
    }

    @Test
    void shouldTellWhoHasTheTokenHowToReachTheCluster()
    {
        assertThat(server.address().port()).isPositive();
        assertThat(BootstrapClient.ask(server.address(), token, TIMEOUT_MS)).isEqualTo(ANSWER);
        assertThat(BootstrapClient.ask(server.address(), ClusterToken.read(directory.resolve("token")), TIMEOUT_MS))
            .isEqualTo(ANSWER);
        assertThat(server.refusals()).isZero();
    }

    @Test
    void shouldRefuseAnotherTokenAndAServerWithoutIt()
    {
        final ClusterToken other = ClusterToken.ofHex(HEX, "test");
        assertRefused(Reason.WRONG_TOKEN, "another token", () ->
            BootstrapClient.ask(server.address(), other, TIMEOUT_MS));
        assertThat(server.refusals()).isEqualTo(1);
        final byte[] said = new byte[48];
        assertThat(token.isProof(new byte[0], "verbena client", said, said)).isFalse();
        assertThat(token.isProof(token.proof("verbena server", said, said), "verbena client", said, said))
            .as("the proof of one side is not that of the other").isFalse();
    }

    /** Stands between a client and the server, and changes one byte of what passes, in either direction. */
    private final class ManInTheMiddle implements AutoCloseable
    {
        private final ServerSocket listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        private final AtomicInteger passed = new AtomicInteger();
        private final int position;

        ManInTheMiddle(final boolean isFromServer, final int position) throws IOException
        {
            this.position = position;
            Thread.ofVirtual().start(() ->
            {
                try (Socket client = listening.accept();
                    Socket real = new Socket("127.0.0.1", server.address().port()))
                {
                    listening.close(); // who comes again finds nobody, at once
                    client.setTcpNoDelay(true);
                    real.setTcpNoDelay(true);
                    final Thread other = Thread.ofVirtual().start(() -> pass(client, real, !isFromServer));
                    pass(real, client, isFromServer);
                    other.join();
                }
                catch (final IOException | InterruptedException ignore)
                {
                    // One of the two has hung up.
                }
            });
        }

        ClusterAddress address()
        {
            return new ClusterAddress("127.0.0.1", listening.getLocalPort());
        }

        private void pass(final Socket from, final Socket to, final boolean isChanged)
        {
            try
            {
                for (int next = from.getInputStream().read(); next >= 0; next = from.getInputStream().read())
                {
                    to.getOutputStream().write(isChanged && passed.getAndIncrement() == position ? next ^ 1 : next);
                }
                to.shutdownOutput();
            }
            catch (final IOException ignore)
            {
                // The other side has hung up.
            }
        }

        @Override
        public void close() throws IOException
        {
            listening.close();
        }
    }

    @Test
    void shouldNotTakeAnythingThatWasChangedOnTheWay() throws IOException
    {
        final int challengeBytes = BootstrapDescriptor.HELLO_LENGTH_BYTES;
        final int answerBytes = BootstrapDescriptor.answer(ANSWER).length;
        for (int position = 0; position < challengeBytes + answerBytes; position++)
        {
            assertNotTaken(true, position);
        }
        for (int position = 0; position < challengeBytes + BootstrapDescriptor.PROOF_LENGTH_BYTES; position++)
        {
            assertNotTaken(false, position);
        }
        try (ManInTheMiddle honest = new ManInTheMiddle(true, -1))
        {
            assertThat(BootstrapClient.ask(honest.address(), token, TIMEOUT_MS)).isEqualTo(ANSWER);
        }
    }

    /** Least time for what makes a message longer than it is, so that the rest is waited for. */
    private void assertNotTaken(final boolean isFromServer, final int position) throws IOException
    {
        try (ManInTheMiddle between = new ManInTheMiddle(isFromServer, position))
        {
            assertThatThrownBy(() -> BootstrapClient.ask(between.address(), token, 500))
                .as("byte %d from %s", position, isFromServer ? "server" : "client")
                .isInstanceOf(BootstrapException.class);
        }
    }

    @Test
    void shouldRefuseOtherVersionsByName()
    {
        assertRefused(Reason.VERSION_MISMATCH, "version 9 with formats " + BootstrapDescriptor.FORMATS, () ->
            BootstrapClient.ask(server.address(), token, TIMEOUT_MS, 9, BootstrapDescriptor.FORMATS));
        assertRefused(Reason.VERSION_MISMATCH, "version 4 with formats 1: update this program", () ->
            BootstrapClient.ask(server.address(), token, TIMEOUT_MS, BootstrapDescriptor.VERSION, 1));
    }

    @Test
    void shouldSayThatAPortIsBusyOrThatNobodyIsThere()
    {
        final ClusterAddress address = server.address();
        assertRefused(Reason.UNREACHABLE, "cannot listen at " + address + ": ", () ->
            BootstrapServer.open(address, token, ANSWER, () -> AccessRules.NONE, (roles) -> null));
        server.close();
        assertRefused(Reason.UNREACHABLE, "is the cluster up?", () ->
            BootstrapClient.ask(address, token, TIMEOUT_MS));
        assertRefused(Reason.UNREACHABLE, "the host is not known", () ->
            BootstrapClient.ask(new ClusterAddress("no-such-host.invalid", 1), token, TIMEOUT_MS));
    }

    @Test
    void shouldAnswerNobodyOnceClosed()
    {
        for (int i = 0; i < 200; i++)
        {
            final BootstrapServer closing =
                BootstrapServer.open(new ClusterAddress("127.0.0.1", 0), token, ANSWER, () -> AccessRules.NONE,
                    (roles) -> null);
            closing.close();
            assertRefused(Reason.UNREACHABLE, "is the cluster up?", () ->
                BootstrapClient.ask(closing.address(), token, TIMEOUT_MS));
        }
    }

    @Test
    void shouldNotWaitForEverForAServerThatSaysNothingOrNonsense() throws IOException
    {
        try (ServerSocket silent = new ServerSocket(0))
        {
            final ClusterAddress address = new ClusterAddress("127.0.0.1", silent.getLocalPort());
            assertRefused(Reason.UNREACHABLE, "is the cluster up?", () -> BootstrapClient.ask(address, token, 50));
            Thread.ofVirtual().start(() ->
            {
                try (Socket socket = silent.accept())
                {
                    socket.getOutputStream().write("HTTP/1.1 400 ".repeat(9).getBytes(StandardCharsets.US_ASCII));
                    socket.getInputStream().readAllBytes();
                }
                catch (final IOException ignore)
                {
                    // The client hung up.
                }
            });
            // The first connection, given up above, may still be in the backlog: whoever is accepted is told nonsense.
            assertThatThrownBy(() -> BootstrapClient.ask(address, token, 500)).isInstanceOf(BootstrapException.class);
        }
    }

    @Test
    void shouldWaitForAWholeMessageNoLongerThanForOneByte() throws Exception
    {
        // One byte at a time, each well within the time for a message, but no message within its time.
        try (Socket slow = new Socket("127.0.0.1", server.address().port()))
        {
            final byte[] hello = BootstrapDescriptor.hello(
                BootstrapDescriptor.VERSION, BootstrapDescriptor.FORMATS, new byte[32], "");
            assertThatThrownBy(() -> send(slow, hello, 200)).as("hung up on").isInstanceOf(IOException.class);
        }
        try (ServerSocket listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress()))
        {
            final Thread peer = Thread.ofVirtual().start(() ->
            {
                try (Socket socket = listening.accept())
                {
                    send(socket, new byte[1_000], 50);
                }
                catch (final IOException ignore)
                {
                    // The client hung up.
                }
            });
            final ClusterAddress address = new ClusterAddress("127.0.0.1", listening.getLocalPort());
            assertRefused(Reason.UNREACHABLE, "no answer within 500 ms", () ->
                BootstrapClient.ask(address, token, 500));
            peer.join();
        }
    }

    private static void send(final Socket socket, final byte[] bytes, final int pauseMs) throws IOException
    {
        for (final byte next : bytes)
        {
            socket.getOutputStream().write(next);
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(pauseMs));
        }
    }

    @Test
    void shouldNotCountAPeerThatHangsUpOrFallsSilentAsRefused() throws IOException
    {
        final byte[] hello = BootstrapDescriptor.hello(
            BootstrapDescriptor.VERSION, BootstrapDescriptor.FORMATS, new byte[32], "");
        new Socket("127.0.0.1", server.address().port()).close(); // somebody tries whether the port is open
        awaitAbandoned(1);
        try (Socket dying = new Socket("127.0.0.1", server.address().port()))
        {
            dying.getOutputStream().write(hello);
            dying.getInputStream().readNBytes(BootstrapDescriptor.HELLO_LENGTH_BYTES);
        }
        awaitAbandoned(2);
        try (Socket dying = new Socket("127.0.0.1", server.address().port()))
        {
            dying.getOutputStream().write(hello);
            dying.getInputStream().readNBytes(BootstrapDescriptor.HELLO_LENGTH_BYTES);
            dying.getOutputStream().write(7);
            dying.setSoLinger(true, 0); // ends with a reset, as that of a process that was killed may
        }
        awaitAbandoned(3);
        try (Socket silent = new Socket("127.0.0.1", server.address().port());
            Socket slow = new Socket("127.0.0.1", server.address().port()))
        {
            slow.getOutputStream().write(hello);
            slow.getInputStream().readNBytes(BootstrapDescriptor.HELLO_LENGTH_BYTES);
            assertThat(silent.getInputStream().read()).isNegative();
            assertThat(slow.getInputStream().read()).isNegative();
        }
        awaitAbandoned(5);
        assertThat(server.refusals()).isZero();
        assertThat(server.lastRefusal()).isEmpty();
    }

    private void awaitAbandoned(final long count)
    {
        while (server.abandoned() < count)
        {
            assertThat(server.refusals()).isZero();
            Thread.onSpinWait();
        }
        assertThat(server.abandoned()).isEqualTo(count);
    }

    @Test
    void shouldCountEachRefusalOnceWithAddressAndReason() throws IOException
    {
        try (Socket stranger = new Socket("127.0.0.1", server.address().port()))
        {
            stranger.getOutputStream().write(new byte[BootstrapDescriptor.HELLO_LENGTH_BYTES]);
            assertThat(stranger.getInputStream().read()).isNegative();
            assertThat(server.lastRefusal())
                .isEqualTo("127.0.0.1: what it sends is not the hello of a Verbena process");
        }
        try (Socket curt = new Socket("127.0.0.1", server.address().port()))
        {
            curt.getOutputStream().write("GET".getBytes(StandardCharsets.US_ASCII));
            curt.shutdownOutput();
            assertThat(curt.getInputStream().read()).isNegative();
        }
        assertThatThrownBy(() -> BootstrapClient.ask(
            server.address(), token, TIMEOUT_MS, 9, BootstrapDescriptor.FORMATS))
            .isInstanceOf(BootstrapException.class);
        assertThat(server.lastRefusal()).startsWith("127.0.0.1: ").contains("version 9");
        assertThatThrownBy(() -> BootstrapClient.ask(server.address(), ClusterToken.ofHex(HEX, "test"), TIMEOUT_MS))
            .isInstanceOf(BootstrapException.class);
        assertThat(server.lastRefusal()).isEqualTo("127.0.0.1: it has another token");
        assertThat(server.refusals()).isEqualTo(4);
        assertThat(server.abandoned()).isZero();
    }

    @Test
    void shouldGiveEachMessageATimeOfItsOwn() throws IOException
    {
        // The proof comes when the time of the hello is over.
        try (Socket socket = new Socket("127.0.0.1", server.address().port()))
        {
            final byte[] hello = BootstrapDescriptor.hello(
                BootstrapDescriptor.VERSION, BootstrapDescriptor.FORMATS, new byte[32], "");
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1_200));
            socket.getOutputStream().write(hello);
            final byte[] challenge = socket.getInputStream().readNBytes(BootstrapDescriptor.HELLO_LENGTH_BYTES);
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1_200));
            socket.getOutputStream().write(token.proof(BootstrapClient.CLIENT_SIDE, hello, challenge));
            assertThat(socket.getInputStream().readNBytes(BootstrapDescriptor.ANSWER_FABRIC_OFFSET))
                .hasSize(BootstrapDescriptor.ANSWER_FABRIC_OFFSET);
        }
    }

    @Test
    void shouldNotSpinWhileNoConnectionCanBeAccepted() throws IOException
    {
        final AtomicInteger failures = new AtomicInteger();
        final ServerSocket outOfDescriptors = new ServerSocket()
        {
            @Override
            public Socket accept() throws IOException
            {
                if (failures.incrementAndGet() <= 5)
                {
                    throw new SocketException("Too many open files");
                }
                return super.accept();
            }
        };
        final long startNs = System.nanoTime();
        try (BootstrapServer paused =
            BootstrapServer.open(
                outOfDescriptors, new ClusterAddress("127.0.0.1", 0), token, () -> ANSWER, () -> AccessRules.NONE,
                    (roles) -> null))
        {
            assertThat(BootstrapClient.ask(paused.address(), token, TIMEOUT_MS)).isEqualTo(ANSWER);
            assertThat(paused.refusals()).isEqualTo(5);
            assertThat(System.nanoTime() - startNs).as("pauses in between").isGreaterThan(400_000_000L);
        }
    }

    @Test
    void shouldListenAtItsAddressOnly()
    {
        assertThatThrownBy(() -> new Socket("127.0.0.2", server.address().port()).close())
            .as("127.0.0.2 reaches whoever listens at every interface").isInstanceOf(ConnectException.class);
    }

    @Test
    void shouldCreateOneWholeTokenForAllWhoAskAtOnce() throws Exception
    {
        for (int round = 0; round < 200; round++)
        {
            final Path file = Files.createDirectory(directory.resolve("round-" + round)).resolve("token");
            final CyclicBarrier start = new CyclicBarrier(4);
            final Set<String> proofs = ConcurrentHashMap.newKeySet();
            final List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < start.getParties(); i++)
            {
                threads.add(Thread.ofPlatform().start(() ->
                {
                    try
                    {
                        start.await();
                        final ClusterToken made = ClusterToken.readOrCreate(file);
                        proofs.add(HexFormat.of().formatHex(made.proof("x", new byte[32], new byte[32])));
                    }
                    catch (final Exception ex)
                    {
                        proofs.add(ex.toString());
                    }
                }));
            }
            for (final Thread thread : threads)
            {
                thread.join();
            }
            assertThat(proofs).as("round %d", round).hasSize(1).allMatch((proof) -> proof.matches("[0-9a-f]{64}"));
            try (Stream<Path> files = Files.list(file.getParent()))
            {
                assertThat(files).containsExactly(file);
            }
        }
    }

    @Test
    void shouldLiveThroughStrangers() throws IOException
    {
        final Random random = new Random(7);
        for (int i = 0; i < 50; i++)
        {
            try (Socket socket = new Socket("127.0.0.1", server.address().port()))
            {
                final byte[] bytes = new byte[random.nextInt(200)];
                random.nextBytes(bytes);
                socket.getOutputStream().write(bytes);
                socket.shutdownOutput();
                assertThat(socket.getInputStream().readAllBytes()).as("nothing is told").isEmpty();
            }
        }
        assertThat(BootstrapClient.ask(server.address(), token, TIMEOUT_MS)).isEqualTo(ANSWER);
    }

    @Test
    void shouldKeepTheTokenFromOthers() throws IOException
    {
        final Path file = directory.resolve("token");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file))).isEqualTo("rw-------");
        assertThat(token.toString()).doesNotContain(Files.readString(file).strip());
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
        assertRefused(Reason.WRONG_TOKEN, "can be read by others: chmod 600", () -> ClusterToken.read(file));
        assertRefused(Reason.WRONG_TOKEN, "cannot be read", () -> ClusterToken.read(directory.resolve("none")));
        assertRefused(Reason.WRONG_TOKEN, "cannot be written", () ->
            ClusterToken.readOrCreate(directory.resolve("no/folder")));
        assertRefused(Reason.WRONG_TOKEN, "64 hex digits", () -> ClusterToken.ofHex("abcd", "test"));
        assertRefused(Reason.WRONG_TOKEN, "64 hex digits", () -> ClusterToken.ofHex("no hex at all", "test"));
    }

    @ParameterizedTest
    @CsvSource({"verbena://h:1,h,1", "h,h,7373", "10.0.0.1:65535,10.0.0.1,65535", "verbena://[::1]:7/,[::1],7"})
    void shouldReadAddresses(final String text, final String host, final int port)
    {
        assertThat(ClusterAddress.parse(text)).isEqualTo(new ClusterAddress(host, port));
    }

    @Test
    void shouldReadTheAddressesOfAGroup()
    {
        final ClusterAddress group = ClusterAddress.parse("verbena://a:1,b,[::1]:3");
        assertThat(group.all()).containsExactly(
            new ClusterAddress("a", 1), new ClusterAddress("b", 7373), new ClusterAddress("[::1]", 3));
        assertThat(group).hasToString("verbena://a:1,b:7373,[::1]:3");
        assertThat(ClusterAddress.parse(group.toString())).isEqualTo(group);
        assertThat(ClusterAddress.parse("a:1").all()).containsExactly(new ClusterAddress("a", 1));
        assertRefused(Reason.BAD_ADDRESS, "not the address of a cluster: ''", () -> ClusterAddress.parse("a:1,"));
        assertRefused(Reason.BAD_ADDRESS, "'b c'", () -> ClusterAddress.parse("a:1,b c"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "http://h:1", "verbena://", "verbena://h:70000", "verbena://h/x", "a b", "u@h"})
    void shouldRefuseWhatIsNoAddress(final String text)
    {
        assertRefused(Reason.BAD_ADDRESS, "not the address of a cluster: '" + text, () -> ClusterAddress.parse(text));
    }

    @Test
    void shouldAgreeWithItsPage() throws IOException
    {
        FormatPage.of("bootstrap.md").shouldAgreeWith(BootstrapDescriptor.class);
    }

    @Test
    void shouldWriteTheseBytes()
    {
        final byte[] nonce = new byte[32];
        Arrays.fill(nonce, (byte)0xAA);
        final String nonceHex = "aa".repeat(32);
        assertThat(HexFormat.of().formatHex(BootstrapDescriptor.hello(1, 2, nonce, "")))
            .isEqualTo("5652424e" + "0100" + "0000" + "02000000" + "00000000" + nonceHex);
        assertThat(HexFormat.of().formatHex(BootstrapDescriptor.challenge(1, "no", nonce)))
            .isEqualTo("5652424e" + "0400" + "0100" + "0c000000" + "02000000" + nonceHex + "6e6f");
        assertThat(HexFormat.of().formatHex(BootstrapDescriptor.refusal(2, "no")))
            .isEqualTo("0200" + "0000" + "02000000" + "6e6f");
        assertThat(HexFormat.of().formatHex(BootstrapDescriptor.answer(
            new BootstrapAnswer(4, "sim", ANSWER.metaServer()).withMembers(ClusterAddress.parse("a:1,b:2").all()))))
            .isEqualTo(
            "0000" + "0000" + "6a000000" + "00".repeat(32) + "0100000000000000" + "0200000000000000" +
            "0300000000000000" +
            "0400000000000000" + "ffff0300" + "00".repeat(28) + "73696d" + "613a312c623a32");
        assertThat(HexFormat.of().formatHex(ClusterToken.ofHex(HEX, "test").proof("verbena client", nonce, nonce)))
            .isEqualTo("fc46b44a8236b5a912ad8586190527e1c3a5a541de4414aaae574277ef083ab8");
    }
}
