package io.verbena.load.bench;

import org.agrona.concurrent.SystemNanoClock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(60)
class ConnectionsBenchmarkTest
{
    @Test
    void shouldMeasureEachFigureBesideItsReference() throws IOException
    {
        final List<TableFigure> heard = new ArrayList<>();
        final List<TableFigure> figures = new ConnectionsBenchmark(
            ConnectionsBenchmark.MIN_CONNECTIONS, 100, SystemNanoClock.INSTANCE, heard::add).run();
        assertThat(figures).isEqualTo(heard);
        assertThat(figures).extracting(TableFigure::name).containsExactly(
            "connections_idle", "connections_idle_registered", "connections_allocation_per_request",
            "connections_queue_pair_each_heap", "connections_read_against_queue_pair_each",
            "connections_read_against_one", "connections_call_with_shared_receives");
        assertThat(figures).filteredOn(figure -> !Double.isNaN(figure.bare())).hasSize(3)
            .allMatch(figure -> figure.value() > 0 && figure.bare() > 0);
        // A connection more registers nothing, whatever else the heap does meanwhile.
        assertThat(figures.get(1).value()).isZero();
    }
}
