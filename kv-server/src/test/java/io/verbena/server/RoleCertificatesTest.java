package io.verbena.server;

import io.verbena.certificates.CertificateAuthority;
import io.verbena.certificates.CertificateAuthority.Use;
import io.verbena.certificates.IssuedCertificate;
import io.verbena.compute.ComputeNodeConfiguration;
import io.verbena.meta.MetaServerConfiguration;
import io.verbena.protocol.access.SecretVerifier;
import io.verbena.protocol.access.User;
import io.verbena.protocol.bootstrap.AccessTicket;
import io.verbena.protocol.bootstrap.BootstrapClient;
import io.verbena.protocol.bootstrap.BootstrapException;
import io.verbena.protocol.bootstrap.BootstrapLocator;
import io.verbena.protocol.bootstrap.ClusterAddress;
import io.verbena.protocol.bootstrap.ClusterToken;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.control.MetaClient;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.NodeRegistration;
import io.verbena.protocol.tls.RevokedCertificate;
import io.verbena.protocol.tls.TlsSettings;
import io.verbena.raas.BatchListener;
import io.verbena.raas.RaasConfiguration;
import io.verbena.raas.RaasContext;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.VirtualQp;
import io.verbena.raas.directory.NodeRole;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Fabric;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.Supplier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The meta server takes nobody in a role that its certificate does not name, whatever the token is good for. */
@Timeout(120)
class RoleCertificatesTest
{
    private static final long STEP_NS = TimeUnit.SECONDS.toNanos(20);
    private static final long LEASE_NS = TimeUnit.SECONDS.toNanos(2);
    private static final Instant NOW = Instant.now();
    private static final CertificateAuthority AUTHORITY = CertificateAuthority.create(
        "authority", NOW.minus(Duration.ofDays(1)), NOW.plus(Duration.ofDays(1)));

    @TempDir
    private Path folder;
    private final List<RoleRunner> runners = new ArrayList<>();
    private Fabric fabric;
    private ClusterToken token;
    private MetaServerRole meta;
    /** With whose certificate callers find the meta server. */
    private String guide = "operator";
    private RoleRunner metaRunner;

    @BeforeEach
    void open() throws IOException
    {
        IssuedCertificate.writeCertificates(folder.resolve("ca.crt"), List.of(AUTHORITY.certificate()));
        issue("meta", Use.SERVER, "127.0.0.1", "verbena:role/meta");
        issue("memory", Use.CLIENT, "verbena:role/memory");
        issue("compute", Use.CLIENT, "verbena:role/compute");
        issue("operator", Use.CLIENT, "verbena:role/operator");
        fabric = Fabrics.open("soft:" + folder.resolve("fabric"));
        token = ClusterToken.readOrCreate(folder.resolve("token"));
        meta = openMeta(0, true);
    }

    private MetaServerRole openMeta(final int port, final boolean isFresh)
    {
        final MetaServerRole role = MetaServerRole.open(fabric, "soft:" + folder.resolve("fabric"),
            new ClusterAddress("127.0.0.1", port), token.with(TlsSettings.ofServer(
            folder.resolve("meta.crt"), folder.resolve("meta.key"), folder.resolve("ca.crt"))),
            folder.resolve("data"), isFresh, new MetaServerConfiguration().leaseNs(LEASE_NS));
        metaRunner = start(role);
        assertThat(metaRunner.awaitReady(STEP_NS)).isTrue();
        return role;
    }

    private void issue(final String name, final Use use, final String... names) throws IOException
    {
        AUTHORITY.issue(name, List.of(names), use, NOW.minus(Duration.ofDays(1)), NOW.plus(Duration.ofDays(1)))
            .write(folder.resolve(name + ".crt"), folder.resolve(name + ".key"));
    }

