package io.verbena.server;

import io.verbena.client.KvClient;
import io.verbena.client.KvClientOptions;
import io.verbena.client.KvTable;
import io.verbena.client.TableOptions;
import io.verbena.client.routing.RemoteKvClient;
import io.verbena.compute.ComputeNodeConfiguration;
import io.verbena.memory.MemoryFolder;
import io.verbena.meta.MetaServerConfiguration;
import io.verbena.protocol.bootstrap.BootstrapAnswer;
import io.verbena.protocol.bootstrap.BootstrapClient;
import io.verbena.protocol.bootstrap.BootstrapException;
import io.verbena.protocol.bootstrap.BootstrapLocator;
import io.verbena.protocol.bootstrap.ClusterAddress;
import io.verbena.protocol.bootstrap.ClusterToken;
import io.verbena.protocol.bootstrap.MetaServerLocator;
import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.verbs.CompletionChannel;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.server.metrics.Measurements;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The roles as their processes run them, in one process: they share the fabric and find each other by handshake. */
@Timeout(180)
class RolesTest
{
    private static final long STEP_NS = TimeUnit.SECONDS.toNanos(40);
    private static final Duration STEP = Duration.ofNanos(STEP_NS);
    /** Long, so that a machine that is busy with other things takes no node's place. */
    private static final long LEASE_NS = TimeUnit.SECONDS.toNanos(60);
    private static final byte[] KEY = {1};

    @TempDir
    Path directory;
    private final List<RoleRunner> runners = new ArrayList<>();
    private Fabric fabric;
    private ClusterToken token;
    private MetaServerRole meta;

    @BeforeEach
    void open()
    {
        fabric = Fabrics.open(fabricName());
        token = ClusterToken.readOrCreate(directory.resolve("token"));
        meta = openMeta();
        start(meta);
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

    private String fabricName()
    {
        return "soft:" + directory.resolve("fabric");
    }

    private MetaServerRole openMeta()
    {
        return MetaServerRole.open(
            fabric, fabricName(), new ClusterAddress("127.0.0.1", 0), token, directory.resolve("data"), true,
            new MetaServerConfiguration().leaseNs(LEASE_NS));
    }

    private RoleRunner start(final Role role)
    {
        final RoleRunner runner = RoleRunner.start(role, false);
        runners.add(runner);
        assertThat(runner.awaitReady(STEP_NS)).as(runner.failure()).isTrue();
        return runner;
    }

    private BootstrapAnswer bootstrap()
    {
        final BootstrapAnswer answer = BootstrapClient.ask(meta.address(), token, 10_000);
        assertThat(answer.fabric()).isEqualTo(fabricName());
        return answer;
    }

    private MetaServerLocator locator()
    {
        return new BootstrapLocator(meta.address(), token, bootstrap());
    }

    private KvClient client()
    {
        final Device device = fabric.openDevice("client");
        return RemoteKvClient.open(device, locator(), new KvClientOptions(), device::close);
    }

    private RoleRunner startMemoryNode()
    {
        return start(MemoryNodeRole.open(fabric, locator(), 16 << 20));
    }

    private RoleRunner startComputeNode()
    {
        return start(ComputeNodeRole.open(
            fabric, locator(), null, new ComputeNodeConfiguration(), ComputeNodeRole.DEFAULT_MAX_CLIENTS));
    }

    @Test
    void shouldTellWhatAComputeNodeHoldsWithoutAskingItsThread()
    {
        startMemoryNode();
        final ComputeNodeRole role = ComputeNodeRole.open(
            fabric, locator(), null, new ComputeNodeConfiguration(), ComputeNodeRole.DEFAULT_MAX_CLIENTS);
        final RoleRunner runner = start(role);
        try (KvClient client = client())
        {
            client.createTable("t", new TableOptions(100)).withTimeout(STEP).put(new byte[]{1}, new byte[]{1});
            final long deadlineNs = System.nanoTime() + STEP_NS;
            while (!(role.health().get("held_bytes") instanceof final Long bytes && bytes > 0))
            {
                assertThat(System.nanoTime() - deadlineNs).as("%s", role.health()).isNegative();
                Thread.onSpinWait();
            }
        }
        runner.stop();
        assertThat(runner.awaitEnd(STEP_NS)).isTrue();
        assertThat(role.health()).as("when there is no thread that could answer").containsKey("held_bytes");
    }

    @Test
    void shouldServeAndDrainWithoutAFailedOperation()
    {
        startMemoryNode();
        final RoleRunner first = startComputeNode();
        try (KvClient client = client())
        {
            final KvTable table = client.createTable("t", new TableOptions(1_000));
            startComputeNode();
            final List<CompletableFuture<Long>> puts = new ArrayList<>();
            for (int i = 0; i < 300; i++)
            {
                puts.add(table.withTimeout(STEP).putAsync(new byte[]{(byte)i, (byte)(i >> 8)}, KEY));
                if (100 == i)
                {
                    first.stop();
                }
            }
            puts.forEach((put) -> assertThat(put.join()).isPositive());
            assertThat(first.awaitEnd(STEP_NS)).isTrue();
            assertThat(first.failure()).isEmpty();
            assertThat(table.withTimeout(STEP).get(KEY)).isEmpty();
            assertThat(table.withTimeout(STEP).get(new byte[]{5, 0})).isPresent();
        }
    }

    @Test
    void shouldGiveTheIndexOfADroppedTableBackBeforeItLeaves()
    {
        final MemoryNodeRole memory = MemoryNodeRole.open(fabric, locator(), 16 << 20);
        start(memory);
        final RoleRunner compute = startComputeNode();
        try (KvClient client = client())
        {
            client.createTable("t", new TableOptions(1_000)).withTimeout(STEP).put(KEY, KEY);
            client.dropTable("t");
            compute.stop();
            assertThat(compute.awaitEnd(STEP_NS)).isTrue();
        }
        final long deadlineNs = System.nanoTime() + STEP_NS;
        while (!memory.health().get("index_bytes").equals(0L) && System.nanoTime() - deadlineNs < 0)
        {
            Thread.yield();
        }
        assertThat(memory.health()).containsEntry("index_bytes", 0L);
    }

    @Test
    void shouldTellItsHealth() throws Exception
    {
        final Role memory = MemoryNodeRole.open(fabric, locator(), 16 << 20);
        final RoleRunner runner = start(memory);
        try (HealthServer health = HealthServer.open(0, memory, runner::isReady);
            HttpClient http = HttpClient.newHttpClient())
        {
            final URI uri = URI.create("http://localhost:" + health.port() + "/health");
            final HttpResponse<String> ready =
                http.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
            assertThat(ready.statusCode()).isEqualTo(200);
            assertThat(ready.body()).contains("\"role\":\"memory-node\"", "\"ready\":true", "\"node_id\":1",
                "\"state\":\"READY\"", "\"memory_bytes\":16777216");
            awaitTransports();
            assertThatThrownBy(() -> HealthServer.open(health.port(), memory, runner::isReady))
                .isInstanceOf(UncheckedIOException.class).hasMessageContaining("choose another port");
            runner.stop();
            assertThat(runner.awaitEnd(STEP_NS)).isTrue();
            assertThat(http.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString())
                .statusCode()).isEqualTo(503);
            assertThat(http.send(HttpRequest.newBuilder(uri).DELETE().build(),
                HttpResponse.BodyHandlers.discarding()).statusCode()).isEqualTo(405);
        }
    }

