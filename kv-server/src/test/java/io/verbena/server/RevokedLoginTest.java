package io.verbena.server;

import io.verbena.certificates.CertificateAuthority;
import io.verbena.certificates.CertificateAuthority.Use;
import io.verbena.certificates.IssuedCertificate;
import io.verbena.client.KvClient;
import io.verbena.client.KvClientOptions;
import io.verbena.client.KvException;
import io.verbena.client.KvPermissionDeniedException;
import io.verbena.client.KvTable;
import io.verbena.client.TableOptions;
import io.verbena.client.routing.RemoteKvClient;
import io.verbena.compute.ComputeNodeConfiguration;
import io.verbena.meta.MetaServerConfiguration;
import io.verbena.protocol.access.Grant;
import io.verbena.protocol.access.SecretVerifier;
import io.verbena.protocol.access.TableRight;
import io.verbena.protocol.access.User;
import io.verbena.protocol.bootstrap.BootstrapClient;
import io.verbena.protocol.bootstrap.BootstrapException;
import io.verbena.protocol.bootstrap.BootstrapLocator;
import io.verbena.protocol.bootstrap.BootstrapSecret;
import io.verbena.protocol.bootstrap.ClusterAddress;
import io.verbena.protocol.bootstrap.ClusterToken;
import io.verbena.protocol.bootstrap.UserLogin;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.control.MetaClient;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.tls.RevokedCertificate;
import io.verbena.protocol.tls.TlsSettings;
import io.verbena.raas.BatchListener;
import io.verbena.raas.RaasConfiguration;
import io.verbena.raas.RaasContext;
import io.verbena.raas.VirtualQp;
import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Fabric;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The session of a user ends when the certificate is revoked with which it has logged in, and no other one does. */
@Timeout(120)
class RevokedLoginTest
{
    private static final long STEP_NS = TimeUnit.SECONDS.toNanos(20);
    private static final long LEASE_NS = TimeUnit.SECONDS.toNanos(5);
    private static final Instant NOW = Instant.now();
    private static final CertificateAuthority AUTHORITY = CertificateAuthority.create(
        "authority", NOW.minus(Duration.ofDays(1)), NOW.plus(Duration.ofDays(1)));
    private static final String SECRET = "open sesame";
    private static final byte[] KEY = "key".getBytes(StandardCharsets.UTF_8);

    @TempDir
    private Path folder;
    private final List<RoleRunner> runners = new ArrayList<>();
    private Fabric fabric;
    private ClusterToken token;
    private MetaServerRole meta;
    private RoleRunner metaRunner;

    @BeforeEach
    void open() throws IOException
    {
        IssuedCertificate.writeCertificates(folder.resolve("ca.crt"), List.of(AUTHORITY.certificate()));
        issue("meta", Use.SERVER, "127.0.0.1");
        for (final String name : List.of("node", "phone", "laptop"))
        {
            issue(name, Use.CLIENT);
        }
        fabric = Fabrics.open("soft:" + folder.resolve("fabric"));
        token = ClusterToken.readOrCreate(folder.resolve("token"));
        openMeta(0, true);
        start(MemoryNodeRole.open(fabric, locator(token, "node"), 32 << 20));
        start(ComputeNodeRole.open(fabric, locator(token, "node"), null, new ComputeNodeConfiguration(),
            ComputeNodeRole.DEFAULT_MAX_CLIENTS, null));
        for (final String name : List.of("ann", "bob"))
        {
            assertThat(call((client) -> client.putUser(new User(name, 0, 0, 0, SecretVerifier.of(SECRET), List.of(
                new Grant(Grant.ALL_TABLES, TableRight.ALL, new byte[0]))), STEP_NS))).isEqualTo(ControlStatus.OK);
        }
        try (KvClient operator = client(token, "node"))
        {
            operator.createTable("orders", new TableOptions(100));
            operator.table("orders").put(KEY, KEY);
        }
    }

    private void openMeta(final int port, final boolean isFresh)
    {
        meta = MetaServerRole.open(fabric, "soft:" + folder.resolve("fabric"), new ClusterAddress("127.0.0.1", port),
            token.with(TlsSettings.ofServer(
                folder.resolve("meta.crt"), folder.resolve("meta.key"), folder.resolve("ca.crt"))),
            folder.resolve("data"), isFresh, new MetaServerConfiguration().leaseNs(LEASE_NS));
        metaRunner = start(meta);
    }

    private void issue(final String name, final Use use, final String... names) throws IOException
    {
        AUTHORITY.issue(name, List.of(names), use, NOW.minus(Duration.ofDays(1)), NOW.plus(Duration.ofDays(1)))
            .write(folder.resolve(name + ".crt"), folder.resolve(name + ".key"));
    }

    private RoleRunner start(final Role role)
    {
        final RoleRunner runner = RoleRunner.start(role, false);
        runners.add(runner);
        assertThat(runner.awaitReady(STEP_NS)).as(runner.failure()).isTrue();
        return runner;
    }

    @AfterEach
    void close()
    {
        runners.reversed().forEach((runner) ->
        {
            runner.stop();
            assertThat(runner.awaitEnd(STEP_NS)).isTrue();
        });
        fabric.close();
    }

