package io.verbena.cli.bench;

import io.verbena.cli.CommandLines;
import io.verbena.cli.console.ExitStatus;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

/**
 * The measurement of the port for clients of Redis, short; where there is none, without it, and with
 * {@code -Dverbena.bench.deep=true} both.
 */
@Timeout(300)
class BenchRespCommandSystemTest
{
    private static final String NUMBER = "[0-9.]+";

    @TempDir
    private Path folder;

    @Test
    void shouldPrintAndWriteEachRow() throws IOException
    {
        assumeThat(RedisPrograms.find(System.getenv("PATH")).missing()).as("Redis is installed").isNull();
        final Path json = folder.resolve("resp.json");
        final CommandLines.Result result = CommandLines.run(List.of("bench", "resp", "--records", "1000", "--requests",
            "1000", "--rounds", "1", "--latency-seconds", "1", "--json", json.toString()));
        assertThat(result.status()).as(result.err()).isIn(ExitStatus.OK, ExitStatus.FAILED);
        assertThat(result.out().lines().map((line) -> line.split(" ")[0])).containsExactly("figure", "record_bytes",
            "record_with_expiry_bytes",
            "get_pipeline_64_per_s", "get_pipeline_64_processor_ns", "get_pipeline_64_p99_us",
            "get_pipeline_1_per_s", "get_pipeline_1_processor_ns", "get_pipeline_1_p99_us", "get_half_load_p999_us",
            "set_pipeline_64_per_s", "set_pipeline_64_processor_ns", "set_pipeline_64_p99_us",
            "set_pipeline_1_per_s", "set_pipeline_1_processor_ns", "set_pipeline_1_p99_us", "set_half_load_p999_us",
            "network_threads_allocated_per_command_bytes", "node_thread_allocated_per_command_bytes");
        final String text = Files.readString(json).replaceAll("\\s", "");
        assertThat(text).contains("\"benchmark\":\"resp\"", "\"records_count\":1000", "\"latency_seconds\":1")
            .containsPattern("\"figure\":\"get_pipeline_64\",\"verbena_per_s\":" + NUMBER + ",\"redis_per_s\":" +
                NUMBER + ",\"ratio\":" + NUMBER + ",\"goal_at_least\":0.8,\"reached\":(true|false)")
            .containsPattern("\"figure\":\"set_half_load_p999\",\"verbena_us\":" + NUMBER + ",\"redis_us\":" + NUMBER +
                ",\"ratio\":" + NUMBER + ",\"goal_at_most\":1.5,\"reached\":(true|false)");
    }

    @Test
    void shouldSayWhatIsNotJudgedWithoutRedis() throws IOException, InterruptedException
    {
        assumeThat(Boolean.getBoolean("verbena.bench.deep") ||
            null != RedisPrograms.find(System.getenv("PATH")).missing()).as("Redis is not installed").isTrue();
        final RedisPrograms none = RedisPrograms.find(folder.toString());
        assertThat(none.missing()).isEqualTo("no redis-server and redis-benchmark on the PATH: rates and latencies " +
            "are not measured; install the packages redis-server and redis-tools");
        final StringWriter out = new StringWriter();
        final RespFigures figures = new RespFigures(new PrintWriter(out));
        new RespBenchmark(none, 1_000, 1_000, 1, 1, figures).run();
        assertThat(out.toString().lines().filter((line) -> line.endsWith("not judged"))).hasSize(8);
        assertThat(out.toString()).doesNotContain("NaN", "MISSED");
        assertThat(figures.isReached()).isTrue();
        assertThat(figures.rows()).extracting((row) -> row.get("reached")).containsOnlyNulls();
    }

    @Test
    void shouldJudgeByTheGoal()
    {
        final RespFigures figures = new RespFigures(new PrintWriter(new StringWriter()));
        figures.atLeast("rate", "per_s", 80, 100, 0.8);
        figures.atMost("latency", "us", 150, 100, 1.5);
        figures.ownAtMost("allocated", "bytes", 1, 1);
        figures.show("processor", "ns", 9, 1);
        assertThat(figures.isReached()).isTrue();
        figures.atLeast("rate", "per_s", 79, 100, 0.8);
        assertThat(figures.isReached()).isFalse();
        figures.atMost("latency", "us", 151, 100, 1.5);
        figures.ownAtMost("allocated", "bytes", 1.1, 1);
        figures.ownAtMost("allocated", "bytes", 0, 1);
        assertThat(figures.rows()).extracting((row) -> row.get("reached"))
            .containsExactly(true, true, true, null, false, false, false, true);
        assertThat(figures.isReached()).as("a goal that is reached does not hide one that was missed").isFalse();
    }

    @Test
    void shouldNotJudgeWhatWasNotMeasured()
    {
        final StringWriter out = new StringWriter();
        final RespFigures figures = new RespFigures(new PrintWriter(out));
        figures.atLeast("rate", "per_s", 80, Double.NaN, 0.8);
        figures.atMost("latency", "us", Double.NaN, Double.NaN, 1.5);
        figures.ownAtMost("allocated", "bytes", Double.NaN, 1);
        assertThat(out.toString().lines().filter((line) -> line.endsWith("not judged"))).hasSize(3);
        assertThat(out.toString()).doesNotContain("NaN", "MISSED");
        assertThat(figures.isReached()).isTrue();
        assertThat(figures.rows()).extracting((row) -> row.get("reached")).containsOnlyNulls();
    }

    @Test
    void shouldRefuseWhatCannotBe()
    {
        final CommandLines.Result result = CommandLines.run(List.of("bench", "resp", "--latency-seconds", "0"));
        assertThat(result.status()).isEqualTo(ExitStatus.USAGE);
        assertThat(result.err()).contains("--latency-seconds 0: must be 1 to 600").hasLineCount(1);
    }
}
