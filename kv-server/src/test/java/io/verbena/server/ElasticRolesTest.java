package io.verbena.server;

import io.verbena.client.KvClient;
import io.verbena.client.KvClientOptions;
import io.verbena.client.KvTable;
import io.verbena.client.TableOptions;
import io.verbena.client.routing.RemoteKvClient;
import io.verbena.compute.ComputeNodeConfiguration;
import io.verbena.meta.MetaServerConfiguration;
import io.verbena.protocol.bootstrap.BootstrapClient;
import io.verbena.protocol.bootstrap.BootstrapLocator;
import io.verbena.protocol.bootstrap.ClusterAddress;
import io.verbena.protocol.bootstrap.ClusterToken;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.control.MetaClient;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.remote.RequestServer;
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

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import static org.assertj.core.api.Assertions.assertThat;

/** Compute nodes that join from spares, and that leave, under clients that go on all the time. */
@Timeout(180)
class ElasticRolesTest
{
    private static final long STEP_NS = TimeUnit.SECONDS.toNanos(60);
    private static final Duration STEP = Duration.ofNanos(STEP_NS);
    private static final long LEASE_NS = TimeUnit.SECONDS.toNanos(60);
    private static final int THREADS = 4;
    private static final int TOGETHER = 8;

    @TempDir
    private Path directory;
    private final List<RoleRunner> runners = new ArrayList<>();
    private Fabric fabric;
    private BootstrapLocator locator;
    private MetaServerRole meta;
    private volatile boolean isOver;

    @BeforeEach
    void open()
    {
        final String name = "soft:" + directory.resolve("fabric");
        fabric = Fabrics.open(name);
        final ClusterToken token = ClusterToken.readOrCreate(directory.resolve("token"));
        meta = MetaServerRole.open(fabric, name, new ClusterAddress("127.0.0.1", 0), token, directory.resolve("data"),
            true, new MetaServerConfiguration().leaseNs(LEASE_NS));
        start(meta);
        locator = new BootstrapLocator(meta.address(), token, BootstrapClient.ask(meta.address(), token, 10_000));
        start(MemoryNodeRole.open(fabric, locator, 16 << 20));
    }

    @AfterEach
    void close()
    {
        isOver = true;
        runners.reversed().forEach(RoleRunner::stop);
        runners.reversed().forEach((runner) -> assertThat(runner.awaitEnd(STEP_NS)).isTrue());
        fabric.close();
    }

    private RoleRunner start(final Role role)
    {
        final RoleRunner runner = RoleRunner.start(role, false);
        runners.add(runner);
        assertThat(runner.awaitReady(STEP_NS)).as(runner.failure()).isTrue();
        return runner;
    }

    private ComputeNodeRole computeNode(final boolean isSpare)
    {
        return ComputeNodeRole.open(fabric, locator, null, new ComputeNodeConfiguration().spare(isSpare),
            ComputeNodeRole.DEFAULT_MAX_CLIENTS);
    }

    private KvClient client()
    {
        final Device device = fabric.openDevice("client");
        return RemoteKvClient.open(device, locator, new KvClientOptions(), device::close);
    }

    private static void await(final BooleanSupplier condition)
    {
        final long deadlineNs = System.nanoTime() + STEP_NS;
        while (!condition.getAsBoolean())
        {
            assertThat(System.nanoTime() - deadlineNs).isNegative();
            Thread.yield();
        }
    }

    private long increment(final KvTable table, final byte thread)
    {
        long count = 0;
        while (!isOver)
        {
            final List<CompletableFuture<Long>> calls = new ArrayList<>();
            for (int i = 0; i < TOGETHER; i++)
            {
                calls.add(table.incrementAsync(new byte[]{thread}, 1));
            }
            calls.forEach(CompletableFuture::join);
            count += TOGETHER;
        }
        return count;
    }

    private interface Change
    {
        void run();
    }

    /** Each counter in the end is as high as its thread was answered: nothing was lost, failed or repeated. */
    private void underLoad(final Change change) throws Exception
    {
        try (KvClient client = client(); ExecutorService threads = Executors.newFixedThreadPool(THREADS))
        {
            final KvTable table = client.createTable("t", new TableOptions(1_000)).withTimeout(STEP);
            final List<Future<Long>> counts = new ArrayList<>();
            for (int i = 0; i < THREADS; i++)
            {
                final byte thread = (byte)i;
                counts.add(threads.submit(() -> increment(table, thread)));
            }
            try
            {
                change.run();
            }
            finally
            {
                isOver = true;
            }
            for (int i = 0; i < THREADS; i++)
            {
                // First, as it waits for the thread's last increment.
                final long acknowledged = counts.get(i).get();
                assertThat(table.increment(new byte[]{(byte)i}, 0)).isEqualTo(acknowledged);
            }
        }
    }

    private static long operations(final ComputeNodeRole role)
    {
        return (Long)role.health().get("operations");
    }

    private static long refused(final ComputeNodeRole role)
    {
        return (Long)role.health().get("refused_requests");
    }

