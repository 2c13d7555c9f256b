package io.verbena.protocol.bootstrap;

import io.verbena.protocol.access.AccessRules;
import io.verbena.protocol.access.SecretVerifier;
import io.verbena.protocol.access.User;
import io.verbena.protocol.bootstrap.BootstrapException.Reason;
import io.verbena.raas.PeerAddress;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.rdma.verbs.DeviceAddress;

import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** A user at the address of a cluster, and those who would like to be one. */
@Timeout(60)
class UserHandshakeTest
{
    private static final int TIMEOUT_MS = 10_000;
    private static final String SECRET = "open sesame";
    private static final BootstrapAnswer ANSWER =
        new BootstrapAnswer(4, "sim:x", new PeerAddress(new DeviceAddress(1, 2, 3), 9, 0, 0));

    @TempDir
    private Path directory;
    private final User ann = new User("ann", 3, 8, 9, SecretVerifier.of(SECRET), List.of());
    private ClusterToken token;
    private AccessRules rules;
    private BootstrapServer server;

    @BeforeEach
    void open()
    {
        token = ClusterToken.readOrCreate(directory.resolve("token"));
        rules = AccessRules.of(token.clusterSecret(), 9, List.of(ann));
        server = BootstrapServer.open(new ClusterAddress("127.0.0.1", 0), token, ANSWER, () -> rules, (roles) -> null);
    }

    @AfterEach
    void close()
    {
        server.close();
    }

    private BootstrapAnswer ask(final String name, final String secret)
    {
        return BootstrapClient.ask(server.address(), UserLogin.of(name, secret), TIMEOUT_MS);
    }

    @Test
    void shouldGiveAUserTheTicketThatProvesItToTheNodes()
    {
        final UserLogin login = UserLogin.of("ann", SECRET);
        for (int i = 0; i < 2; i++)
        {
            final BootstrapAnswer answer = BootstrapClient.ask(server.address(), login, TIMEOUT_MS);
            assertThat(answer.metaServer()).isEqualTo(ANSWER.metaServer());
            assertThat(answer.fabric()).isEqualTo(ANSWER.fabric());
            assertThat(login.clientTicket(answer).identity()).isEqualTo(ann.identity());
            assertThat(login.clientTicket(answer).secret()).isEqualTo(rules.secretOf(ann.identity()));
            assertThat(login.nodeTicket()).as("a user is no node").isNull();
        }
        assertThat(server.refusals()).isZero();
    }

    @Test
    void shouldGiveTheTokenAnOperatorsTicketAndANodes()
    {
        final BootstrapAnswer answer = BootstrapClient.ask(server.address(), token, TIMEOUT_MS);
        assertThat(answer).isEqualTo(ANSWER);
        assertThat(token.clientTicket(answer)).isEqualTo(
            new AccessTicket(PeerIdentity.OPERATOR, rules.secretOf(PeerIdentity.OPERATOR)));
        assertThat(token.nodeTicket().identity()).isEqualTo(PeerIdentity.UNREGISTERED);
    }

    @Test
    void shouldNotSayWhetherThereIsSuchAUser()
    {
        final String[] refusals = new String[2];
        for (int i = 0; i < 2; i++)
        {
            final String name = 0 == i ? "ann" : "nobody";
            assertThatThrownBy(() -> ask(name, "open barley")).isInstanceOf(BootstrapException.class)
                .satisfies((ex) -> assertThat(((BootstrapException)ex).reason()).isEqualTo(Reason.WRONG_TOKEN));
            try
            {
                ask(name, "open barley");
            }
            catch (final BootstrapException ex)
            {
                refusals[i] = ex.getMessage();
            }
        }
        assertThat(refusals[0]).isEqualTo(refusals[1]).contains("no such user with this secret")
            .doesNotContain("barley");
        assertThat(server.refusals()).isEqualTo(4);
        assertThat(server.lastRefusal()).contains("127.0.0.1").doesNotContain("barley");
    }

