package io.verbena.load.connect;

import org.agrona.concurrent.SystemNanoClock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

class ConnectBenchmarkTest
{
    @TempDir
    private Path directory;

    @Test
    void shouldCountWhatConnectingPosts()
    {
        final List<ConnectRow> rows =
            ConnectBenchmark.run("soft:" + directory.resolve("fabric"), 20, SystemNanoClock.INSTANCE);
        assertThat(rows).extracting(ConnectRow::figure).containsExactly(
            "known_peer", "unknown_peer", "queue_pair_on_open_device", "queue_pair_and_device");
        assertThat(rows).allMatch((row) -> row.ownUs() > 0);
        assertThat(rows.get(0).readsCount()).as("a peer that is known").isZero();
        assertThat(rows.get(0).sendsCount()).isZero();
        assertThat(rows.get(1).readsCount()).as("a peer that is not: its record").isEqualTo(1);
        assertThat(rows.get(1).sendsCount()).isZero();
        assertThat(rows.get(0).ownUs()).as("no queue pair is made").isLessThan(rows.get(2).ownUs());
    }

    @Test
    void shouldJudgeARatioOrAValue()
    {
        assertThat(ConnectRow.alone("x", 2, 1, 0, 0).isReached()).isFalse();
        assertThat(ConnectRow.alone("x", 1, 1, 0, 0).isReached()).isTrue();
        assertThat(ConnectRow.ratio("x", 3, 2, 1.5).isReached()).isTrue();
        assertThat(ConnectRow.ratio("x", 3, 2, 1.4).isReached()).isFalse();
        assertThat(ConnectRow.ratio("x", 3, 2, Double.NaN).fields())
            .containsEntry("judged_ratio", 1.5).containsEntry("goal_at_most", null).containsEntry("reached", null)
            .containsEntry("reads_count", null);
    }
}