    @Test
    void shouldSendNothingAgainBecauseOfANodeThatLeaves() throws Exception
    {
        final ComputeNodeRole leaving = computeNode(false);
        final RoleRunner runner = start(leaving);
        final ComputeNodeRole staying = computeNode(false);
        start(staying);
        underLoad(() ->
        {
            await(() -> operations(leaving) > 500 && operations(staying) > 500);
            runner.stop();
            assertThat(runner.awaitEnd(STEP_NS)).isTrue();
            final long before = operations(staying);
            await(() -> operations(staying) > before + 500);
        });
        assertThat(runner.failure()).isEmpty();
        assertThat(refused(leaving)).as("requests that clients had to send again").isZero();
        assertThat(refused(staying)).isZero();
    }

    /** Who was connected to a node when it left, and how long after it was to leave. */
    private record Leave(int clients, long waitedNs)
    {
    }

    /** Runs a node from one cycle to the next, and has it leave when the rest is over. */
    private Leave runUntilItLeaves(final ComputeNodeRole role)
    {
        while (!isOver)
        {
            role.doWork();
        }
        final long sinceNs = System.nanoTime();
        role.drain();
        while ("SERVING".equals(role.health().get("state")))
        {
            role.doWork();
        }
        return new Leave((Integer)role.health().get("clients"), System.nanoTime() - sinceNs);
    }

    /** Between two operations of a client nothing is owed to it, and it has not seen yet that the node leaves. */
    @Test
    void shouldNotLeaveBeforeClientsWithLittleToDoHaveGone() throws Exception
    {
        final ComputeNodeRole leaving = computeNode(false);
        try (ExecutorService thread = Executors.newSingleThreadExecutor())
        {
            final Future<Leave> leave = thread.submit(() -> runUntilItLeaves(leaving));
            await(() -> "SERVING".equals(leaving.health().get("state")));
            try (KvClient client = client())
            {
                final KvTable table = client.createTable("t", new TableOptions(100)).withTimeout(STEP);
                table.put(new byte[]{1}, new byte[]{2});
                await(() -> leaving.health().get("clients").equals(1));
                start(computeNode(false));
                isOver = true;
                // Two seconds are the most that it waits, which a machine under load may need.
                while (!leave.isDone())
                {
                    assertThat(table.get(new byte[]{1})).isPresent();
                    Thread.sleep(5);
                }
                assertThat(leave.get()).matches(
                    (left) -> 0 == left.clients() || left.waitedNs() > RequestServer.LINGER_NS);
            }
            finally
            {
                isOver = true;
            }
        }
        finally
        {
            leaving.close();
        }
    }

    @Test
    void shouldSendClientsToASpareOnlyWhenItIsActivated() throws Exception
    {
        start(computeNode(false));
        final ComputeNodeRole spare = computeNode(true);
        start(spare);
        underLoad(() ->
        {
            assertThat(spare.health()).containsEntry("spare", true).containsEntry("state", "SERVING");
            await(() -> meta.health().get("spare_compute_nodes").equals(1));
            final long began = System.nanoTime();
            await(() -> System.nanoTime() - began > TimeUnit.MILLISECONDS.toNanos(1_500));
            assertThat(operations(spare)).as("after clients have listed the nodes twice").isZero();
            await(() -> Boolean.FALSE.equals(spare.health().get("warming_up")));
            await(() -> spare.health().get("clients").equals(1));
            final Object requests = spare.health().get("requests");
            final long connected = System.nanoTime();
            await(() -> System.nanoTime() - connected > TimeUnit.MILLISECONDS.toNanos(100));
            assertThat(spare.health()).containsEntry("requests", requests).containsEntry("operations", 0L);
            final int nodeId = (Integer)spare.health().get("node_id");
            final int incarnation = (Integer)spare.health().get("incarnation");
            assertThat(activate(nodeId, incarnation)).isEqualTo(ControlStatus.OK);
            await(() -> operations(spare) > 100 && Boolean.FALSE.equals(spare.health().get("spare")));
            assertThat(activate(nodeId, incarnation)).as("the second time").isEqualTo(ControlStatus.OK);
            assertThat(activate(nodeId, incarnation + 1)).isEqualTo(ControlStatus.UNKNOWN_NODE);
            await(() -> meta.health().get("spare_compute_nodes").equals(0));
        });
    }

    private RaasContext operator(final Device device)
    {
        final RaasContext raas = RaasContext.open(device, new RaasConfiguration());
        locator.nodeTicket().use(raas);
        return raas;
    }

    private ControlStatus activate(final int nodeId, final int incarnation)
    {
        try (Device device = fabric.openDevice("tool");
            RaasContext raas = operator(device);
            VirtualQp vqp = raas.connect(locator.address(), BatchListener.CALLS_ONLY, STEP_NS))
        {
            final ControlCall<Void> call = new MetaClient(raas, vqp).activate(nodeId, incarnation, STEP_NS);
            await(() -> raas.poll() >= 0 && call.isDone());
            return call.status();
        }
    }
}