    @Test
    void shouldKnowAChangedSecretAtOnce()
    {
        final User changed = new User("ann", 3, 12, 12, SecretVerifier.of("another one"), List.of());
        rules = rules.with(12, List.of(changed));
        assertThatThrownBy(() -> ask("ann", SECRET)).isInstanceOf(BootstrapException.class);
        assertThat(ask("ann", "another one").ticket().identity()).isEqualTo(PeerIdentity.user(3, 12));
        rules = rules.with(13, List.of());
        assertThatThrownBy(() -> ask("ann", "another one")).isInstanceOf(BootstrapException.class);
    }

    /** Each byte of what the server says is changed once by somebody between: nobody is sent elsewhere. */
    @Test
    void shouldNotBeRedirectedBySomebodyBetween() throws IOException
    {
        final int challengeBytes =
            BootstrapDescriptor.HELLO_LENGTH_BYTES + BootstrapDescriptor.CHALLENGE_LENGTH_BYTES;
        final int answerBytes = BootstrapDescriptor.ANSWER_FABRIC_OFFSET + ANSWER.fabric().length();
        final UserLogin login = UserLogin.of("ann", SECRET);
        for (int at = BootstrapDescriptor.NONCE_OFFSET; at < challengeBytes + answerBytes; at += 3)
        {
            if (at >= BootstrapDescriptor.HELLO_LENGTH_BYTES && at < challengeBytes + 8)
            {
                continue; // salt and lengths: other keys, or a message that never ends, which the time limit ends
            }
            final int changed = at;
            try (ServerSocket listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress()))
            {
                final Thread between = Thread.ofVirtual().start(() -> relay(listening, challengeBytes, changed));
                assertThatThrownBy(() -> BootstrapClient.ask(
                    new ClusterAddress("127.0.0.1", listening.getLocalPort()), login, TIMEOUT_MS))
                    .as("byte %d", at).isInstanceOf(BootstrapException.class);
                between.interrupt();
            }
        }
    }

    private void relay(final ServerSocket listening, final int challengeBytes, final int changed)
    {
        try (Socket client = listening.accept(); Socket cluster = new Socket("127.0.0.1", server.address().port()))
        {
            final InputStream in = client.getInputStream();
            cluster.getOutputStream().write(in.readNBytes(BootstrapDescriptor.HELLO_LENGTH_BYTES + "ann".length()));
            client.getOutputStream().write(
                flipped(cluster.getInputStream().readNBytes(challengeBytes), changed));
            cluster.getOutputStream().write(in.readNBytes(BootstrapDescriptor.PROOF_LENGTH_BYTES));
            client.getOutputStream().write(
                flipped(cluster.getInputStream().readAllBytes(), changed - challengeBytes));
        }
        catch (final IOException ignore)
        {
            // One of them has hung up.
        }
    }

    private static byte[] flipped(final byte[] message, final int at)
    {
        if (at >= 0 && at < message.length)
        {
            message[at] ^= 1;
        }
        return message;
    }

    /** Who has recorded a login proves nothing with it. */
    @Test
    void shouldRefuseAProofThatIsReplayed() throws IOException
    {
        final byte[] hello = BootstrapDescriptor.hello(
            BootstrapDescriptor.VERSION, BootstrapDescriptor.FORMATS, new byte[32], "ann");
        final UserLogin login = UserLogin.of("ann", SECRET);
        byte[] recorded = null;
        for (int i = 0; i < 2; i++)
        {
            try (Socket socket = new Socket("127.0.0.1", server.address().port()))
            {
                socket.getOutputStream().write(hello);
                final byte[] challenge =
                    socket.getInputStream().readNBytes(BootstrapDescriptor.HELLO_LENGTH_BYTES);
                final byte[] salt = socket.getInputStream().readNBytes(BootstrapDescriptor.CHALLENGE_LENGTH_BYTES);
                recorded = null == recorded ? login.keys(salt).proof(hello, challenge, salt) : recorded;
                socket.getOutputStream().write(recorded);
                final byte[] answer = socket.getInputStream().readAllBytes();
                assertThat(BootstrapDescriptor.wrap(answer).getShort(0)).isEqualTo(
                    (short)(0 == i ? BootstrapDescriptor.STATUS_OK : BootstrapDescriptor.STATUS_WRONG_TOKEN));
                assertThat(indexOf(answer, secretBytes())).as("the ticket is hidden").isNegative();
            }
        }
    }

    private byte[] secretBytes()
    {
        final byte[] bytes = new byte[16];
        rules.secretOf(ann.identity()).write(new UnsafeBuffer(bytes), 0);
        return bytes;
    }

    private static int indexOf(final byte[] in, final byte[] what)
    {
        for (int i = 0; i + what.length <= in.length; i++)
        {
            if (Arrays.equals(in, i, i + what.length, what, 0, what.length))
            {
                return i;
            }
        }
        return -1;
    }

    @Test
    void shouldHangUpOnANameThatCannotBeOne() throws IOException
    {
        for (final int length : new int[]{-1, 65, Integer.MAX_VALUE, Integer.MIN_VALUE})
        {
            final byte[] hello = BootstrapDescriptor.hello(
                BootstrapDescriptor.VERSION, BootstrapDescriptor.FORMATS, new byte[32], "");
            BootstrapDescriptor.wrap(hello).putInt(BootstrapDescriptor.TEXT_LENGTH_OFFSET, length);
            try (Socket socket = new Socket("127.0.0.1", server.address().port()))
            {
                socket.getOutputStream().write(hello);
                assertThat(socket.getInputStream().readAllBytes()).isEmpty();
            }
        }
        assertThat(server.lastRefusal()).contains("name of a user");
    }

    @Test
    void shouldReadASecretFromAFileThatOthersCannotRead() throws IOException
    {
        final Path file = directory.resolve("secret");
        Files.writeString(file, SECRET + "\nsecond line\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
        assertThatThrownBy(() -> UserLogin.read("ann", file)).hasMessageContaining("chmod 600")
            .hasMessageNotContaining(SECRET);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        assertThat(BootstrapClient.ask(server.address(), UserLogin.read("ann", file), TIMEOUT_MS).ticket()).isNotNull();
        assertThatThrownBy(() -> UserLogin.read("ann", directory.resolve("none")))
            .hasMessageContaining("no such file or folder");
        for (final String wrong : List.of("short", "x".repeat(1_025), "tab\there and more", "umlaut \u00e4\u00e4"))
        {
            assertThatThrownBy(() -> UserLogin.of("ann", wrong)).hasMessageContaining("8 to 1024")
                .hasMessageNotContaining(wrong);
        }
        assertThatThrownBy(() -> UserLogin.of("no name", SECRET)).hasMessageContaining("is not allowed");
        assertThat(UserLogin.of("ann", SECRET).toString()).doesNotContain(SECRET);
    }

    /** A server must not make clients compute for hours, nor for nothing. */
    @Test
    void shouldRefuseAChallengeThatCannotBeOne()
    {
        final UserLogin login = UserLogin.of("ann", SECRET);
        for (final int iterations : new int[]{0, 1, 999, 10_000_001, -1, Integer.MAX_VALUE})
        {
            final byte[] salt = new byte[BootstrapDescriptor.CHALLENGE_LENGTH_BYTES];
            BootstrapDescriptor.wrap(salt).putInt(0, iterations);
            assertThatThrownBy(() -> login.keys(salt)).as("%d", iterations)
                .isInstanceOf(IllegalArgumentException.class);
        }
        assertThatThrownBy(() -> login.keys(new byte[0])).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> login.keys(new byte[21])).isInstanceOf(IllegalArgumentException.class);
    }
}