    private BootstrapLocator locator(final BootstrapSecret secret, final String certificate)
    {
        final BootstrapSecret secured = secret.with(TlsSettings.ofClient(folder.resolve("ca.crt"),
            folder.resolve(certificate + ".crt"), folder.resolve(certificate + ".key")));
        return new BootstrapLocator(meta.address(), secured,
            BootstrapClient.ask(meta.address(), secured, (int)TimeUnit.NANOSECONDS.toMillis(STEP_NS)));
    }

    private KvClient client(final BootstrapSecret secret, final String certificate)
    {
        final BootstrapLocator locator = locator(secret, certificate);
        final Device device = fabric.openDevice("client");
        return RemoteKvClient.open(device, locator, new KvClientOptions(), device::close);
    }

    private KvClient user(final String name, final String certificate)
    {
        return client(UserLogin.of(name, SECRET), certificate);
    }

    private <T> ControlStatus call(final Function<MetaClient, ControlCall<T>> caller)
    {
        try (Device device = fabric.openDevice("operator");
            RaasContext raas = RaasContext.open(device, new RaasConfiguration()))
        {
            token.nodeTicket().use(raas);
            final VirtualQp vqp = raas.connect(locator(token, "node").address(), BatchListener.CALLS_ONLY, STEP_NS);
            while (VirtualQp.State.READY != vqp.state())
            {
                raas.poll();
            }
            final ControlCall<T> call = caller.apply(new MetaClient(raas, vqp));
            while (!call.isDone())
            {
                raas.poll();
            }
            return call.status();
        }
    }

    private void revoke(final String certificate, final boolean isRevoked)
    {
        assertThat(call((client) -> client.revoke(new RevokedCertificate(
            RevokedCertificate.fingerprint(TlsSettings.certificate(folder.resolve(certificate + ".crt"))),
            "CN=" + certificate), isRevoked, STEP_NS))).isEqualTo(ControlStatus.OK);
    }

    /** How long it takes until a session may do nothing, in ns; the others go on all the time. */
    private static void awaitRefused(final KvTable revoked, final KvTable... others)
    {
        final long startNs = System.nanoTime();
        while (true)
        {
            for (final KvTable other : others)
            {
                assertThat(other.get(KEY)).isPresent();
            }
            try
            {
                revoked.get(KEY);
                assertThat(System.nanoTime() - startNs).as("ns since the revocation").isLessThan(LEASE_NS);
            }
            catch (final KvPermissionDeniedException ex)
            {
                assertThat(ex).hasMessageContaining("the certificate with which this user has logged in was revoked");
                return;
            }
        }
    }

    @Test
    void shouldEndTheSessionsOfACertificateWithinALease()
    {
        try (KvClient phone = user("ann", "phone"); KvClient laptop = user("ann", "laptop");
            KvClient bob = user("bob", "laptop"); KvClient bobsPhone = user("bob", "phone"))
        {
            final KvTable revoked = phone.table("orders");
            final KvTable revokedToo = bobsPhone.table("orders");
            final KvTable other = laptop.table("orders");
            final KvTable bobs = bob.table("orders");
            assertThat(revoked.get(KEY)).isPresent();
            assertThat(revokedToo.get(KEY)).isPresent();
            revoke("phone", true);
            awaitRefused(revoked, other, bobs);
            awaitRefused(revokedToo, other, bobs);
            assertThatThrownBy(() -> revoked.put(KEY, KEY)).isInstanceOf(KvPermissionDeniedException.class);
            assertThatThrownBy(() -> user("ann", "phone")).isInstanceOf(BootstrapException.class)
                .hasMessageContaining("was revoked");

            metaRunner.stop();
            assertThat(metaRunner.awaitEnd(STEP_NS)).isTrue();
            runners.remove(metaRunner);
            openMeta(meta.address().port(), false);
            assertThatThrownBy(() -> revoked.get(KEY)).as("another meta server knows it")
                .isInstanceOf(KvPermissionDeniedException.class);
            assertThat(other.get(KEY)).isPresent();

            revoke("phone", false);
            final long startNs = System.nanoTime();
            while (!isServed(revoked))
            {
                assertThat(System.nanoTime() - startNs).as("ns since it was restored").isLessThan(LEASE_NS);
            }
        }
    }

    private static boolean isServed(final KvTable table)
    {
        try
        {
            return table.get(KEY).isPresent();
        }
        catch (final KvException ex)
        {
            return false;
        }
    }

    /** What the handshake gave before is worth nothing over a new connection either. */
    @Test
    void shouldNotConnectWithTheTicketOfARevokedLogin()
    {
        final BootstrapLocator before = locator(UserLogin.of("ann", SECRET), "phone");
        try (KvClient laptop = user("ann", "laptop"); KvClient phone = user("ann", "phone"))
        {
            final KvTable revoked = phone.table("orders");
            final KvTable other = laptop.table("orders");
            revoke("phone", true);
            awaitRefused(revoked, other);
            final Device device = fabric.openDevice("late");
            assertThatThrownBy(() ->
            {
                try (KvClient late = RemoteKvClient.open(device, before, new KvClientOptions(), device::close))
                {
                    late.table("orders").get(KEY);
                }
            }).isInstanceOf(KvException.class).hasMessageContaining("did not prove");
        }
    }
}
