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
import io.verbena.protocol.bootstrap.MetaServerLocator;
import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Fabric;

import org.agrona.CloseHelper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

/** The demand that a compute node reports, whose duty cycles the test runs itself. */
@Timeout(120)
class DemandTest
{
    private static final long LEASE_NS = TimeUnit.SECONDS.toNanos(60);
    private static final long PAUSE_MS = 100;
    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(PAUSE_MS);

    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    private ComputeNodeRole compute;
    private KvTable table;

    private <T extends AutoCloseable> T open(final T closeable)
    {
        opened.push(closeable);
        return closeable;
    }

    private void run(final Role role)
    {
        final RoleRunner runner = RoleRunner.start(role, false);
        opened.push(() ->
        {
            runner.stop();
            assertThat(runner.awaitEnd(LEASE_NS)).isTrue();
        });
        assertThat(runner.awaitReady(LEASE_NS)).as(runner.failure()).isTrue();
    }

    @BeforeEach
    void start(@TempDir final Path directory) throws Exception
    {
        final String fabricName = "soft:" + directory.resolve("fabric");
        final Fabric fabric = open(Fabrics.open(fabricName));
        final ClusterToken token = ClusterToken.readOrCreate(directory.resolve("token"));
        final MetaServerRole meta = MetaServerRole.open(fabric, fabricName, new ClusterAddress("127.0.0.1", 0), token,
            directory.resolve("data"), true, new MetaServerConfiguration().leaseNs(LEASE_NS));
        run(meta);
        final MetaServerLocator locator = new BootstrapLocator(
            meta.address(), token, BootstrapClient.ask(meta.address(), token, 10_000));
        run(MemoryNodeRole.open(fabric, locator, 16 << 20));
        final ComputeNodeConfiguration configuration = new ComputeNodeConfiguration().operationSlots(7)
            .slowThresholdNs(PAUSE_NS / 4).traceOneIn(4);
        compute = open(ComputeNodeRole.open(fabric, locator, null, configuration, 4));
        while (!compute.isReady())
        {
            compute.doWork();
        }
        final Device device = fabric.openDevice("client");
        final KvClient client = open(drive(0, false, () ->
            RemoteKvClient.open(device, locator, new KvClientOptions(), device::close)));
        table = drive(0, false, () ->
            client.createTable("t", new TableOptions(100)).withTimeout(Duration.ofSeconds(40)));
        drive(0, false, () -> table.put(new byte[]{1}, new byte[]{2}));
    }

    @AfterEach
    void stop()
    {
        CloseHelper.closeAll(opened);
    }

    /** Runs duty cycles of the node until a call of another thread has returned. */
    private <T> T drive(final long pauseMs, final boolean wakes, final Supplier<T> call)
    {
        final CompletableFuture<T> result = CompletableFuture.supplyAsync(call);
        while (!result.isDone())
        {
            sleep(pauseMs);
            if (wakes)
            {
                compute.onWake();
            }
            compute.doWork();
        }
        return result.join();
    }

    private static void sleep(final long ms)
    {
        try
        {
            Thread.sleep(ms);
        }
        catch (final InterruptedException ex)
        {
            throw new IllegalStateException(ex);
        }
    }

    private Map<?, ?> demand()
    {
        return (Map<?, ?>)compute.health().get("demand");
    }

    private static long number(final Map<?, ?> figures, final String name)
    {
        return ((Number)figures.get(name)).longValue();
    }

    private static long sum(final Map<?, ?> figures, final String name)
    {
        return ((List<?>)figures.get(name)).stream().mapToLong((count) -> (Long)count).sum();
    }

    @Test
    void shouldCountEachOperationOnce()
    {
        final Map<?, ?> before = demand();
        for (int i = 0; i < 20; i++)
        {
            drive(0, false, () -> table.get(new byte[]{1}));
        }
        final Map<?, ?> after = demand();
        assertThat(sum(after, "wait_counts") - sum(before, "wait_counts")).isEqualTo(20);
        assertThat(sum(after, "response_counts") - sum(before, "response_counts")).isEqualTo(20);
        assertThat(number(after, "operations") - number(before, "operations")).isEqualTo(20);
        assertThat(number(after, "busy_ns")).isGreaterThan(number(before, "busy_ns"));
        assertThat(number(after, "busy_ns"))
            .isLessThanOrEqualTo(number(after, "time_ns") - (Long)compute.health().get("began_ns"));
        assertThat(number(after, "slot_ns")).isGreaterThan(number(before, "slot_ns"));
        assertThat(number(after, "slots")).isEqualTo(7);
        assertThat(number(after, "processor_ns")).isPositive();
    }

