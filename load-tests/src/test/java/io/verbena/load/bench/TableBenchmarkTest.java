package io.verbena.load.bench;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.agrona.concurrent.SystemNanoClock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(120)
class TableBenchmarkTest
{
    @Test
    void shouldMeasureEveryFigure() throws IOException
    {
        final List<TableFigure> heard = new ArrayList<>();
        final List<TableFigure> figures = new TableBenchmark(2_000, SystemNanoClock.INSTANCE, heard::add).run();
        assertThat(figures).isEqualTo(heard);
        assertThat(figures).extracting(TableFigure::name).containsExactly("cached_get", "cold_get", "cached_update",
            "cached_get_in_batches", "cached_update_in_batches", "get_some_epochs_later", "update_some_epochs_later",
            "allocation_per_get", "allocation_per_put",
            "get_against_chronicle_map", "update_against_chronicle_map", "independent_get_against_chronicle_map",
            "independent_update_against_chronicle_map", "load_factor_at_first_failed_insert",
            "index_bytes_per_key_at_0.90");
        for (final TableFigure figure : figures.subList(0, 7))
        {
            // No speed is demanded of a small run on any machine.
            assertThat(figure.value()).isPositive();
            assertThat(figure.bare()).isPositive();
        }
        assertThat(figures.subList(9, 13)).allMatch(figure -> figure.bare() > 0);
        // These depend on no clock.
        assertThat(figures.subList(7, 9)).allMatch(TableFigure::isReached);
        assertThat(figures.get(13).value()).isBetween(0.90, 0.95);
        assertThat(figures.get(14).isReached()).isTrue();
    }

    @Test
    void shouldReachNobodyWithTheMapItComparesWith() throws IOException
    {
        assertThat(ChronicleMapProcess.run(1_000, 1_000, 1).openSockets()).isZero();
    }

    @Test
    void shouldJudgeRatiosAndBounds()
    {
        assertThat(TableFigure.ratio("get", 200, 100, 2).isReached()).isTrue();
        assertThat(TableFigure.ratio("get", 201, 100, 2).isReached()).isFalse();
        assertThat(TableFigure.faster("get", 100, 250, 2.5).isReached()).isTrue();
        assertThat(TableFigure.faster("get", 101, 250, 2.5).isReached()).isFalse();
        assertThat(TableFigure.reported("get", 100, 1).isReached()).isTrue();
        assertThat(TableFigure.of("load", 0.89, "of slots", 0.90, false).isReached()).isFalse();
    }
}
