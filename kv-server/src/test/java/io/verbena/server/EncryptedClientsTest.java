package io.verbena.server;

import io.verbena.client.KvClient;
import io.verbena.client.KvClientOptions;
import io.verbena.client.KvInvalidRequestException;
import io.verbena.client.KvTable;
import io.verbena.client.KvUnavailableException;
import io.verbena.client.TableOptions;
import io.verbena.client.routing.RemoteKvClient;
import io.verbena.compute.ComputeNodeConfiguration;
import io.verbena.meta.MetaServerConfiguration;
import io.verbena.protocol.access.AccessRules;
import io.verbena.protocol.access.SecretVerifier;
import io.verbena.protocol.access.User;
import io.verbena.protocol.bootstrap.BootstrapAnswer;
import io.verbena.protocol.bootstrap.BootstrapClient;
import io.verbena.protocol.bootstrap.BootstrapLocator;
import io.verbena.protocol.bootstrap.BootstrapServer;
import io.verbena.protocol.bootstrap.ClusterAddress;
import io.verbena.protocol.bootstrap.ClusterToken;
import io.verbena.protocol.bootstrap.MetaServerLocator;
import io.verbena.protocol.bootstrap.NetworkFabric;
import io.verbena.protocol.remote.NodeFigures;
import io.verbena.raas.BatchListener;
import io.verbena.raas.PeerAddress;
import io.verbena.raas.RaasConfiguration;
import io.verbena.raas.RaasContext;
import io.verbena.raas.VirtualQp;
import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Fabric;

