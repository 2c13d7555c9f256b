package io.verbena.cli;

import io.verbena.cli.console.ExitStatus;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;

import static org.assertj.core.api.Assertions.assertThat;

/** The commands over the simulator: what they print and write, and what they refuse. */
class BenchSimCommandTest
{
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @TempDir
    private Path folder;

    @Test
    void shouldMeasureScenarios() throws IOException
    {
        final Path json = folder.resolve("sim.json");
        assertThat(run("bench", "sim", "--scenarios", "50", "--threads", "2", "--json", json.toString()))
            .as(err.toString()).isZero();
        assertThat(out.toString()).startsWith("50 scenarios in ").contains("a second", "2 threads");
        assertThat(Files.readString(json)).contains("\"benchmark\":\"sim\"", "\"scenarios_count\":50",
            "\"scenarios_per_second\":", "\"faults_count\":");
    }

    @Test
    void shouldPredictAndDraw() throws IOException
    {
        final Path json = folder.resolve("scaling.json");
        final Path plot = folder.resolve("scaling.svg");
        assertThat(run("bench", "qp-scaling", "--read-bytes", "64", "--connections", "10,500", "--json",
            json.toString(), "--plot", plot.toString())).as(err.toString()).isZero();
        assertThat(out.toString().lines()).hasSize(3);
        assertThat(Files.readString(json)).contains("\"kind\":\"predicted\"", "\"rnic_model\":\"connectx3-roce\"",
            "\"series\":\"shared\"", "\"connections_count\":500");
        assertThat(Files.readString(plot)).startsWith("<svg ");
    }

    @Test
    void shouldRefuseWhatCannotBe()
    {
        assertThat(run("bench", "sim", "--scenarios", "0")).isEqualTo(ExitStatus.USAGE);
        assertThat(run("bench", "sim", "--threads", "0")).isEqualTo(ExitStatus.USAGE);
        assertThat(run("bench", "qp-scaling", "--read-bytes", "0")).isEqualTo(ExitStatus.USAGE);
        assertThat(run("bench", "qp-scaling", "--connections", "5,5")).isEqualTo(ExitStatus.USAGE);
        assertThat(run("bench", "tenants", "--weight", "0")).isEqualTo(ExitStatus.USAGE);
        assertThat(run("bench", "tenants", "--weight", "heavy")).isEqualTo(ExitStatus.USAGE);
        assertThat(run("bench", "tenants", "--queue-slots", "0")).isEqualTo(ExitStatus.USAGE);
        assertThat(run("bench", "tenants", "--slices", "61")).isEqualTo(ExitStatus.USAGE);
        assertThat(err.toString().lines()).hasSize(8).allMatch(line -> line.startsWith("verbena: "));
    }

    private int run(final String... args)
    {
        return VerbenaCommand.commandLine(false)
            .setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true)).execute(args);
    }
}
