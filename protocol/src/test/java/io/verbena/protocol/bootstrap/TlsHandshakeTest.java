package io.verbena.protocol.bootstrap;

import io.verbena.certificates.CertificateAuthority;
import io.verbena.certificates.CertificateAuthority.Use;
import io.verbena.certificates.IssuedCertificate;
import io.verbena.protocol.access.AccessRules;
import io.verbena.protocol.access.User;
import io.verbena.protocol.access.SecretVerifier;
import io.verbena.protocol.bootstrap.BootstrapException.Reason;
import io.verbena.protocol.tls.TlsException;
import io.verbena.protocol.tls.RevokedCertificate;
import io.verbena.protocol.tls.TlsSettings;
import io.verbena.raas.PeerAddress;
import io.verbena.raas.identity.IdentitySecret;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.rdma.verbs.DeviceAddress;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;

import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The handshake over TLS: who is let in, and what those read who are not. */
@Timeout(90)
class TlsHandshakeTest
{
    private static final int TIMEOUT_MS = 20_000;
    private static final BootstrapAnswer ANSWER =
        new BootstrapAnswer(4, "sim", new PeerAddress(new DeviceAddress(1, 2, 3), 9, 0, 0));
    private static final Instant NOW = Instant.now();
    private static final Instant PAST = NOW.minus(Duration.ofDays(9));
    private static final Instant SOON = NOW.plus(Duration.ofDays(9));
    private static final CertificateAuthority AUTHORITY = CertificateAuthority.create("our authority", PAST, SOON);
    private static final CertificateAuthority STRANGER = CertificateAuthority.create("another authority", PAST, SOON);

    /** The same name, and another key. */
    private static final CertificateAuthority IMPOSTOR = CertificateAuthority.create("our authority", PAST, SOON);

    private static final IdentitySecret META_SECRET = IdentitySecret.random(new SplittableRandom(18));

    @TempDir
    static Path folder;
    private final ClusterToken token = ClusterToken.ofHex("0123456789abcdef".repeat(4), "test");
    private AccessRules rules = AccessRules.NONE;
    private BootstrapServer server;
    private volatile int revoked;

    @BeforeAll
    static void makeCertificates() throws IOException
    {
        IssuedCertificate.writeCertificates(file("ca.crt"), List.of(AUTHORITY.certificate()));
        IssuedCertificate.writeCertificates(file("stranger-ca.crt"), List.of(STRANGER.certificate()));
        issue("server", AUTHORITY, List.of("127.0.0.1", "localhost"), Use.SERVER, PAST, SOON);
        issue("elsewhere", AUTHORITY, List.of("10.9.8.7"), Use.SERVER, PAST, SOON);
        issue("expired", AUTHORITY, List.of("127.0.0.1"), Use.SERVER, PAST, NOW.minus(Duration.ofDays(1)));
        issue("early", AUTHORITY, List.of("127.0.0.1"), Use.SERVER, NOW.plus(Duration.ofDays(1)), SOON);
        issue("stranger", STRANGER, List.of("127.0.0.1"), Use.SERVER, PAST, SOON);
        issue("client", AUTHORITY, List.of(), Use.CLIENT, PAST, SOON);
        issue("expired-client", AUTHORITY, List.of(), Use.CLIENT, PAST, NOW.minus(Duration.ofDays(1)));
        issue("false-client", IMPOSTOR, List.of(), Use.CLIENT, PAST, SOON);
        issue("strange-client", STRANGER, List.of(), Use.CLIENT, PAST, SOON);
        issue("meta", AUTHORITY, List.of("127.0.0.1", "verbena:role/meta"), Use.SERVER, PAST, SOON);
        issue("stolen", AUTHORITY, List.of("127.0.0.1", "verbena:role/memory"), Use.SERVER, PAST, SOON);
        issue("compute", AUTHORITY, List.of("verbena:role/compute"), Use.CLIENT, PAST, SOON);
        issue("two", AUTHORITY, List.of("verbena:role/memory", "verbena:role/operator", "host.example",
            "verbena:role/all", "other:role/compute"), Use.CLIENT, PAST, SOON);
        issue("user", AUTHORITY, List.of("verbena:role/client"), Use.CLIENT, PAST, SOON);
    }

