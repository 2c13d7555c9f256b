package io.verbena.cli;

import io.verbena.cli.console.ExitStatus;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;

import static org.assertj.core.api.Assertions.assertThat;

class FabricCommandTest
{
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private final String device = "soft:/dev/shm/verbena-cli-test-" + ProcessHandle.current().pid();

    @TempDir
    private Path folder;

    @Test
    void shouldListProvidersAndSayWhyOneCannotBeUsed()
    {
        assertThat(run("list")).isZero();
        assertThat(out.toString().lines().toList()).first().asString().contains("NAME", "USABLE", "DEVICES");
        assertThat(out.toString()).contains("soft[:DIRECTORY]").contains("yes");
    }

    @Test
    void shouldPrintAttributesOfDevice()
    {
        assertThat(run("info", "--device", device)).as(err.toString()).isZero();
        assertThat(out.toString()).contains(
            "device: " + device, "provider:", "max_qp_wr:", "max_cqe:", "capabilities:", "memory_pages:",
            "transports:");
    }

    @Test
    void shouldCheckRulesOneByOneAndEndWithCounts() throws Exception
    {
        final Path json = folder.resolve("check.json");
        final String rules = "Data.shouldSwap|Data.shouldLeaveWord";
        assertThat(run("check", "-d", device, "--rules", rules, "--json", json.toString())).isZero();
        assertThat(out.toString()).contains("pass         Data.shouldSwapAndReturnOldValueWhenExpectedValueIsFound");
        assertThat(out.toString().strip()).endsWith("2 rules on " + device + ": 2 pass, 0 fail, 0 unsupported");
        assertThat(Files.readString(json)).contains(
            "\"pass\":2", "\"fail\":0", "\"unsupported\":0", "\"duration_ns\":");
    }

    @Test
    void shouldMeasureEachStepOfSetup() throws Exception
    {
        final Path json = folder.resolve("setup.json");
        assertThat(run("perf", "-d", device, "--setup", "--rounds", "3", "--json", json.toString()))
            .as(err.toString()).isZero();
        assertThat(out.toString()).contains(
            "set-up on " + device, "start of the JVM", "library load", "device open", "queue pair", "connect",
            "first read");
        assertThat(Files.readString(json))
            .contains("\"step\":\"connect\",\"cold_ns\":", "\"warm_median_ns\":", "\"warm_least_ns\":");
    }

    @Test
    void shouldNotMeasureSetupWhereTimeIsSimulatedOrRoundsAreMissing()
    {
        assertThat(run("perf", "-d", "sim:1", "--setup")).isEqualTo(ExitStatus.USAGE);
        assertThat(err.toString()).contains("takes no real time");
        assertThat(run("perf", "-d", device, "--setup", "--rounds", "1")).isEqualTo(ExitStatus.USAGE);
        assertThat(err.toString()).contains("--rounds 1: must be 2 to 10000");
    }

    @Test
    void shouldNotCompareWithPerftestWhereThereIsNoRnicOrNoTurn()
    {
        assertOneLine(ExitStatus.USAGE, "name one, ibverbs:DEVICE", run("perf", "-d", device, "--against-perftest"));
        assertOneLine(ExitStatus.USAGE, "name one, ibverbs:DEVICE", run("perf", "-d", "ibverbs", "--against-perftest"));
        assertOneLine(ExitStatus.USAGE, "--rounds 0: must be 1 to 1000",
            run("perf", "-d", "ibverbs:rxe0", "--against-perftest", "--rounds", "0"));
    }

    @Test
    void shouldMeasureLatencyRateAndBandwidth() throws Exception
    {
        for (final String operation : new String[] {"read", "write", "write-with-imm", "send", "compare-swap"})
        {
            final Path json = folder.resolve(operation + ".json");
            assertThat(run("perf", "-d", device, "-o", operation, "--size", "256", "--depth", "4", "-q", "2",
                "--seconds", "0.05", "--json", json.toString())).as(err.toString()).isZero();
            assertThat(out.toString()).contains(operation + " on ", "message rate", "bandwidth", "latency p99.9");
            assertThat(Files.readString(json))
                .contains("\"operation\":\"" + operation + "\"", "\"requests_per_s\":", "\"latency_p999_ns\":")
                .doesNotContain("\"requests\":0,");
            out.getBuffer().setLength(0);
        }
    }

    @Test
    void shouldAnswerBadInputWithOneLine()
    {
        assertOneLine(ExitStatus.USAGE, "say what to do", run());
        assertOneLine(ExitStatus.USAGE, "--device", run("check"));
        assertOneLine(ExitStatus.USAGE, "no such device: 'none'", run("check", "--device", "none"));
        assertOneLine(ExitStatus.USAGE, "no such device: 'none:x'", run("info", "--device", "none:x"));
        assertOneLine(ExitStatus.UNAVAILABLE, "/proc/none", run("check", "--device", "soft:/proc/none"));
        assertOneLine(ExitStatus.USAGE, "no regular expression", run("check", "-d", device, "--rules", "("));
        assertOneLine(ExitStatus.USAGE, "no rule", run("check", "-d", device, "--rules", "shouldFly"));
        assertOneLine(ExitStatus.USAGE, "fetch-add", run("perf", "-d", device, "-o", "jump"));
        assertOneLine(ExitStatus.USAGE, "--size 0", run("perf", "-d", device, "--size", "0"));
        assertOneLine(ExitStatus.USAGE, "--depth 5000", run("perf", "-d", device, "--depth", "5000"));
        assertOneLine(ExitStatus.USAGE, "--queue-pairs -1", run("perf", "-d", device, "-q", "-1"));
        assertOneLine(ExitStatus.USAGE, "--seconds 0.0", run("perf", "-d", device, "--seconds", "0"));
        assertOneLine(ExitStatus.CANNOT_CREATE, "no such file or folder",
            run("perf", "-d", device, "--json", folder.resolve("none/x.json").toString()));
    }

    private void assertOneLine(final int expectedStatus, final String words, final int status)
    {
        assertThat(status).as(err.toString()).isEqualTo(expectedStatus);
        assertThat(err.toString().lines()).singleElement().asString().startsWith("verbena: ").contains(words);
        err.getBuffer().setLength(0);
    }

    private int run(final String... args)
    {
        final String[] all = new String[args.length + 1];
        all[0] = "fabric";
        System.arraycopy(args, 0, all, 1, args.length);
        return VerbenaCommand.commandLine(false)
            .setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true)).execute(all);
    }
}
