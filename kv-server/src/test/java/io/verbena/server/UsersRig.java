package io.verbena.server;

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
import io.verbena.protocol.bootstrap.BootstrapLocator;
import io.verbena.protocol.bootstrap.ClusterAddress;
import io.verbena.protocol.bootstrap.ClusterToken;
import io.verbena.protocol.bootstrap.MetaServerLocator;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.control.MetaClient;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.raas.BatchListener;
import io.verbena.raas.RaasConfiguration;
import io.verbena.raas.RaasContext;
import io.verbena.raas.VirtualQp;
import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.resp.RespConfiguration;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** A cluster, its operator, and its users: without any before each test. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class UsersRig
{
    static final long STEP_NS = TimeUnit.SECONDS.toNanos(40);
    static final long LEASE_NS = TimeUnit.SECONDS.toNanos(60);
    static final String LOOPBACK = "127.0.0.1";
    static final String SECRET = "open sesame";
    static final List<String> TABLES = List.of("default", "open", "private", "hidden");
    /** Made once: the hash is slow. */
    static final SecretVerifier VERIFIER = SecretVerifier.of(SECRET);
    static final int READ = TableRight.READ.bit();
    static final int WRITE = TableRight.WRITE.bit();

    @TempDir
    static Path directory;
    private final List<RoleRunner> runners = new ArrayList<>();
    Fabric fabric;
    ClusterToken token;
    MetaServerRole meta;
    ComputeNodeRole compute;
    Device adminDevice;
    RaasContext admin;

    @BeforeAll
    void open()
    {
        final String fabricName = "soft:" + directory.resolve("fabric");
        fabric = Fabrics.open(fabricName);
        token = ClusterToken.readOrCreate(directory.resolve("token"));
        meta = MetaServerRole.open(fabric, fabricName, new ClusterAddress(LOOPBACK, 0), token,
            directory.resolve("data"), true, new MetaServerConfiguration().leaseNs(LEASE_NS));
        start(meta);
        start(MemoryNodeRole.open(fabric, locator(), 32 << 20));
        compute = ComputeNodeRole.open(fabric, locator(), null, new ComputeNodeConfiguration(),
            ComputeNodeRole.DEFAULT_MAX_CLIENTS, new RespConfiguration().port(0));
        start(compute);
        adminDevice = fabric.openDevice("admin");
        admin = RaasContext.open(adminDevice, new RaasConfiguration());
        token.nodeTicket().use(admin);
        try (KvClient client = operator())
        {
            for (final String table : TABLES)
            {
                client.createTable(table, new TableOptions(1_000));
            }
        }
    }

    @BeforeEach
    void fill()
    {
        try (KvClient client = operator())
        {
            for (final String name : TABLES)
            {
                final KvTable table = client.table(name);
                table.scan().stream().toList().forEach((record) -> table.delete(record.key()));
                table.put(bytes("bob:1"), bytes("of bob in " + name));
                table.put(bytes("ann:1"), bytes("of ann in " + name));
            }
        }
    }

    /** Until every node knows that there is none. */
    @AfterEach
    void removeUsers()
    {
        call(admin, (client) -> client.users("", -1, STEP_NS)).result().users().forEach((user) -> remove(user.name()));
        final long startNs = System.nanoTime();
        try (KvClient stranger = stranger())
        {
            while (stranger.tables().isEmpty())
            {
                assertThat(System.nanoTime() - startNs).as("ns until rights do not count").isLessThan(STEP_NS);
            }
        }
    }

    void start(final Role role)
    {
        final RoleRunner runner = RoleRunner.start(role, false);
        runners.add(runner);
        assertThat(runner.awaitReady(STEP_NS)).as(runner.failure()).isTrue();
    }

    @AfterAll
    void close()
    {
        admin.close();
        adminDevice.close();
        runners.reversed().forEach((runner) ->
        {
            runner.stop();
            assertThat(runner.awaitEnd(STEP_NS)).isTrue();
            assertThat(runner.failure()).isEmpty();
        });
        fabric.close();
    }

    static byte[] bytes(final String text)
    {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    BootstrapLocator locator()
    {
        return new BootstrapLocator(meta.address(), token, BootstrapClient.ask(meta.address(), token, 10_000));
    }

    KvClient open(final MetaServerLocator locator)
    {
        final Device device = fabric.openDevice("client");
        return RemoteKvClient.open(device, locator, new KvClientOptions(), device::close);
    }

    KvClient operator()
    {
        return open(locator());
    }

    /** Reaches the fabric, and knows neither token nor user. */
    KvClient stranger()
    {
        return open(MetaServerLocator.at(locator().address()));
    }

    KvClient user(final String name, final String secret) throws IOException
    {
        final Path file = directory.resolve(name + ".secret");
        Files.deleteIfExists(file);
        Files.createFile(file,
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.writeString(file, secret);
        return KvClient.connect(meta.address().toString(), new KvClientOptions().user(name, file));
    }

    <T> ControlCall<T> call(final RaasContext raas, final Function<MetaClient, ControlCall<T>> caller)
    {
        final VirtualQp vqp = raas.connect(locator().address(), BatchListener.CALLS_ONLY, STEP_NS);
        final ControlCall<T> call = caller.apply(new MetaClient(raas, vqp));
        while (!call.isDone())
        {
            raas.poll();
        }
        vqp.close();
        return call;
    }

    User find(final String name)
    {
        return call(admin, (client) -> client.users("", -1, STEP_NS)).result().users().stream()
            .filter((user) -> user.name().equals(name)).findFirst().orElse(null);
    }

    User put(final String name, final String secret, final Grant... grants)
    {
        final User present = find(name);
        final User user = new User(name, 0, 0, null == present ? 0 : present.revision(),
            null == secret ? null : SECRET.equals(secret) ? VERIFIER : SecretVerifier.of(secret), List.of(grants));
        return call(admin, (client) -> client.putUser(user, STEP_NS)).result();
    }

    void remove(final String name)
    {
        assertThat(call(admin, (client) -> client.removeUser(name, STEP_NS)).status()).isEqualTo(ControlStatus.OK);
    }

    User putAnn()
    {
        return put("ann", SECRET, new Grant("open", READ | WRITE, new byte[0]),
            new Grant("private", READ, bytes("ann:")), new Grant("made", TableRight.ALL, new byte[0]));
    }

    /** The node has heard of a change long before its lease is over. */
    static void awaitDenied(final Runnable operation)
    {
        final long startNs = System.nanoTime();
        while (true)
        {
            try
            {
                operation.run();
            }
            catch (final KvPermissionDeniedException ex)
            {
                return;
            }
            assertThat(System.nanoTime() - startNs).as("ns until rights count").isLessThan(STEP_NS);
        }
    }

    void awaitEnforced()
    {
        try (KvClient stranger = stranger())
        {
            awaitDenied(() -> stranger.table("open"));
        }
    }

    static void expectDenied(final Runnable operation)
    {
        assertThatThrownBy(operation::run).isInstanceOf(KvPermissionDeniedException.class)
            .satisfies((ex) -> assertThat(((KvException)ex).category())
                .isEqualTo(KvException.Category.PERMISSION_DENIED))
            .hasMessageContaining("is not permitted").hasMessageNotContaining("\n");
    }
}