    private static void issue(
        final String name, final CertificateAuthority authority, final List<String> hosts, final Use use,
        final Instant from, final Instant until) throws IOException
    {
        authority.issue(name, hosts, use, from, until).write(file(name + ".crt"), file(name + ".key"));
    }

    private static Path file(final String name)
    {
        return folder.resolve(name);
    }

    private static TlsSettings serverSide(final String name, final String authorities)
    {
        return TlsSettings.ofServer(
            file(name + ".crt"), file(name + ".key"), null == authorities ? null : file(authorities));
    }

    private static TlsSettings clientSide(final String authorities, final String name)
    {
        return TlsSettings.ofClient(file(authorities), null == name ? null : file(name + ".crt"),
            null == name ? null : file(name + ".key"));
    }

    private static TlsSettings pinned(final CertificateAuthority authority)
    {
        return TlsSettings.pinned(TlsSettings.fingerprint(authority.certificate()));
    }

    private void open(final TlsSettings tls)
    {
        close();
        server = BootstrapServer.open(
            new ClusterAddress("127.0.0.1", 0), token.with(tls), ANSWER, () -> rules,
            (incarnation) -> revoked == new PeerIdentity(0, incarnation).certificate() ? null :
                META_SECRET.derive("joining", 0, incarnation));
    }

    private static int number(final String name)
    {
        return RevokedCertificate.number(
            RevokedCertificate.fingerprint(TlsSettings.certificate(file(name + ".crt"))));
    }

    @AfterEach
    void close()
    {
        if (null != server)
        {
            server.close();
        }
    }

    private BootstrapAnswer ask(final TlsSettings tls)
    {
        return BootstrapClient.ask(server.address(), token.with(tls), TIMEOUT_MS);
    }

    private void assertRefused(final TlsSettings tls, final String... texts)
    {
        assertThatThrownBy(() -> ask(tls)).isInstanceOfSatisfying(BootstrapException.class, (ex) ->
        {
            assertThat(ex.reason()).as(ex.getMessage()).isEqualTo(Reason.UNTRUSTED);
            assertThat(ex.getMessage()).contains(texts).doesNotContain("\n")
                .startsWith("cannot join the cluster at verbena://127.0.0.1:");
        });
    }

    @Test
    void shouldGiveWhatProvesTheRolesOfTheCertificate()
    {
        open(serverSide("meta", "ca.crt"));
        for (final String name : List.of("compute", "two"))
        {
            final BootstrapAnswer answer = ask(clientSide("ca.crt", name));
            final PeerIdentity identity = PeerIdentity.joining(number(name), "two".equals(name) ? 2 | 16 : 4);
            assertThat(answer.ticket()).isEqualTo(
                new AccessTicket(identity, META_SECRET.derive("joining", 0, identity.incarnation())));
            assertThat(token.joiningTicket(answer)).isEqualTo(answer.ticket());
            assertThat(token.nodeTicket().identity()).isEqualTo(PeerIdentity.UNREGISTERED);
            assertThat(new BootstrapLocator(server.address(), token, answer).joiningTicket())
                .isEqualTo(answer.ticket());
        }
        assertRefused(clientSide("ca.crt", "client"),
            "certificate CN=client names no role: issue one with a URI such as verbena:role/compute");
        assertThat(server.lastRefusal()).contains("CN=client names no role");
        assertThat(server.refusals()).isEqualTo(1);
    }

    /** Whether the server goes by roles or not, and whoever it is: it asks for certificates. */
    @Test
    void shouldRefuseARevokedCertificate()
    {
        for (final String serverName : List.of("meta", "server"))
        {
            open(serverSide(serverName, "ca.crt"));
            final String name = "meta".equals(serverName) ? "compute" : "client";
            revoked = 0;
            ask(clientSide("ca.crt", name));
            revoked = number(name);
            assertRefused(clientSide("ca.crt", name), "certificate CN=" + name + " was revoked: issue another one");
            assertThat(server.lastRefusal()).contains("CN=" + name + " was revoked");
            assertThat(server.refusals()).isEqualTo(1);
        }
    }

