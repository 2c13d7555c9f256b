package io.verbena.load.wire;

import io.verbena.load.LoadException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

@Timeout(120)
class WireBenchmarkTest
{
    @Test
    void shouldMeasureEveryFigure() throws IOException
    {
        assumeTrue(WireBenchmark.isPermitted(), "no network namespaces may be made here, or 'ip' is absent");
        final List<WireFigure> heard = new ArrayList<>();
        final List<String> notes = new ArrayList<>();
        final List<WireFigure> figures = new WireBenchmark(
            new WireOptions(1_500, 64, 1, 20, ""), heard::add, notes::add).run();

        assertThat(figures).isEqualTo(heard);
        final List<String> names = new ArrayList<>(List.of("read_64_one_outstanding",
            "cas_one_outstanding", "write_128_one_outstanding", "read_64_in_batches_of_64", "read_1_mib",
            "raw_transfers_with_loss", "responder_cpu_per_read", "allocated_per_packet_requester",
            "allocated_per_packet_responder"));
        if (notes.stream().noneMatch(note -> note.contains("shared link")))
        {
            names.addAll(List.of("shared_link_of_16_writers", "shared_link_least_writer",
                "shared_link_at_1_percent_loss", "shared_link_failed_writes"));
        }
        final int gets = names.size();
        names.addAll(List.of("get_cached_as_scheduled", "udp_echo_as_scheduled", "get_sleeping_memory_as_scheduled",
            "get_cached_best_placement", "udp_echo_best_placement", "gets_per_second_in_batches_of_64",
            "udp_echo_per_second_in_batches_of_64", "cpu_per_get_in_batches_of_64",
            "cpu_per_udp_echo_in_batches_of_64", "memory_node_cpu_per_get", "memory_node_cpu_per_update",
            "memory_node_gets_per_second_under_load_1_thread", "memory_node_cpu_per_get_under_load_1_thread",
            "memory_node_cpu_under_load_1_thread", "memory_node_gets_per_second_under_load_2_threads",
            "memory_node_cpu_per_get_under_load_2_threads", "memory_node_cpu_under_load_2_threads"));
        assertThat(figures).extracting(WireFigure::name).containsExactlyElementsOf(names);
        final boolean hasRedis = notes.stream().noneMatch(note -> note.startsWith("GETs"));
        assertThat(figures.subList(gets, gets + 8)).allSatisfy(figure ->
        {
            assertThat(figure.value()).isPositive();
            assertThat(Double.isNaN(figure.reference())).as("without Redis it says so").isEqualTo(!hasRedis);
        });
        assertThat(figures).filteredOn(figure -> !Double.isNaN(figure.floor())).extracting(WireFigure::name)
            .as("those that plain UDP stood in for").containsExactlyElementsOf(!hasRedis ? List.of() : List.of(
                "get_cached_as_scheduled", "get_sleeping_memory_as_scheduled", "get_cached_best_placement",
                "gets_per_second_in_batches_of_64"));
        // No speed is demanded of a short run on any machine, and garbage of code that is not compiled yet is none.
        assertThat(figures.subList(0, 5)).allSatisfy(figure ->
        {
            assertThat(figure.value()).isPositive();
            assertThat(figure.reference()).isPositive();
        });
    }

    @Test
    void shouldMeasureWhatIsWantedOnly() throws IOException
    {
        assumeTrue(WireBenchmark.isPermitted(), "no network namespaces may be made here, or 'ip' is absent");
        assertThat(new WireBenchmark(new WireOptions(1_500, 64, 1, 20, "write_"), figure -> {}, note -> {}).run())
            .extracting(WireFigure::name).containsExactly("write_128_one_outstanding");
        final WireOptions link = new WireOptions(1_500, 64, 1, 20, "shared_link_f");
        final List<String> notes = new ArrayList<>();
        final List<WireFigure> figures = new WireBenchmark(link, figure -> {}, notes::add).run();
        assumeTrue(notes.isEmpty(), "no slow link can be made here");
        assertThat(figures.getLast().name()).isEqualTo("shared_link_failed_writes");
        assertThat(figures.getLast().value()).isZero();
        assertThat(figures).as("what is measured with it, too").hasSize(4);
    }

    @Test
    void shouldJudgeRatiosAndBounds()
    {
        assertThat(WireFigure.ratio("read", "us", 15, 10, 1.5).isReached()).isTrue();
        assertThat(WireFigure.ratio("read", "us", 15.1, 10, 1.5).isReached()).isFalse();
        assertThat(WireFigure.atLeast("bulk", "Gbit/s", 5, 10, 0.5).isReached()).isTrue();
        assertThat(WireFigure.atLeast("bulk", "Gbit/s", 4.9, 10, 0.5).isReached()).isFalse();
        final WireFigure rate = WireFigure.atLeast("rate", "1/s", 5, 10, 0.7);
        assertThat(rate.isReachable()).isTrue();
        assertThat(rate.withFloor(0.7).isReachable()).isTrue();
        assertThat(rate.withFloor(0.69).isReachable()).isFalse();
        assertThat(rate.withFloor(0.7).isReached()).as("a floor changes no verdict").isFalse();
        assertThat(WireFigure.value("garbage", "bytes", 1, 0).isReached()).isFalse();
        assertThat(WireFigure.value("losses", "count", 1, Double.NaN).isReached()).isTrue();
    }

    @Test
    void shouldCarryFiguresAsLines()
    {
        final WireFigure figure = WireFigure.ratio("read", "us", 15.25, 10, 1.5);
        assertThat(WireFigure.parse(figure.line())).isEqualTo(figure);
        final WireFigure alone = WireFigure.value("losses", "count", 3, Double.NaN);
        assertThat(WireFigure.parse(alone.line())).isEqualTo(alone);
        final WireFigure floored = WireFigure.atLeast("get", "1/s", 5, 10, 0.7).withFloor(0.6);
        assertThat(WireFigure.parse(floored.line())).isEqualTo(floored);
    }

    @Test
    void shouldChooseThePathMtuThatFitsTheLink()
    {
        assertThat(new WireOptions(1_280, 64, 1, 1, "").pathMtuBytes()).isEqualTo(1_024);
        assertThat(new WireOptions(1_500, 64, 1, 1, "").pathMtuBytes()).isEqualTo(1_024);
        assertThat(new WireOptions(4_175, 64, 1, 1, "").pathMtuBytes()).isEqualTo(2_048);
        assertThat(new WireOptions(4_176, 64, 1, 1, "").pathMtuBytes()).isEqualTo(4_096);
        assertThat(new WireOptions(9_000, 64, 1, 1, "").pathMtuBytes()).isEqualTo(4_096);
        assertThatThrownBy(() -> new WireOptions(9_001, 64, 1, 1, "")).isInstanceOf(LoadException.class)
            .hasMessageContaining("9001");
        assertThatThrownBy(() -> new WireOptions(1_279, 64, 1, 1, "")).isInstanceOf(LoadException.class);
        assertThatThrownBy(() -> new WireOptions(1_500, 0, 1, 1, "")).isInstanceOf(LoadException.class)
            .hasMessageContaining("1 to 4096 packets: 0");
    }
}