    @Test
    void shouldCountWhatARequestWaitedWhileTheThreadDidNotRun()
    {
        final long beforeNs = number(demand(), "wait_ns");
        final Map<?, ?> counts = demand();
        drive(PAUSE_MS, false, () -> table.get(new byte[]{1}));
        assertThat(number(demand(), "wait_ns") - beforeNs).isGreaterThanOrEqualTo(PAUSE_NS);
        // 65.5 ms is the bound of bucket 16: neither the wait nor the response is in it or in one before.
        assertThat(late(demand()) - late(counts)).isEqualTo(1);
    }

    private static long late(final Map<?, ?> figures)
    {
        return ((List<?>)figures.get("response_counts")).stream().skip(17).mapToLong((count) -> (Long)count).sum();
    }

    private List<?> slow()
    {
        return (List<?>)compute.slowlog().get("slow");
    }

    @Test
    void shouldSayWhyAnOperationWasSlow()
    {
        drive(0, false, () -> table.get(new byte[]{1}));
        final int before = slow().size();
        drive(PAUSE_MS, false, () -> table.get(new byte[]{1}));
        assertThat(slow()).hasSizeGreaterThan(before);
        final Map<?, ?> slow = (Map<?, ?>)slow().getFirst();
        assertThat(slow.get("kind")).isEqualTo("get");
        assertThat(slow.get("answer")).isEqualTo("found");
        assertThat(slow.get("table")).isEqualTo("t");
        assertThat(slow.get("key_bytes")).isEqualTo(1);
        assertThat((Double)slow.get("queued_us")).isGreaterThanOrEqualTo(PAUSE_MS * 1_000.0);
        assertThat((Double)slow.get("response_us")).isGreaterThanOrEqualTo((Double)slow.get("queued_us"));
        final Map<?, ?> step = (Map<?, ?>)((List<?>)slow.get("steps")).getFirst();
        assertThat(step.get("step")).isEqualTo("cached_read");
        assertThat(step.get("verbs")).isEqualTo(2);
        assertThat(step.get("round_trips")).isEqualTo(1);
        assertThat(step.get("from_us")).isEqualTo(0.0);
        assertThat((Double)step.get("took_us"))
            .isEqualTo((Double)slow.get("response_us") - (Double)slow.get("queued_us"), within(0.1));
    }

    @Test
    void shouldSendWhatWasSlowToACollectorOfOpenTelemetry() throws Exception
    {
        try (OtlpReceiver receiver = new OtlpReceiver();
            OtlpExport _ = OtlpExport.open(receiver.endpoint(), compute::slowlog, "compute-1", 1))
        {
            drive(PAUSE_MS, false, () -> table.get(new byte[]{1}));
            final long deadlineNs = System.nanoTime() + LEASE_NS;
            while (receiver.spans().stream().noneMatch((span) -> "get".equals(span.get("name"))))
            {
                assertThat(System.nanoTime() - deadlineNs).isNegative();
                sleep(1);
            }
            assertThat(receiver.spans()).anySatisfy((span) -> assertThat(span.get("name")).isEqualTo("queued"))
                .anySatisfy((span) -> assertThat(span.get("name")).isEqualTo("cached_read"));
        }
    }

    @Test
    void shouldSampleAtRandom()
    {
        for (int i = 0; i < 40; i++)
        {
            drive(0, false, () -> table.get(new byte[]{1}));
        }
        // One in 4 of 41: that it is none, or all, does not happen with gaps of 1 to 7.
        assertThat((List<?>)compute.slowlog().get("sampled")).hasSizeBetween(5, 40);
    }

    @Test
    void shouldNotCountTheSleepOfAnIdleNodeAsWait()
    {
        final long beforeNs = number(demand(), "wait_ns");
        drive(4 * PAUSE_MS, true, () -> table.get(new byte[]{1}));
        assertThat(number(demand(), "wait_ns") - beforeNs).isLessThan(4 * PAUSE_NS);
    }
}
