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
import io.verbena.server.metrics.Metric;

import org.agrona.CloseHelper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

import static org.assertj.core.api.Assertions.assertThat;

/** What Prometheus would read of the processes of a cluster that has worked. */
@Timeout(120)
class RoleMetricsTest
{
    private static final long STEP_NS = TimeUnit.SECONDS.toNanos(40);
    private static final int CLIENTS = 17;

    private static byte[] bytes(final String text)
    {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** What is open, closed in the other order. */
    private static final class Opened implements AutoCloseable
    {
        private final Deque<AutoCloseable> opened = new ArrayDeque<>();

        <T extends AutoCloseable> T add(final T closeable)
        {
            opened.push(closeable);
            return closeable;
        }

        /** @return the metrics page of a role that runs now. */
        URI run(final Role role)
        {
            final RoleRunner runner = RoleRunner.start(role, false);
            add(() ->
            {
                runner.stop();
                assertThat(runner.awaitEnd(STEP_NS)).isTrue();
            });
            assertThat(runner.awaitReady(STEP_NS)).as(runner.failure()).isTrue();
            return URI.create("http://localhost:" + add(HealthServer.open(0, role, runner::isReady)).port() +
                "/metrics");
        }

        @Override
        public void close()
        {
            CloseHelper.closeAll(opened);
        }
    }

    /** Scrapes until the page is as wanted: figures are published some times a second. */
    private static List<String> await(final HttpClient http, final URI page, final Predicate<List<String>> wanted)
        throws Exception
    {
        final long deadlineNs = System.nanoTime() + STEP_NS;
        while (true)
        {
            final HttpResponse<String> answer =
                http.send(HttpRequest.newBuilder(page).build(), HttpResponse.BodyHandlers.ofString());
            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(answer.headers().firstValue("Content-Type")).hasValueSatisfying(
                (type) -> assertThat(type).startsWith("text/plain; version=0.0.4"));
            final List<String> lines = answer.body().lines().toList();
            if (wanted.test(lines))
            {
                return lines;
            }
            assertThat(System.nanoTime() - deadlineNs).as("%s", lines).isNegative();
            Thread.sleep(50);
        }
    }

    private static TreeSet<String> namesOn(final List<String> page)
    {
        final TreeSet<String> names = new TreeSet<>();
        page.stream().filter((line) -> line.startsWith("# TYPE verbena_"))
            .forEach((line) -> names.add(line.split(" ")[2]));
        return names;
    }

    /** Packets are counted where there are some, which shared memory has not; one meta server is no group. */
    private static TreeSet<String> namesInTheCatalogue(final Metric.Source source, final Metric... absent)
    {
        final TreeSet<String> names = new TreeSet<>();
        Arrays.stream(Metric.values()).filter((metric) -> metric.sources().contains(source))
            .filter((metric) -> !Arrays.asList(absent).contains(metric) && !metric.name().startsWith("NETWORK_") &&
                !metric.name().startsWith("GROUP_"))
            .forEach((metric) -> names.add(metric.exposedName()));
        return names;
    }

    @Test
    void shouldExposeTheCatalogueAndCountExactly(@TempDir final Path directory) throws Exception
    {
        try (Opened opened = new Opened())
        {
            final String fabricName = "soft:" + directory.resolve("fabric");
            final Fabric fabric = opened.add(Fabrics.open(fabricName));
            final ClusterToken token = ClusterToken.readOrCreate(directory.resolve("token"));
            final MetaServerRole metaRole = MetaServerRole.open(fabric, fabricName,
                new ClusterAddress("127.0.0.1", 0), token, directory.resolve("data"), true,
                new MetaServerConfiguration().leaseNs(TimeUnit.SECONDS.toNanos(60)));
            final URI meta = opened.run(metaRole);
            final MetaServerLocator locator = new BootstrapLocator(
                metaRole.address(), token, BootstrapClient.ask(metaRole.address(), token, 10_000));
            final URI memory = opened.run(MemoryNodeRole.open(fabric, locator, 16 << 20));
            final URI compute = opened.run(
                ComputeNodeRole.open(
                fabric, locator, null, new ComputeNodeConfiguration().slowThresholdNs(0), CLIENTS));
            final HttpClient http = opened.add(HttpClient.newHttpClient());
            final Device device = fabric.openDevice("client");
            try (KvClient client = RemoteKvClient.open(device, locator, new KvClientOptions(), device::close))
            {
                work(client.createTable("t", new TableOptions(1_000)).withTimeout(Duration.ofSeconds(40)));
                checkCompute(await(http, compute, (page) ->
                    page.contains("verbena_round_trips_total{kind=\"delete\"} 1.0") && page.contains(
                    "verbena_clients 1.0") && value(page, "verbena_held_bytes") > 0 &&
                    value(page, "verbena_table_fill_ratio{table=\"t\"}") > 0));
            }
            checkMemory(await(http, memory, (page) -> !page.contains("verbena_memory_bytes{use=\"record\"} 0.0")));
            checkMeta(await(http, meta, (page) ->
                page.contains("verbena_nodes{role=\"compute-node\",state=\"live\"} 1.0") &&
                    page.contains("verbena_tables 1.0") &&
                    // One compute node: what it has passed is safe. The two are not published at one instant.
                    value(page, "verbena_passed_epoch{node_id=\"2\"}") == value(page, "verbena_safe_epoch")));
        }
    }

    /** 5 PUTs, 7 GETs that find and 3 that do not, 1 DELETE. */
    private static void work(final KvTable table)
    {
        for (int i = 0; i < 5; i++)
        {
            table.put(bytes("key " + i), bytes("value"));
        }
        for (int i = 0; i < 10; i++)
        {
            assertThat(table.get(bytes(i < 7 ? "key 1" : "absent")).isPresent()).isEqualTo(i < 7);
        }
        table.delete(bytes("key 4"));
    }

    private static void checkCompute(final List<String> page)
    {
        assertThat(page).contains(
            "verbena_ready{role=\"compute-node\"} 1.0",
            "verbena_operations_total{answer=\"stored\",kind=\"put\"} 5.0",
            "verbena_operations_total{answer=\"found\",kind=\"get\"} 7.0",
            "verbena_operations_total{answer=\"not_found\",kind=\"get\"} 3.0",
            "verbena_operations_total{answer=\"deleted\",kind=\"delete\"} 1.0",
            "verbena_operation_duration_seconds_count{kind=\"get\"} 10",
            "verbena_operation_duration_seconds_bucket{kind=\"get\",le=\"+Inf\"} 10",
            "verbena_operation_duration_seconds_count{kind=\"put\"} 5",
            "verbena_queue_wait_seconds_count 16",
            "verbena_slow_operations_total 16.0",
            "verbena_response_seconds_count 16",
            "verbena_operation_slots 64.0",
            "verbena_operation_retries_total{reason=\"lost_swap\"} 0.0",
            "verbena_clients_limit " + (double)CLIENTS,
            "verbena_limit_taken{limit=\"clients\"} 1.0",
            "verbena_limit{limit=\"clients\"} " + (double)CLIENTS,
            "verbena_limit_taken{limit=\"memory_nodes\"} 1.0",
            "verbena_limit{limit=\"memory_nodes\"} 128.0",
            "verbena_limit_taken{limit=\"client_queue_pairs\"} 1.0",
            "verbena_memory_nodes_reached 1.0",
            "verbena_meta_server_reached 1.0",
            "verbena_unexpected_failures_total 0.0",
            "verbena_growth_total{kind=\"split\"} 0.0",
            "verbena_growth_total{kind=\"merge\"} 0.0",
            "verbena_growth_under_way{kind=\"split\"} 0.0",
            "verbena_growth_waiting{for=\"turn\"} 0.0",
            "verbena_growth_waiting{for=\"publication\"} 0.0",
            "verbena_table_subtables{table=\"t\"} 1.0");
        // 4 records in room for 1,000, of which looks have read a part.
        assertThat(value(page, "verbena_table_fill_ratio{table=\"t\"}")).isBetween(0.0001, 0.02);
        assertThat(value(page, "verbena_waiting_bytes")).isNotNegative().isLessThan(value(page, "verbena_held_bytes"));
        assertThat(value(page, "verbena_heap_allocated_bytes_total")).isGreaterThan(100_000);
        assertThat(namesOn(page)).isEqualTo(namesInTheCatalogue(Metric.Source.COMPUTE_NODE));
    }

    private static void checkMemory(final List<String> page)
    {
        // It keeps its memory in no folder, so that it makes no checkpoints.
        assertThat(namesOn(page)).isEqualTo(namesInTheCatalogue(Metric.Source.MEMORY_NODE,
            Metric.CHECKPOINT_FAILING, Metric.CHECKPOINT_FINISHED, Metric.CHECKPOINT_RECORDS,
            Metric.CHECKPOINT_DURATION));
        final double allBytes = page.stream().filter((line) -> line.startsWith("verbena_memory_bytes{"))
            .mapToDouble((line) -> Double.parseDouble(line.substring(line.indexOf("} ") + 2))).sum();
        assertThat(allBytes).isBetween(15.0 * (1 << 20), 16.0 * (1 << 20));
    }

    private static double value(final List<String> page, final String name)
    {
        return page.stream().filter((line) -> line.startsWith(name + ' '))
            .mapToDouble((line) -> Double.parseDouble(line.substring(name.length() + 1))).findFirst().orElse(-1);
    }

    private static void checkMeta(final List<String> page)
    {
        assertThat(value(page, "verbena_safe_epoch")).isPositive().isLessThan(value(page, "verbena_epoch"));
        assertThat(page).contains(
            "verbena_nodes{role=\"memory-node\",state=\"live\"} 1.0",
            "verbena_nodes{role=\"memory-node\",state=\"lost\"} 0.0",
            "verbena_limit_taken{limit=\"nodes\"} 2.0",
            "verbena_limit{limit=\"nodes\"} 128.0",
            "verbena_limit_taken{limit=\"identities\"} 6.0", // two nodes, and spares for four
            "verbena_limit{limit=\"identities\"} 65535.0",
            "verbena_limit_taken{limit=\"waiting_registrations\"} 0.0",
            "verbena_limit{limit=\"waiting_registrations\"} 1024.0",
            "verbena_tables 1.0");
        assertThat(page).filteredOn((line) -> line.startsWith("verbena_lease_remaining_seconds{")).hasSize(2)
            .allSatisfy((line) -> assertThat(Double.parseDouble(line.substring(line.indexOf("} ") + 2)))
                .isBetween(1.0, 60.5));
        assertThat(namesOn(page)).isEqualTo(namesInTheCatalogue(Metric.Source.META_SERVER));
    }
}
