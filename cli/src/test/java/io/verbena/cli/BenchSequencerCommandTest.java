package io.verbena.cli;

import io.verbena.cli.console.ExitStatus;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;

import static org.assertj.core.api.Assertions.assertThat;

class BenchSequencerCommandTest
{
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @TempDir
    private Path folder;

    @Test
    void shouldPrintEachVariantAndWriteJson() throws Exception
    {
        final Path json = folder.resolve("sequencer.json");
        assertThat(run("--device", "sim:3", "--clients", "2", "--window", "4", "--numbers", "200",
            "--json", json.toString())).as(err.toString()).isZero();

        assertThat(out.toString().lines().skip(2).map(line -> line.strip().replaceAll("  .*", "")).toList())
            .containsExactly("atomics", "calls", "+ unsignaled", "+ inline", "+ doorbell batching", "+ header only");
        assertThat(out.toString().lines().skip(2)).allMatch(line -> line.endsWith(" right"));
        assertThat(Files.readString(json)).contains(
            "\"benchmark\":\"sequencer\"", "\"variant\":\"+ header only\"", "\"doorbells\":", "\"problem\":\"\"");
    }

    @Test
    void shouldSayWhichValueCannotBe()
    {
        assertThat(run("--clients", "0")).isEqualTo(ExitStatus.USAGE);
        assertThat(err.toString()).contains("--clients 0: must be 1 to 64");
        assertThat(run("--device", "nowhere")).isEqualTo(ExitStatus.USAGE);
        assertThat(err.toString()).contains("no such device: 'nowhere'");
    }

    private int run(final String... args)
    {
        final String[] all = new String[args.length + 2];
        all[0] = "bench";
        all[1] = "sequencer";
        System.arraycopy(args, 0, all, 2, args.length);
        return VerbenaCommand.commandLine(false)
            .setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true)).execute(all);
    }
}
