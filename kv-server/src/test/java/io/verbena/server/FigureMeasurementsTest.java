package io.verbena.server;

import io.verbena.compute.figures.GrowthFigures;
import io.verbena.compute.figures.NodeCounters;
import io.verbena.compute.figures.SpaceFigures;
import io.verbena.compute.figures.TableFill;
import io.verbena.protocol.message.DeniedOperations;
import io.verbena.raas.limit.RaasLimit;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.VerbCounters;
import io.verbena.server.metrics.Measurements;
import io.verbena.server.metrics.MetricsPage;
import io.verbena.table.operation.EngineCounters;

import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

/** Each figure of growth, memory and packets stands on the page under its own name. */
class FigureMeasurementsTest
{
    private static final String UNSEALED = "verbena_refused_unsealed_connections_total ";

    private final AtomicReference<Device.RefusedConnections> refused =
        new AtomicReference<>(Device.RefusedConnections.NONE);

    private static List<String> page(final Consumer<Measurements> source)
    {
        try (MetricsPage page = new MetricsPage(source))
        {
            return new String(page.scrape(), StandardCharsets.UTF_8).lines().toList();
        }
    }

    private Device device(final Device.NetworkCounters counters)
    {
        return (Device)Proxy.newProxyInstance(
            FigureMeasurementsTest.class.getClassLoader(), new Class<?>[]{Device.class},
            (_, method, _) -> method.getName().equals("refusedConnections") ? refused.get() : counters);
    }

    @Test
    void shouldNameEachFigureOfTablesThatGrow()
    {
        final GrowthFigures growth = new GrowthFigures(11, 12, 1, 0, 15, 16,
            List.of(new TableFill("users", 8, 0.5), new TableFill("items", 1, 0.25))).after(100, 200);
        assertThat(page((measurements) -> ComputeMeasurements.measure(
            new NodeCounters(new VerbCounters(), new EngineCounters(), growth), measurements))).contains(
            "verbena_growth_total{kind=\"split\"} 111.0",
            "verbena_growth_total{kind=\"merge\"} 212.0",
            "verbena_growth_under_way{kind=\"split\"} 1.0",
            "verbena_growth_under_way{kind=\"merge\"} 0.0",
            "verbena_growth_waiting{for=\"turn\"} 15.0",
            "verbena_growth_waiting{for=\"publication\"} 16.0",
            "verbena_table_fill_ratio{table=\"users\"} 0.5",
            "verbena_table_fill_ratio{table=\"items\"} 0.25",
            "verbena_table_subtables{table=\"users\"} 8.0",
            "verbena_table_subtables{table=\"items\"} 1.0");
    }

    @Test
    void shouldLabelALimitByItsNameWithoutSpaces()
    {
        assertThat(page((measurements) -> LimitFigures.measure(
            List.of(new RaasLimit("connections of nodes", 3, 512, "--max-nodes")), measurements))).contains(
            "verbena_limit_taken{limit=\"connections_of_nodes\"} 3.0",
            "verbena_limit{limit=\"connections_of_nodes\"} 512.0");
    }

    @Test
    void shouldNameEachFigureOfMemoryOnceItIsKnown()
    {
        assertThat(page((measurements) -> ComputeMeasurements.measure(
            new SpaceFigures(1, true, 2, 3, 4, 5), measurements))).contains(
            "verbena_held_bytes 1.0", "verbena_unknown_bytes 2.0", "verbena_waiting_bytes 3.0",
            "verbena_sweeps_total{state=\"asked\"} 4.0", "verbena_sweeps_total{state=\"ended\"} 5.0");
        assertThat(page((measurements) -> ComputeMeasurements.measure((SpaceFigures)null, measurements)))
            .noneMatch((line) -> line.startsWith("verbena_"));
    }

    @Test
    void shouldNameEachFigureOfPacketsWhereThereAreSome()
    {
        final Device.NetworkCounters counters = new Device.NetworkCounters(1, 2, 3, 4, 5, 6, 7);
        assertThat(page((measurements) -> ProcessMeasurements.measure(device(counters), measurements))).contains(
            "verbena_network_packets_total{direction=\"sent\"} 1.0",
            "verbena_network_packets_total{direction=\"received\"} 2.0",
            "verbena_network_retransmits_total 3.0",
            "verbena_network_timeouts_total 4.0",
            "verbena_network_drops_total{reason=\"invalid\"} 5.0",
            "verbena_network_drops_total{reason=\"unsendable\"} 6.0",
            "verbena_network_congestion_notifications_total 7.0");
        assertThat(counters.plus(new Device.NetworkCounters(10, 20, 30, 40, 50, 60, 70)))
            .isEqualTo(new Device.NetworkCounters(11, 22, 33, 44, 55, 66, 77));
        assertThat(page((measurements) -> ProcessMeasurements.measure(device(null), measurements)))
            .anyMatch((line) -> line.startsWith("verbena_heap_allocated_bytes_total "))
            .noneMatch((line) -> line.startsWith("verbena_network_"));
    }

    @Test
    void shouldReportConnectionsWithoutTheKeyOfSealedPackets()
    {
        final Device device = device(null);
        final List<String> audited = new ArrayList<>();
        final RefusedUnsealed unsealed = unsealed(device, audited);
        final Map<String, Object> figures = new HashMap<>();
        unsealed.poll(1);
        unsealed.put(figures);
        assertThat(audited).isEmpty();
        assertThat(figures).containsOnly(entry("refused_unsealed_connections", 0L),
            entry("last_refused_unsealed_connection", ""));
        assertThat(page((measurements) -> ProcessMeasurements.measure(device, measurements)))
            .contains(UNSEALED + "0.0");

        refused.set(new Device.RefusedConnections(2, "fd00::7"));
        unsealed.poll(2);
        unsealed.poll(3);
        refused.set(new Device.RefusedConnections(1_000_000, "fd00::8"));
        unsealed.poll(1_000_000_001);
        assertThat(audited).as("once a second at most").containsExactly("2 times, the last of fd00::7");
        unsealed.poll(1_000_000_002);
        unsealed.poll(3_000_000_000L);
        unsealed.put(figures);
        assertThat(audited).as("what came since").containsExactly(
            "2 times, the last of fd00::7", "999998 times, the last of fd00::8");
        assertThat(figures).containsOnly(entry("refused_unsealed_connections", 1_000_000L),
            entry("last_refused_unsealed_connection", "fd00::8"));
        assertThat(page((measurements) -> ProcessMeasurements.measure(device, measurements)))
            .contains(UNSEALED + "1000000.0");
        assertThat((RefusedUnsealed.WHAT + ", the last of " + "0000:".repeat(8)).length())
            .isLessThan(DeniedOperations.MAX_TEXT_BYTES);
    }

    private static RefusedUnsealed unsealed(final Device device, final List<String> audited)
    {
        return new RefusedUnsealed(device, LoggerFactory.getLogger(FigureMeasurementsTest.class),
            (last, times) -> audited.add(times + " times, the last of " + last), 0);
    }

    /** A device outlives the role of a meta server that leads its group, and leads it again. */
    @Test
    void shouldNotReportAgainWhatTheDeviceRefusedBefore()
    {
        final List<String> audited = new ArrayList<>();
        refused.set(new Device.RefusedConnections(7, "fd00::7"));
        final RefusedUnsealed unsealed = unsealed(device(null), audited);
        unsealed.poll(1);
        assertThat(audited).isEmpty();
        refused.set(new Device.RefusedConnections(8, "fd00::8"));
        unsealed.poll(2);
        assertThat(audited).containsExactly("1 times, the last of fd00::8");
    }
}