    @Test
    void shouldGoByNoRolesWhereTheServerNamesNoneOrAsksForNone()
    {
        open(serverSide("meta", null));
        assertThat(ask(clientSide("ca.crt", "client"))).isEqualTo(ANSWER);
        assertThat(ask(pinned(AUTHORITY))).isEqualTo(ANSWER);
        assertThat(token.joiningTicket(ANSWER)).isEqualTo(token.nodeTicket());
        open(serverSide("server", "ca.crt"));
        assertThat(ask(clientSide("ca.crt", "client"))).isEqualTo(ANSWER);
        assertRefused(clientSide("ca.crt", "compute"),
            "certificate CN=server is not one of a meta server: it has roles none", "verbena:role/meta");
    }

    @Test
    void shouldNotTakeTheCertificateOfANodeForThatOfAMetaServer()
    {
        open(serverSide("stolen", null));
        for (final String name : new String[]{null, "client", "compute"})
        {
            assertRefused(clientSide("ca.crt", name),
                "certificate CN=stolen is not one of a meta server: it has roles memory");
        }
        assertRefused(pinned(AUTHORITY), "not one of a meta server");
    }

    @Test
    void shouldLetInUsersWithTheRoleOfClientsOnly()
    {
        final User ann = new User("ann", 3, 8, 9, SecretVerifier.of("open sesame"), List.of());
        rules = AccessRules.of(token.clusterSecret(), 9, List.of(ann));
        open(serverSide("meta", "ca.crt"));
        final UserLogin login = UserLogin.of("ann", "open sesame");
        for (final String name : List.of("user", "two"))
        {
            final PeerIdentity identity = ann.identity().withLogin(number(name));
            assertThat(BootstrapClient.ask(server.address(), login.with(clientSide("ca.crt", name)), TIMEOUT_MS)
                .ticket()).isEqualTo(new AccessTicket(identity, rules.secretOf(identity)));
        }
        assertThatThrownBy(() -> BootstrapClient.ask(
            server.address(), login.with(clientSide("ca.crt", "compute")), TIMEOUT_MS))
            .isInstanceOf(BootstrapException.class)
            .hasMessageContaining("the certificate has roles compute: a user takes one with verbena:role/client");
        assertThat(server.lastRefusal()).contains("roles compute");
    }

    /** The list of users may have heard of it, and the first look at the certificate not. */
    @Test
    void shouldGiveNoTicketWhenTheCertificateWasRevokedMeanwhile()
    {
        final User ann = new User("ann", 3, 8, 9, SecretVerifier.of("open sesame"), List.of());
        rules = AccessRules.of(token.clusterSecret(), 9, List.of(ann)).revoking(10, List.of(number("user")));
        open(serverSide("meta", "ca.crt"));
        final UserLogin login = UserLogin.of("ann", "open sesame");
        assertThatThrownBy(() -> BootstrapClient.ask(
            server.address(), login.with(clientSide("ca.crt", "user")), TIMEOUT_MS))
            .isInstanceOf(BootstrapException.class);
        assertThat(BootstrapClient.ask(server.address(), login.with(clientSide("ca.crt", "two")), TIMEOUT_MS)
            .ticket()).isNotNull();
    }

    /** Where no certificate is asked for, none is looked at. */
    @Test
    void shouldBindNoTicketToACertificateThatNobodyAsksFor()
    {
        final User ann = new User("ann", 3, 8, 9, SecretVerifier.of("open sesame"), List.of());
        rules = AccessRules.of(token.clusterSecret(), 9, List.of(ann));
        open(serverSide("server", null));
        assertThat(BootstrapClient.ask(server.address(), UserLogin.of("ann", "open sesame")
            .with(clientSide("ca.crt", "client")), TIMEOUT_MS).ticket().identity()).isEqualTo(ann.identity());
    }