    /** Figures of the meta server are those of its last duty cycle that published some. */
    private void awaitTransports()
    {
        final long deadlineNs = System.nanoTime() + STEP_NS;
        while (!meta.health().get("node_carriers").toString().contains("shared-memory="))
        {
            assertThat(System.nanoTime() - deadlineNs).as("%s", meta.health()).isNegative();
            Thread.onSpinWait();
        }
    }

    /** Ends, but never says so. */
    private record Undrained(Role role, boolean[] closed) implements Role
    {
        @Override
        public String name()
        {
            return role.name();
        }

        @Override
        public Device device()
        {
            return role.device();
        }

        @Override
        public CompletionChannel completionChannel()
        {
            return role.completionChannel();
        }

        @Override
        public int doWork()
        {
            return role.doWork();
        }

        @Override
        public long idleNs()
        {
            return role.idleNs();
        }

        @Override
        public boolean isReady()
        {
            return role.isReady();
        }

        @Override
        public String failure()
        {
            return role.failure();
        }

        @Override
        public void drain()
        {
            role.drain();
        }

        @Override
        public boolean isDrained()
        {
            return false;
        }

        @Override
        public long drainTimeoutNs()
        {
            return 1_000_000;
        }

        @Override
        public String undrained()
        {
            return role.undrained();
        }

        @Override
        public void measure(final Measurements measurements)
        {
            throw new UnsupportedOperationException("nobody measures it");
        }

        @Override
        public Map<String, Object> health()
        {
            return role.health();
        }

        @Override
        public void close()
        {
            closed[0] = true;
            role.close();
        }
    }

    @Test
    void shouldSayWhatIsCutOffWhenItsOrderlyEndTakesTooLong()
    {
        final MemoryNodeRole memory = MemoryNodeRole.open(
            fabric, locator(), MemoryFolder.open(directory.resolve("memory"), 0, 64 << 20), 0, false);
        assertThat(memory.drainTimeoutNs()).as("four seconds for a last checkpoint of 64 MiB")
            .isEqualTo(Role.DRAIN_TIMEOUT_NS + TimeUnit.SECONDS.toNanos(4));
        final boolean[] closed = {false};
        final RoleRunner runner = start(new Undrained(memory, closed));
        runner.stop();
        assertThat(runner.awaitEnd(STEP_NS)).isTrue();
        assertThat(closed[0]).isTrue();
        assertThat(runner.failure()).contains("memory-node did not end in order within 0 s: its last checkpoint is " +
            "not complete, the one before stays good; its records stay in shared memory");
    }

    @Test
    void shouldLeaveNoFileOfTheDatabasesLibraryWhenItIsKilled() throws IOException
    {
        final List<String> mapped = Files.readAllLines(Path.of("/proc/self/maps")).stream()
            .filter((line) -> line.contains("librocksdbjni")).toList();
        assertThat(mapped).isNotEmpty().allMatch((line) -> line.endsWith("(deleted)"));
        try (Stream<Path> files = Files.walk(directory))
        {
            assertThat(files).noneMatch((file) -> file.toString().contains("rocksdbjni"));
        }
    }

    @Test
    void shouldSayInOneLineWhyItDoesNotStart()
    {
        assertThatThrownBy(() -> MetaServerRole.open(
            fabric, fabricName(), meta.address(), token, directory.resolve("other"), true,
            new MetaServerConfiguration()))
            .isInstanceOf(BootstrapException.class).hasMessageContaining("is another cluster running there?");
        assertThatThrownBy(() -> MetaServerRole.open(
            fabric, fabricName(), new ClusterAddress("192.0.2.1", 0), token, directory.resolve("other"), true,
            new MetaServerConfiguration()))
            .as("not an address of this host, but of documentation").isInstanceOf(BootstrapException.class)
            .hasMessageContaining("give an address of this host").hasMessageNotContaining("another cluster");
        assertThatThrownBy(this::openMeta).as("the data folder is in use").isInstanceOf(RuntimeException.class)
            .hasMessageContaining(directory.toString());
    }
}