import org.agrona.concurrent.UnsafeBuffer;
import io.verbena.server.metrics.MetricsPage;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Clients of a compute node that takes none in clear. */
@Timeout(180)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class EncryptedClientsTest
{
    private static final long STEP_NS = TimeUnit.SECONDS.toNanos(40);
    private static final int OPERATION = 201;
    private static final String LOOPBACK = "127.0.0.1";

    @TempDir
    static Path directory;
    private final List<RoleRunner> runners = new ArrayList<>();
    private Fabric fabric;
    private ClusterToken token;
    private MetaServerRole meta;
    private ComputeNodeRole compute;
    private KvClient client;

    @BeforeAll
    void open()
    {
        final String fabricName = "soft:" + directory.resolve("fabric");
        fabric = Fabrics.open(fabricName);
        token = ClusterToken.readOrCreate(directory.resolve("token"));
        meta = MetaServerRole.open(fabric, fabricName, new ClusterAddress(LOOPBACK, 0), token,
            directory.resolve("data"), true, new MetaServerConfiguration());
        start(meta);
        start(MemoryNodeRole.open(fabric, locator(), 32 << 20));
        compute = ComputeNodeRole.open(fabric, locator(), null,
            new ComputeNodeConfiguration().requireEncryption(true).spare(false), ComputeNodeRole.DEFAULT_MAX_CLIENTS);
        start(compute);
        client = open(locator(), new KvClientOptions().encrypt(true));
        client.createTable("t", new TableOptions(1_000));
    }

    private void start(final Role role)
    {
        final RoleRunner runner = RoleRunner.start(role, false);
        runners.add(runner);
        assertThat(runner.awaitReady(STEP_NS)).as(runner.failure()).isTrue();
    }

    @AfterAll
    void close()
    {
        assertThat(new String(client.table("t").get(bytes("k")).orElseThrow().value(), StandardCharsets.UTF_8))
            .as("others were refused, and it is served").isEqualTo("v");
        client.close();
        runners.reversed().forEach((runner) ->
        {
            runner.stop();
            assertThat(runner.awaitEnd(STEP_NS)).isTrue();
            assertThat(runner.failure()).isEmpty();
        });
        fabric.close();
    }

    private BootstrapLocator locator()
    {
        return new BootstrapLocator(meta.address(), token, BootstrapClient.ask(meta.address(), token, 10_000));
    }

    private KvClient open(final MetaServerLocator locator, final KvClientOptions options)
    {
        final Device device = fabric.openDevice("client");
        return RemoteKvClient.open(device, locator, options, device::close);
    }

    private static byte[] bytes(final String text)
    {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] random(final int length)
    {
        final byte[] bytes = new byte[length];
        new SplittableRandom(length).nextBytes(bytes);
        return bytes;
    }

    private static void await(final BooleanSupplier condition) throws InterruptedException
    {
        final long startNs = System.nanoTime();
        while (!condition.getAsBoolean())
        {
            assertThat(System.nanoTime() - startNs).isLessThan(STEP_NS);
            Thread.sleep(10);
        }
    }

    private List<String> metrics()
    {
        try (MetricsPage page = new MetricsPage(compute::measure))
        {
            return new String(page.scrape(), StandardCharsets.UTF_8).lines().toList();
        }
    }

    /** Long keys and values, and pages of scans, go in parts. */
    @Test
    void shouldServeClientsThatEncryptWhateverTheLength()
    {
        final KvTable table = client.table("t");
        table.put(bytes("k"), bytes("v"));
        for (final int length : new int[]{1, 100, 4_000, 16_384})
        {
            final byte[] key = random(Math.max(2, length * 2));
            table.put(key, random(length));
            assertThat(table.get(key).orElseThrow().value()).isEqualTo(random(length));
        }
        assertThat(table.scan().stream().map((record) -> record.value().length).collect(Collectors.toSet()))
            .contains(1, 100, 4_000, 16_384);
        assertThat(client.tables()).containsExactly("t");
    }

    @Test
    void shouldRefuseClientsInClearAndCountAndAuditThem() throws Exception
    {
        client.table("t").put(bytes("k"), bytes("v"));
        try (KvClient inClear = open(locator(), new KvClientOptions().timeout(Duration.ofSeconds(2))))
        {
            assertThatThrownBy(() -> inClear.table("t")).isInstanceOf(KvUnavailableException.class)
                .hasMessageContaining("only encrypted connections are taken here: give --encrypt");
        }
        final Path audit = directory.resolve("data/audit.jsonl");
        await(() -> (long)compute.health().get("refused_in_clear") > 0 &&
            1 == (int)compute.health().get("encrypted_connections"));
        assertThat(compute.health()).containsEntry("refused_messages", 0L)
            .containsEntry("refused_unsealed_connections", 0L);
        assertThat(metrics()).contains("verbena_encrypted_connections 1.0",
            "verbena_refused_in_clear_total " + (double)(long)compute.health().get("refused_in_clear"),
            "verbena_refused_messages_total 0.0");
        await(() ->
        {
            try
            {
                return Files.readString(audit).contains("connection in clear");
            }
            catch (final IOException ex)
            {
                throw new AssertionError(ex);
            }
        });
        assertThat(Files.readString(audit).lines().filter((line) -> line.contains("connection in clear")).toList())
            .allMatch((line) -> line.contains("\"denied\"") && line.contains("operator"));
    }

    /** Who has the token, and is no client: an autoscaler say. */
    @Test
    void shouldGiveFiguresAndNothingElseOverAConnectionInClear()
    {
        try (Device device = fabric.openDevice("tool");
            RaasContext raas = RaasContext.open(device, new RaasConfiguration()))
        {
            token.nodeTicket().use(raas);
            final VirtualQp vqp = raas.connect(new PeerAddress(compute.device().address(),
                ComputeNodeRole.SERVICE_PORT, 1, 1), BatchListener.CALLS_ONLY, STEP_NS);
            final CompletableFuture<String> figures = NodeFigures.ask(raas, vqp, STEP_NS);
            while (!figures.isDone())
            {
                raas.poll();
            }
            assertThat(figures.join()).contains("meta_server");
            final List<String> answers = new ArrayList<>();
            raas.rpcClient().call(vqp, OPERATION, new UnsafeBuffer(new byte[80]), 0, 80, STEP_NS,
                (callId, status, payload, offset, length) -> answers.add(
                    status + " " + payload.getStringWithoutLengthAscii(offset, length)));
            while (answers.isEmpty())
            {
                raas.poll();
            }
            assertThat(answers.getFirst()).contains("REFUSED").contains("does not know method 201");
        }
    }

    @Test
    void shouldNotEncryptWhereKeysCouldBeFoundOut() throws Exception
    {
        final Path file = Files.createFile(directory.resolve("ann.secret"),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.writeString(file, "open sesame");
        final KvClientOptions options = new KvClientOptions().encrypt(true).user("ann", file);
        assertThatThrownBy(() -> KvClient.connect(meta.address().toString(), options))
            .isInstanceOf(KvInvalidRequestException.class)
            .hasMessage("encryption as user 'ann' takes TLS, since keys follow from what the handshake brings: give " +
                "--tls-ca, or KvClientOptions.tls");
        assertThatThrownBy(() -> open(MetaServerLocator.at(locator().address()), new KvClientOptions().encrypt(true)))
            .isInstanceOf(KvInvalidRequestException.class).hasMessageContaining("there is none here");
    }

    /** What the handshake says of a cluster that seals packets: users have no key, and encrypt over TLS. */
    @Test
    void shouldRefuseAUserOfASealedClusterWithoutTls() throws Exception
    {
        final Path file = Files.createFile(directory.resolve("eve.secret"),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.writeString(file, "open sesame");
        final User eve = new User("eve", 3, 2, 2, SecretVerifier.of("open sesame"), List.of());
        try (BootstrapServer sealed = BootstrapServer.open(new ClusterAddress(LOOPBACK, 0), token,
            new BootstrapAnswer(1, NetworkFabric.SEALED_NAME, locator().address()),
            () -> AccessRules.of(token.clusterSecret(), 1, List.of(eve)), (roles) -> null))
        {
            assertThatThrownBy(() -> KvClient.connect(
                sealed.address().toString(), new KvClientOptions().user("eve", file)))
                .isInstanceOf(KvInvalidRequestException.class).hasMessageContaining(
                    "takes encrypted connections only, and those of user 'eve' take TLS, which it does not have");
        }
    }

    /** A spare reads from itself before clients come. */
    @Test
    void shouldWarmUpASpareThatTakesNobodyInClear() throws Exception
    {
        final ComputeNodeRole spare = ComputeNodeRole.open(fabric, locator(), null,
            new ComputeNodeConfiguration().requireEncryption(true).spare(true), 4);
        start(spare);
        await(() -> Boolean.FALSE.equals(spare.health().get("warming_up")));
        assertThat(spare.health()).containsEntry("refused_in_clear", 0L);
        assertThat((long)spare.health().get("requests")).isPositive();
        final RoleRunner runner = runners.removeLast();
        runner.stop();
        assertThat(runner.awaitEnd(STEP_NS)).isTrue();
    }
}