    @Test
    void shouldShakeHandsOverTls()
    {
        open(serverSide("server", null));
        assertThat(ask(clientSide("ca.crt", null))).isEqualTo(ANSWER);
        assertThat(ask(clientSide("ca.crt", "client"))).isEqualTo(ANSWER);
        assertThat(ask(pinned(AUTHORITY))).isEqualTo(ANSWER);
        assertThat(server.refusals()).isZero();
        assertThat(server.abandoned()).isZero();
        assertThatThrownBy(() -> BootstrapClient.ask(server.address(),
            ClusterToken.ofHex("00".repeat(32), "test").with(pinned(AUTHORITY)), TIMEOUT_MS))
            .isInstanceOf(BootstrapException.class).hasMessageContaining("another token");
    }

    /** The alert of TLS is sent before the server counts. */
    private void awaitRefusal(final int count, final String... texts)
    {
        while (server.refusals() < count)
        {
            Thread.onSpinWait();
        }
        assertThat(server.refusals()).isEqualTo(count);
        assertThat(server.lastRefusal()).contains(texts);
    }

    @Test
    void shouldLetInWhoHasACertificateOfTheAuthorityOnly()
    {
        open(serverSide("server", "ca.crt"));
        assertThat(ask(clientSide("ca.crt", "client"))).isEqualTo(ANSWER);
        assertThat(ask(TlsSettings.ofPeer(
            pinned(AUTHORITY), null, file("client.crt"), file("client.key")))).isEqualTo(ANSWER);
        for (final String name : new String[]{null, "strange-client"})
        {
            assertRefused(clientSide("ca.crt", name),
                "a certificate of the meta server's authority is needed: give one with --tls-cert and --tls-key");
            awaitRefusal(null == name ? 1 : 2, "127.0.0.1: a certificate of ");
        }
        assertRefused(clientSide("ca.crt", "false-client"), "does not take this certificate", "--tls-cert");
        awaitRefusal(3, "certificate CN=false-client is not of an authority",
            "those in --tls-ca " + file("ca.crt"));
        assertRefused(clientSide("ca.crt", "expired-client"), "does not take this certificate");
        awaitRefusal(4, "certificate CN=expired-client expired (NotAfter: ");
        assertRefused(clientSide("ca.crt", "server"), "does not take this certificate");
        awaitRefusal(5, "certificate CN=server does not fit");
        assertThat(server.abandoned()).isZero();
    }

    @Test
    void shouldTakeNoServerButTheRightOne()
    {
        open(serverSide("stranger", null));
        assertRefused(clientSide("ca.crt", null), "certificate CN=stranger is not of an authority that is trusted",
            "ca.crt", "give the one that issued it, CN=another authority");
        assertRefused(pinned(AUTHORITY), "certificate CN=stranger is not of an authority that is trusted", "sha256:");
        open(serverSide("expired", null));
        assertRefused(clientSide("ca.crt", null), "certificate CN=expired expired (NotAfter: ", "make a new one");
        assertRefused(pinned(AUTHORITY), "certificate CN=expired expired");
        open(serverSide("early", null));
        assertRefused(pinned(AUTHORITY), "certificate CN=early is not valid yet", "compare the clocks");
        open(serverSide("elsewhere", null));
        assertRefused(clientSide("ca.crt", null), "certificate CN=elsewhere does not fit", "127.0.0.1",
            "reach the cluster by a name or address that is in it");
        assertThat(ask(pinned(AUTHORITY))).as("the cluster's own authority issues for it alone").isEqualTo(ANSWER);
        open(serverSide("client", null));
        assertRefused(pinned(AUTHORITY), "certificate CN=client does not fit");
    }

    /** An authority cannot be pinned by sending its certificate before one that it did not issue. */
    @Test
    void shouldNotTakeAChainThatOnlyHasTheAuthorityInIt() throws IOException
    {
        final IssuedCertificate strange = STRANGER.issue("liar", List.of("127.0.0.1"), Use.SERVER, PAST, SOON);
        new IssuedCertificate(List.of(strange.chain().getFirst(), AUTHORITY.certificate()), strange.key())
            .write(file("liar.crt"), file("liar.key"));
        open(serverSide("liar", null));
        assertRefused(pinned(AUTHORITY), "certificate CN=liar is not of an authority that is trusted");
    }

