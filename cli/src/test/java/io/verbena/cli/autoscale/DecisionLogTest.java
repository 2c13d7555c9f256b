package io.verbena.cli.autoscale;

import io.verbena.cli.CommandLines;
import io.verbena.cli.autoscale.policy.Decision;
import io.verbena.cli.autoscale.policy.Decision.Rule;
import io.verbena.cli.autoscale.policy.Demand;
import io.verbena.cli.cluster.ClusterFolder;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class DecisionLogTest
{
    @TempDir
    private Path directory;

    private static Map<String, Object> record(final int from, final int to, final String outcome)
    {
        return new DecisionRecord(1_000L * to, new Decision(from, to, to, Rule.USE, "use of 1.50 nodes"),
            new Demand(from, 1.5, 12_345, 678, 9, 1.7), outcome, "").json();
    }

    private CommandLines.Result explain(final String... more)
    {
        final List<String> all = new ArrayList<>(
            List.of("autoscale", "explain", "--data", directory.toString()));
        all.addAll(List.of(more));
        return CommandLines.run(all);
    }

    @Test
    void shouldExplainWhatWasChanged() throws IOException
    {
        assertThat(explain().status()).isEqualTo(ExitStatus.UNAVAILABLE);
        assertThat(explain().err()).hasLineCount(1).contains("'verbena autoscale' makes some");
        try (DecisionLog log = DecisionLog.open(new ClusterFolder(directory), 1 << 20))
        {
            assertThat(log.add(record(1, 1, DecisionRecord.HELD))).isNull();
            assertThat(explain().out()).startsWith("nothing was changed in 1 decisions");
            log.add(record(1, 3, DecisionRecord.DONE));
            log.add(record(3, 3, DecisionRecord.HELD));
            log.add(record(3, 2, DecisionRecord.FAILED));
        }
        assertThat(explain().out().lines()).hasSize(2).first().asString()
            .endsWith("1 -> 3  use of 1.50 nodes; done  [12,345 operations/s, p99 678 us, wait p99 9 us]");
        assertThat(explain("--last", "1").out()).contains("3 -> 2").hasLineCount(1);
        assertThat(explain("--all").out()).hasLineCount(4);
        assertThat(explain("--json").out().lines()).hasSize(2).first().asString()
            .contains("\"from\":1", "\"to\":3", "\"rule\":\"use\"", "\"use_nodes\":1.5", "\"wait_p99_us\":9.0");
        assertThat(explain("--last", "0").err()).isEqualTo("verbena: --last 0: must be 1 to 1000000\n");
    }

    @Test
    void shouldSurviveALineThatWasTorn() throws IOException
    {
        try (DecisionLog log = DecisionLog.open(new ClusterFolder(directory), 1 << 20))
        {
            log.add(record(1, 2, DecisionRecord.DONE));
            Files.writeString(directory.resolve("autoscale.log"), "{\"time_ms\":1,\"fr", StandardOpenOption.APPEND);
            assertThat(DecisionLog.read(new ClusterFolder(directory))).hasSize(1);
            log.add(record(2, 3, DecisionRecord.DONE));
            log.add(record(3, 4, DecisionRecord.DONE));
        }
        assertThat(DecisionLog.read(new ClusterFolder(directory))).hasSize(3);
        assertThat(Files.readString(directory.resolve("autoscale.log"))).as("each on a line of its own, none empty")
            .hasLineCount(4).doesNotContain("\n\n").doesNotStartWith("\n");
    }

    @Test
    void shouldKeepOneOldFile() throws IOException
    {
        try (DecisionLog log = DecisionLog.open(new ClusterFolder(directory), 2_000))
        {
            for (int i = 0; i < 50; i++)
            {
                log.add(record(i, i + 1, DecisionRecord.DONE));
            }
        }
        final List<Map<String, Object>> kept = DecisionLog.read(new ClusterFolder(directory));
        assertThat(kept).hasSizeBetween(5, 15);
        assertThat(kept.getLast().get("to")).isEqualTo(50L);
        assertThat(directory.toFile().list()).containsExactlyInAnyOrder(
            "autoscale.lock", "autoscale.log", "autoscale.log.1");
        final List<Object> inOrder = kept.stream().map((record) -> record.get("to")).toList();
        assertThat(inOrder).as("the old file first, none left out").isEqualTo(
            LongStream.rangeClosed(51 - kept.size(), 50).boxed().toList());
        final int old = Files.readAllLines(directory.resolve("autoscale.log.1")).size();
        assertThat(old).isPositive().isLessThan(kept.size());
        Files.delete(directory.resolve("autoscale.log"));
        assertThat(DecisionLog.read(new ClusterFolder(directory))).as("a moment after the change").hasSize(old);
    }

    @Test
    void shouldShowTheLatestEventsOfALongLog() throws IOException
    {
        final ClusterFolder folder = new ClusterFolder(directory);
        assertThat(RecentDecisions.of(folder, 3)).isEmpty();
        try (DecisionLog log = DecisionLog.open(folder, 1 << 20))
        {
            for (int i = 0; i < 700; i++)
            {
                log.add(record(i, i + 1, DecisionRecord.DONE));
                log.add(record(i + 1, i + 1, DecisionRecord.HELD));
            }
        }
        assertThat(Files.size(directory.resolve("autoscale.log"))).as("more than what is read")
            .isGreaterThan(300_000);
        assertThat(RecentDecisions.of(folder, 3)).extracting((record) -> record.get("to"))
            .containsExactly(700L, 699L, 698L);
        final List<Map<String, Object>> end = DecisionLog.readEnd(folder);
        assertThat(end).hasSizeBetween(500, 1_300).allMatch((record) -> record.get("wait_p99_us") instanceof Number);
        final List<Map<String, Object>> all = DecisionLog.read(folder);
        assertThat(end).as("the last ones, and all of them")
            .isEqualTo(all.subList(all.size() - end.size(), all.size()));
        final int lineBytes = Files.readAllLines(directory.resolve("autoscale.log")).getLast().length() + 1;
        assertThat(end.size()).as("as many as are whole in 256 KiB").isBetween(
            (256 << 10) / (lineBytes + 6) - 1, (256 << 10) / (lineBytes - 6) + 1);
    }

    @Test
    void shouldSayBothWhatWasDoneAndWhatWentWrong()
    {
        final DecisionRecord done = new DecisionRecord(1_000, new Decision(1, 2, 2, Rule.USE, "use of 1.50 nodes"),
            new Demand(1, 1.5, 12_345, 678, 9, 1.7), DecisionRecord.DONE, "in 5 ms");
        assertThat(DecisionRecord.line(done.withTrouble("no spare").json()))
            .contains("1 -> 2  use of 1.50 nodes; done: in 5 ms; no spare  [");
        final DecisionRecord held = new DecisionRecord(1_000, new Decision(2, 2, 2, Rule.HOLD, "use fits"),
            new Demand(2, 1.5, 1, 1, 1, 1), DecisionRecord.HELD, "");
        assertThat(DecisionRecord.line(held.withTrouble("no spare").json())).contains("2 stay  use fits: no spare  [");
    }

    @Test
    void shouldPrintNothingForAProgramWhereNothingWasChanged()
    {
        try (DecisionLog log = DecisionLog.open(new ClusterFolder(directory), 1 << 20))
        {
            log.add(record(1, 1, DecisionRecord.HELD));
        }
        assertThat(explain("--json").out()).isEmpty();
        assertThat(explain("--json", "--all").out()).hasLineCount(1);
        assertThat(explain("--last", "1000001").status()).isEqualTo(ExitStatus.USAGE);
    }

    @Test
    void shouldHaveOneWriter()
    {
        try (DecisionLog log = DecisionLog.open(new ClusterFolder(directory), 1))
        {
            assertThat(log).isNotNull();
            final CommandLines.Result second = CommandLines.run(
                List.of("autoscale", "--data", directory.toString(), "--rounds", "1"));
            assertThat(second.status()).isEqualTo(ExitStatus.UNAVAILABLE);
            assertThat(second.err()).hasLineCount(1).contains("another 'verbena autoscale' runs");
        }
        DecisionLog.open(new ClusterFolder(directory), 1).close();
        assertThatThrownBy(() -> DecisionLog.open(new ClusterFolder(directory.resolve("absent")), 1))
            .isInstanceOf(CommandFailedException.class).hasMessageContaining("'verbena up'");
    }

    @Test
    void shouldRefuseWhatCannotBe()
    {
        assertThat(CommandLines.run(List.of("autoscale", "--min", "3", "--max", "2")).err())
            .isEqualTo("verbena: --max 2: must not be less than --min 3\n");
        assertThat(CommandLines.run(List.of("autoscale", "--target", "91")).err())
            .isEqualTo("verbena: --target 91: must be 1 to 90\n");
        assertThat(CommandLines.run(List.of("autoscale", "--period", "0")).status()).isEqualTo(ExitStatus.USAGE);
    }
}
