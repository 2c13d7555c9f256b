package io.verbena.load.bench;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.agrona.concurrent.SystemNanoClock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(60)
class LadderBenchmarkTest
{
    @Test
    void shouldMeasureEveryRung() throws IOException
    {
        final List<TableFigure> heard = new ArrayList<>();
        final List<TableFigure> figures =
            new LadderBenchmark(1_000, 4_000, SystemNanoClock.INSTANCE, heard::add).run();
        assertThat(figures).isEqualTo(heard);
        assertThat(figures).extracting(TableFigure::name).containsExactly(
            "get_bare", "get_locations", "get_loads", "get_copies", "get_verbs", "get_virtual_qp", "get_engine",
            "get_bare_in_batches", "get_locations_in_batches", "get_loads_in_batches", "get_copies_in_batches",
            "get_verbs_in_batches", "get_virtual_qp_in_batches", "get_engine_in_batches");
        assertThat(figures).allMatch(figure -> figure.value() > 0 && figure.bare() > 0 && figure.isReached());
    }
}