    @Test
    void shouldSpeakNoEarlierVersion() throws Exception
    {
        open(serverSide("server", null));
        final SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, null, null);
        try (SSLSocket old = (SSLSocket)context.getSocketFactory().createSocket("127.0.0.1", server.address().port()))
        {
            old.setEnabledProtocols(new String[]{"TLSv1.2"});
            assertThatThrownBy(old::startHandshake).isInstanceOf(SSLException.class)
                .hasMessageContaining("protocol_version");
        }
        awaitRefusal(1, "127.0.0.1: no TLS: ");
    }

    @Test
    void shouldSayWhenOnlyOneSpeaksTls()
    {
        open(serverSide("server", null));
        assertRefused(null, "the cluster takes TLS only: give its token file as it is now, or its authority by " +
            "--tls-ca");
        assertThat(server.lastRefusal()).isEqualTo("127.0.0.1: it speaks no TLS");
        open(null);
        assertRefused(clientSide("ca.crt", null), "who listens there speaks no TLS", "--tls-ca");
        assertThat(server.lastRefusal()).contains("it speaks TLS, and this meta server does not: give it --tls-cert");
        assertThat(server.refusals()).isEqualTo(1);
        assertThat(server.abandoned()).isZero();
    }

    @Test
    void shouldSayInOneLineWhichFileCannotBeUsed() throws IOException
    {
        assertBadFile("--tls-cert " + file("none.crt") + ": no file", () -> TlsSettings.ofServer(
            file("none.crt"), file("server.key"), null));
        assertBadFile("--tls-key " + file("none.key") + ": no file", () -> TlsSettings.ofServer(
            file("server.crt"), file("none.key"), null));
        assertBadFile("--tls-ca " + file("none.crt") + ": no file", () -> clientSide("none.crt", null));
        assertBadFile("is not the key of --tls-cert", () -> TlsSettings.ofServer(
            file("server.crt"), file("client.key"), null));
        assertBadFile("both --tls-cert and --tls-key", () -> TlsSettings.ofServer(file("server.crt"), null, null));
        assertBadFile("a certificate needs its key", () ->
            TlsSettings.ofClient(file("ca.crt"), file("client.crt"), null));
        assertBadFile("give --tls-ca as well", () ->
            TlsSettings.ofPeer(null, null, file("client.crt"), file("client.key")));
        assertThat(TlsSettings.ofPeer(null, null, null, null)).isNull();
        final Path open = Files.copy(file("server.key"), file("open.key"));
        for (final String mode : List.of("rw-r-----", "rw----r--", "rw--w----", "rw-----w-"))
        {
            Files.setPosixFilePermissions(open, PosixFilePermissions.fromString(mode));
            assertBadFile("others can read this key: chmod 600 " + open, () -> TlsSettings.ofServer(
                file("server.crt"), open, null));
        }
    }

    private static void assertBadFile(final String text, final ThrowingCallable call)
    {
        assertThatThrownBy(call).isInstanceOf(TlsException.class).hasMessageContaining(text)
            .extracting(Throwable::getMessage).asString().doesNotContain("\n");
    }

    @Test
    void shouldReadThePinnedAuthorityFromTheTokenFile() throws IOException
    {
        open(serverSide("server", null));
        final Path file = folder.resolve("token");
        final String fingerprint = HexFormat.of().formatHex(TlsSettings.authority(file("ca.crt")));
        writeToken(file, "tls-authority sha256:" + fingerprint + "\n");
        assertThat(BootstrapClient.ask(server.address(), ClusterToken.read(file), TIMEOUT_MS)).isEqualTo(ANSWER);
        final Path made = folder.resolve("made-token");
        ClusterToken.name(made, TlsSettings.authority(file("ca.crt")));
        ClusterToken.name(made, TlsSettings.authority(file("ca.crt")));
        assertThat(Files.readString(made)).matches("[0-9a-f]{64}\ntls-authority sha256:" + fingerprint + "\n");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(made))).isEqualTo("rw-------");
        assertThatThrownBy(() -> ClusterToken.name(made, new byte[32])).isInstanceOf(BootstrapException.class)
            .hasMessageContaining("names another authority");
        final Path present = folder.resolve("present-token");
        final ClusterToken before = ClusterToken.readOrCreate(present);
        ClusterToken.name(present, TlsSettings.authority(file("ca.crt")));
        assertThat(ClusterToken.read(present).proof("x")).isEqualTo(before.proof("x"));
        assertThat(ClusterToken.readOrCreate(present).tls()).isNotNull();
        for (final String line : List.of("tls-authority sha256:" + fingerprint.substring(2), "tls-authority sha256:xy",
            fingerprint, "tls-authority sha256:" + fingerprint + "\nmore"))
        {
            writeToken(file, line);
            assertThatThrownBy(() -> ClusterToken.read(file)).isInstanceOf(BootstrapException.class)
                .hasMessageContaining("second line of the token in " + file)
                .extracting(Throwable::getMessage).asString().doesNotContain("\n");
        }
    }

    private static void writeToken(final Path file, final String secondLine) throws IOException
    {
        Files.writeString(file, "0123456789abcdef".repeat(4) + "\n" + secondLine);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    }

    /** One byte at a time, for ever: a deadline of the socket would begin again with each. */
    @Test
    void shouldGiveUpOnAServerWhoseHandshakeNeverEnds() throws IOException
    {
        try (ServerSocket slow = new ServerSocket(0, 1, InetAddress.getLoopbackAddress()))
        {
            Thread.ofVirtual().start(() ->
            {
                try (Socket client = slow.accept())
                {
                    client.getOutputStream().write(new byte[]{0x16, 3, 3, 0x20, 0});
                    while (true)
                    {
                        client.getOutputStream().write(2);
                        Thread.sleep(10);
                    }
                }
                catch (final IOException | InterruptedException ignore)
                {
                    // The client has given up.
                }
            });
            assertThatThrownBy(() -> BootstrapClient.ask(
                new ClusterAddress("127.0.0.1", slow.getLocalPort()), token.with(pinned(AUTHORITY)), 300))
                .isInstanceOf(BootstrapException.class).hasMessageContaining("no answer within 300 ms");
        }
    }

    /** Some begin TLS and stop, some say nothing: those that come after them are served at once. */
    @Test
    void shouldServeOthersWhileThousandsDoNotEndTheirHandshake() throws Exception
    {
        open(serverSide("server", null));
        final List<Socket> halfOpen = new ArrayList<>();
        final AtomicInteger served = new AtomicInteger();
        try
        {
            for (int i = 0; i < BootstrapServer.MAX_PENDING + 200; i++)
            {
                final Socket socket = new Socket("127.0.0.1", server.address().port());
                halfOpen.add(socket);
                socket.getOutputStream().write(new byte[]{0x16, 3, 1, 1, 0, 1, 0}, 0, i % 7);
                if (0 == i % 100)
                {
                    served.addAndGet(BootstrapClient.ask(
                        server.address(), token.with(pinned(AUTHORITY)), TIMEOUT_MS).equals(ANSWER) ? 1 : 0);
                }
            }
            assertThat(ask(pinned(AUTHORITY))).isEqualTo(ANSWER);
        }
        finally
        {
            for (final Socket socket : halfOpen)
            {
                socket.close();
            }
        }
        assertThat(served.get()).isEqualTo(13);
    }

    @Test
    void shouldLiveThroughStrangersThatBeginTls() throws IOException
    {
        open(serverSide("server", null));
        final Random random = new Random(7);
        for (int i = 0; i < 50; i++)
        {
            try (Socket socket = new Socket("127.0.0.1", server.address().port()))
            {
                final byte[] bytes = new byte[5 + random.nextInt(200)];
                random.nextBytes(bytes);
                System.arraycopy(new byte[]{0x16, 3, 1, 0, (byte)(bytes.length - 5)}, 0, bytes, 0, 5);
                socket.getOutputStream().write(bytes);
                socket.shutdownOutput();
                assertThat(new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1))
                    .doesNotContain("sim");
            }
        }
        assertThat(ask(pinned(AUTHORITY))).isEqualTo(ANSWER);
    }
}
