package io.verbena.cli;

import io.verbena.cli.console.ExitStatus;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

class CheckCommandTest
{
    private static final String GOOD = """
        {:process 0 :type :invoke :f :write :value 1}
        {:process 0 :type :ok :f :write :value 1}
        """;
    private static final String BAD = GOOD + """
        {:process 1 :type :invoke :f :read}
        {:process 1 :type :ok :f :read :value 2}
        """;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @TempDir
    private Path folder;

    private int run(final String... args)
    {
        final List<String> all = new ArrayList<>(List.of("check"));
        all.addAll(List.of(args));
        return VerbenaCommand.commandLine(false).setOut(new PrintWriter(out, true))
            .setErr(new PrintWriter(err, true)).execute(all.toArray(String[]::new));
    }

    private String file(final String name, final String text) throws IOException
    {
        return Files.writeString(folder.resolve(name), text).toString();
    }

    @Test
    void shouldExitByVerdictAndWriteJson() throws IOException
    {
        final Path json = folder.resolve("result.json");

        assertThat(run(file("good", GOOD))).isEqualTo(ExitStatus.OK);
        assertThat(out.toString()).contains("is linearizable (model register");
        assertThat(run("-m", "cas-register", file("bad", BAD), "--json", json.toString()))
            .isEqualTo(ExitStatus.FAILED);
        assertThat(out.toString()).contains("NOT linearizable").contains("process 1: read -> 2");
        assertThat(Files.readString(json)).startsWith("{\"verdict\":\"invalid\",\"histories\":[{\"file\":")
            .contains("\"model\":\"cas-register\"");
        assertThat(err.toString()).isEmpty();
    }

    @Test
    void shouldDrawOneHistory() throws IOException
    {
        final Path html = folder.resolve("verdict.html");

        assertThat(run(file("bad", BAD), "--html", html.toString())).isEqualTo(ExitStatus.FAILED);
        assertThat(Files.readString(html)).startsWith("<!DOCTYPE html>").contains("not linearizable");
        final String txn = "{:process 0 :type :invoke :f :txn :value [[:append :x 1]]}";
        assertThat(run(file("txn", txn), "--html", html.toString())).isEqualTo(ExitStatus.UNKNOWN);
        assertThat(Files.readString(html)).contains("unknown if strict-serializable");
    }

    @Test
    void shouldRefuseToDrawTwoHistoriesInOnePage() throws IOException
    {
        assertThat(run(file("bad", BAD), file("good", GOOD), "--html", folder.resolve("h").toString()))
            .isEqualTo(ExitStatus.USAGE);
        assertThat(err.toString()).contains("--html draws one history, but 2 were given");
    }

    @Test
    void shouldCheckAllFilesAndTellTheWorst() throws IOException
    {
        assertThat(run(file("bad", BAD), file("good", GOOD))).isEqualTo(ExitStatus.FAILED);
        assertThat(out.toString().lines().filter(line -> line.contains("linearizable (model"))).hasSize(2);
    }

    @Test
    void shouldNameLineOfBrokenHistory() throws IOException
    {
        assertThat(run(file("broken", GOOD + GOOD.lines().skip(1).findFirst().orElseThrow())))
            .isEqualTo(ExitStatus.BAD_DATA);
        assertThat(err.toString().lines()).singleElement().asString().contains("broken:3: completion");
    }

    @Test
    void shouldRefuseBadUsage() throws IOException
    {
        assertThat(run()).isEqualTo(ExitStatus.USAGE);
        assertThat(run("-m", "rigester", file("good", GOOD))).isEqualTo(ExitStatus.USAGE);
        assertThat(run("-m", "register", "-w", "list-append", file("good", GOOD))).isEqualTo(ExitStatus.USAGE);
        assertThat(run("-c", "best", file("good", GOOD))).isEqualTo(ExitStatus.USAGE);
        assertThat(run("--timeout", "0", file("good", GOOD))).isEqualTo(ExitStatus.USAGE);
        assertThat(err.toString().lines()).hasSize(5).allMatch(line -> line.startsWith("verbena: "));
        assertThat(run(folder.resolve("none").toString())).isEqualTo(ExitStatus.BAD_DATA);
        assertThat(run("--json", folder.resolve("none/x").toString(), file("good", GOOD)))
            .isEqualTo(ExitStatus.CANNOT_CREATE);
    }

    @Test
    void shouldMeasure() throws IOException
    {
        final Path json = folder.resolve("bench.json");
        final int status = VerbenaCommand.commandLine(false).setOut(new PrintWriter(out, true))
            .execute("bench", "check", "--scale", "0.005", "--json", json.toString());

        assertThat(status).isEqualTo(ExitStatus.OK);
        assertThat(out.toString().lines()).hasSizeGreaterThan(10);
        assertThat(Files.readString(json)).contains("\"benchmark\":\"check\"", "\"elapsed_ms\":", "\"rows\":[");
    }

    @Test
    void shouldCountRoundTripsAndWriteTheFigures() throws IOException
    {
        final Path json = folder.resolve("rtt.json");
        final int status = VerbenaCommand.commandLine(false).setOut(new PrintWriter(out, true))
            .execute("bench", "rtt", "--json", json.toString());

        assertThat(status).as("%s", out).isEqualTo(ExitStatus.OK);
        assertThat(Files.readString(json)).startsWith("[").contains(
            "\"operation\": \"multi_get\"", "\"cached\": true", "\"round_trips\": 1", "\"bytes_on_wire\": ");
    }
}