    private RoleRunner start(final Role role)
    {
        runners.add(RoleRunner.start(role, false));
        return runners.getLast();
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

    private BootstrapLocator locator(final String certificate)
    {
        final ClusterToken secured = token.with(TlsSettings.ofClient(folder.resolve("ca.crt"),
            folder.resolve(certificate + ".crt"), folder.resolve(certificate + ".key")));
        return new BootstrapLocator(meta.address(), secured,
            BootstrapClient.ask(meta.address(), secured, (int)TimeUnit.NANOSECONDS.toMillis(STEP_NS)));
    }

    /** Null when the meta server does not take the connection. */
    private <T> ControlStatus call(final AccessTicket ticket, final Function<MetaClient, ControlCall<T>> caller)
    {
        try (Device device = fabric.openDevice("caller");
            RaasContext raas = RaasContext.open(device, new RaasConfiguration()))
        {
            ticket.use(raas);
            final VirtualQp vqp = raas.connect(locator(guide).address(), BatchListener.CALLS_ONLY, STEP_NS);
            while (VirtualQp.State.READY != vqp.state())
            {
                raas.poll();
                if (VirtualQp.State.FAILED == vqp.state())
                {
                    return null;
                }
            }
            final ControlCall<T> call = caller.apply(new MetaClient(raas, vqp));
            while (!call.isDone())
            {
                raas.poll();
            }
            return call.status();
        }
    }

    private ControlStatus register(final AccessTicket ticket, final NodeRole role)
    {
        try (Device device = fabric.openDevice("node"))
        {
            return call(ticket, (client) -> client.register(new NodeRegistration(0, role, device.address(), 7,
                NodeRole.MEMORY_NODE == role ? new RemoteRegion(4096, 4096, 1) : RemoteRegion.NONE), STEP_NS));
        }
    }

    private ControlStatus putUser(final AccessTicket ticket, final String name)
    {
        final User user = new User(name, 0, 0, 0, SecretVerifier.ofNobody(new byte[32], name), List.of());
        return call(ticket, (client) -> client.putUser(user, STEP_NS));
    }

    @Test
    void shouldRegisterNodesInTheRolesOfTheirCertificatesOnly() throws IOException
    {
        final AccessTicket memory = locator("memory").joiningTicket();
        final AccessTicket compute = locator("compute").joiningTicket();
        final AccessTicket operator = locator("operator").joiningTicket();
        assertThat(register(memory, NodeRole.COMPUTE_NODE)).isEqualTo(ControlStatus.FORBIDDEN);
        assertThat(register(compute, NodeRole.MEMORY_NODE)).isEqualTo(ControlStatus.FORBIDDEN);
        assertThat(register(operator, NodeRole.MEMORY_NODE)).isEqualTo(ControlStatus.FORBIDDEN);
        assertThat(register(operator, NodeRole.COMPUTE_NODE)).isEqualTo(ControlStatus.FORBIDDEN);
        assertThat(register(token.nodeTicket(), NodeRole.COMPUTE_NODE)).as("the token alone")
            .isEqualTo(ControlStatus.FORBIDDEN);
        assertThat(register(token.clientTicket(null), NodeRole.MEMORY_NODE)).isEqualTo(ControlStatus.FORBIDDEN);
        assertThat(register(new AccessTicket(
            PeerIdentity.joining(memory.identity().certificate(), 31), memory.secret()), NodeRole.COMPUTE_NODE))
            .as("roles that the secret is not for").isNull();
        assertThat(register(new AccessTicket(compute.identity(), token.clusterSecret()), NodeRole.COMPUTE_NODE))
            .as("the token is no secret of roles").isNull();
        assertThat(register(compute, NodeRole.COMPUTE_NODE)).isEqualTo(ControlStatus.OK);
        assertThat(Files.readString(folder.resolve("data/audit.jsonl"))).contains("refused")
            .contains("with roles memory: it takes a certificate with verbena:role/compute");
    }

    /** What no waiting changes is said at once, and not when the time to join is over. */
    @Test
    void shouldEndNodesThatMayNotRegister()
    {
        assertRefused(() -> MemoryNodeRole.open(fabric, locator("compute"), 32 << 20), "verbena:role/memory");
        assertRefused(() -> ComputeNodeRole.open(fabric, locator("memory"), null,
            new ComputeNodeConfiguration().joinTimeoutNs(TimeUnit.HOURS.toNanos(1)),
            ComputeNodeRole.DEFAULT_MAX_CLIENTS), "verbena:role/compute");
    }

    private void assertRefused(final Supplier<Role> opening, final String uri)
    {
        final RoleRunner runner = RoleRunner.start(opening.get(), false);
        assertThat(runner.awaitReady(STEP_NS)).isFalse();
        assertThat(runner.awaitEnd(STEP_NS)).isTrue();
        assertThat(runner.failure()).contains("it takes a certificate with " + uri).doesNotContain("deadline");
    }

    @Test
    void shouldTakeChangesFromOperatorsOnly()
    {
        assertThat(putUser(locator("compute").joiningTicket(), "eve")).isEqualTo(ControlStatus.FORBIDDEN);
        assertThat(putUser(locator("memory").joiningTicket(), "eve")).isEqualTo(ControlStatus.FORBIDDEN);
        assertThat(putUser(token.nodeTicket(), "eve")).isEqualTo(ControlStatus.FORBIDDEN);
        assertThat(putUser(token.clientTicket(null), "eve")).isEqualTo(ControlStatus.FORBIDDEN);
        assertThat(putUser(locator("operator").joiningTicket(), "ann")).isEqualTo(ControlStatus.OK);
    }

    @Test
    void shouldRunNodesWithTheirOwnCertificates()
    {
        assertThat(start(MemoryNodeRole.open(fabric, locator("memory"), 8 << 20)).awaitReady(STEP_NS)).isTrue();
        assertThat(start(ComputeNodeRole.open(fabric, locator("compute"), null, new ComputeNodeConfiguration(),
            ComputeNodeRole.DEFAULT_MAX_CLIENTS, null)).awaitReady(STEP_NS)).isTrue();
    }

    private RevokedCertificate certificate(final String name)
    {
        return new RevokedCertificate(
            RevokedCertificate.fingerprint(TlsSettings.certificate(folder.resolve(name + ".crt"))), "CN=" + name);
    }

    private ControlStatus revoke(final String by, final String name, final boolean isRevoked)
    {
        return call(locator(by).joiningTicket(), (client) -> client.revoke(certificate(name), isRevoked, STEP_NS));
    }

    private void stopMeta()
    {
        metaRunner.stop();
        assertThat(metaRunner.awaitEnd(STEP_NS)).isTrue();
        runners.remove(metaRunner);
    }

    private int liveNodes()
    {
        return (int)meta.health().get("compute_nodes");
    }

    private void awaitLiveNodes(final int count)
    {
        final long startNs = System.nanoTime();
        while (count != liveNodes())
        {
            assertThat(System.nanoTime() - startNs).as("ns until %d nodes are live", count).isLessThan(STEP_NS);
            Thread.onSpinWait();
        }
    }

    @Test
    void shouldTakeNobodyByARevokedCertificate() throws IOException
    {
        issue("compute-2", Use.CLIENT, "verbena:role/compute");
        final AccessTicket stolen = locator("compute").joiningTicket();
        final AccessTicket lateOperator = locator("operator").joiningTicket();
        assertThat(revoke("compute", "operator", true)).isEqualTo(ControlStatus.FORBIDDEN);
        assertThat(revoke("operator", "compute", false)).as("not revoked").isEqualTo(ControlStatus.INVALID_REQUEST);
        assertThat(revoke("operator", "compute", true)).isEqualTo(ControlStatus.OK);
        assertThat(revoke("operator", "compute", true)).as("again").isEqualTo(ControlStatus.INVALID_REQUEST);
        assertThatThrownBy(() -> locator("compute")).isInstanceOf(BootstrapException.class)
            .hasMessageContaining("certificate CN=compute was revoked: issue another one");
        assertThat(register(stolen, NodeRole.COMPUTE_NODE)).as("what the handshake gave before").isNull();
        assertThat(register(locator("compute-2").joiningTicket(), NodeRole.COMPUTE_NODE)).isEqualTo(ControlStatus.OK);
        assertThat(Files.readString(folder.resolve("data/audit.jsonl"))).contains("revokeCertificate")
            .contains(certificate("compute").digits() + " CN=compute");

        stopMeta();
        meta = openMeta(meta.address().port(), false);
        assertThat(register(stolen, NodeRole.COMPUTE_NODE)).as("after a restart").isNull();
        assertThat(revoke("operator", "compute", false)).isEqualTo(ControlStatus.OK);
        assertThat(register(stolen, NodeRole.COMPUTE_NODE)).as("taken again").isEqualTo(ControlStatus.OK);

        assertThat(revoke("operator", "operator", true)).as("its own").isEqualTo(ControlStatus.OK);
        guide = "compute-2";
        assertThat(putUser(lateOperator, "eve")).isNull();
    }

    /** A connection that was made before goes on, and may do nothing. */
    @Test
    void shouldForbidARevokedCertificateOverAConnectionThatWasMadeBefore()
    {
        final AccessTicket operator = locator("operator").joiningTicket();
        final User eve = new User("eve", 0, 0, 0, SecretVerifier.ofNobody(new byte[32], "eve"), List.of());
        assertThat(call(operator, (client) ->
        {
            client.revoke(certificate("operator"), true, STEP_NS);
            return client.putUser(eve, STEP_NS);
        })).isEqualTo(ControlStatus.FORBIDDEN);
    }

    /** By which certificate a node has joined is on disk: the meta server that renews its lease may be another one. */
    @Test
    void shouldRenewNoLeaseOfANodeThatHasJoinedByARevokedCertificate()
    {
        final ComputeNodeRole role = ComputeNodeRole.open(fabric, locator("compute"), null,
            new ComputeNodeConfiguration(), ComputeNodeRole.DEFAULT_MAX_CLIENTS, null);
        final RoleRunner node = start(role);
        assertThat(node.awaitReady(STEP_NS)).isTrue();
        final Object incarnation = role.health().get("incarnation");
        stopMeta();
        meta = openMeta(meta.address().port(), false);
        awaitLiveNodes(1);
        final long startNs = System.nanoTime();
        while (System.nanoTime() - startNs < 2 * LEASE_NS)
        {
            assertThat(liveNodes()).isEqualTo(1);
            LockSupport.parkNanos(LEASE_NS / 20);
        }
        assertThat(role.health().get("incarnation")).as("not registered again").isEqualTo(incarnation);
        assertThat(revoke("operator", "compute", true)).isEqualTo(ControlStatus.OK);
        awaitLiveNodes(0);
    }
}
