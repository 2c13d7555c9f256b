package io.verbena.cli;

import io.verbena.cli.console.ExitStatus;
import io.verbena.load.demo.FaultyDemo;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

/**
 * The demo as a command: its status, its output, and what it leaves behind in shared memory, however it ends. The
 * processes get a user name of their own, and with it a fabric folder of their own.
 */
class DemoCommandSystemTest
{
    private static final long TIMEOUT_S = 120;

    private final String user = "test-" + ProcessHandle.current().pid();
    private final Path sharedMemory = Path.of("/dev/shm", "verbena-" + user);
    private final List<Process> processes = new ArrayList<>();

    @TempDir
    private Path folder;

    @BeforeEach
    void shouldBeginWithNothing()
    {
        assertThat(sharedMemory).doesNotExist();
    }

    @AfterEach
    void endProcesses() throws IOException
    {
        processes.forEach(Process::destroyForcibly);
        for (final Path file : leftovers())
        {
            Files.delete(file);
        }
        Files.deleteIfExists(sharedMemory);
    }

    @Test
    void shouldEndWithStatusOneWhenAReadIsStale() throws IOException
    {
        final StringWriter out = new StringWriter();
        final Path json = folder.resolve("a.json");

        final int status = new CommandLine(new DemoCommand(
            (options, progress, processes, hosts, metaServers) ->
                FaultyDemo.withStaleReads(options, progress, processes)))
            .setOut(new PrintWriter(out, true))
            .execute("--records", "1000", "--seconds", "1", "--threads", "2", "--memory", "64",
                "--json", json.toString());

        assertThat(status).isEqualTo(ExitStatus.FAILED);
        assertThat(out.toString()).containsPattern("linearizable +NO").endsWith("FAILED\n");
        assertThat(Files.readString(json)).contains("\"linearizable\": false", "\"passed\": false");
    }

    @Test
    void shouldReportAndLeaveNothingBehind() throws Exception
    {
        final Path json = folder.resolve("c.json");
        final Process demo = start("demo", "--workload", "c", "--records", "1000", "--seconds", "1", "--threads", "2",
            "--memory", "64", "--json", json.toString());

        final String output = read(demo);

        assertThat(await(demo)).as(output).isEqualTo(ExitStatus.OK);
        assertThat(output).endsWith("PASSED\n").doesNotContain("\r");
        assertThat(Files.readString(json)).contains("\"not_found\": 0", "\"passed\": true", "\"linearizable\": true");
        assertThat(leftovers()).isEmpty();
    }

    @Test
    void shouldSayInOneLineThatMemoryIsTooSmall() throws Exception
    {
        final Process demo = start("demo", "--records", "100000", "--seconds", "1", "--memory", "8");
        final String output = read(demo);

        assertThat(await(demo)).as(output).isEqualTo(ExitStatus.CANNOT_CREATE);
        assertThat(output.lines().filter(line -> !line.startsWith("load ") && !line.startsWith("Started ")))
            .singleElement().asString().startsWith("verbena: loading failed: ").contains("--memory");
        assertThat(leftovers()).isEmpty();
    }

    @Test
    void shouldSayInOneLineThatSharedMemoryIsTooSmall() throws Exception
    {
        // More than there is in all, which is refused without a try; a memory node can have 128 GiB.
        final long mib = Files.getFileStore(Path.of("/dev/shm")).getTotalSpace() / (1 << 20) + 1024;
        assumeThat(mib).as("MiB that are too much").isLessThan(128 * 1024);
        final Process demo = start("demo", "--memory", Long.toString(mib));
        final String output = read(demo);

        assertThat(await(demo)).as(output).isEqualTo(ExitStatus.CANNOT_CREATE);
        assertThat(output.lines()).singleElement().asString().startsWith("verbena: ").contains("/dev/shm");
        assertThat(leftovers()).isEmpty();
    }

    @Test
    void shouldRefuseAFabricInOneLine() throws Exception
    {
        assertRefused("infiniband", ExitStatus.USAGE, "no such fabric: 'infiniband'");
        assertRefused("ibverbs:nosuch0", ExitStatus.UNAVAILABLE, "fabric ibverbs:nosuch0 cannot be used: ");
    }

    private void assertRefused(final String fabric, final int status, final String message) throws Exception
    {
        final Process demo = start("demo", "--fabric", fabric);
        final String output = read(demo);

        assertThat(await(demo)).as(output).isEqualTo(status);
        assertThat(output.lines()).singleElement().asString().startsWith("verbena: " + message);
        assertThat(leftovers()).isEmpty();
    }

    @Test
    @Timeout(120)
    void shouldLeaveNothingBehindWhenInterrupted() throws Exception
    {
        final Process demo = start("demo", "--records", "1000", "--seconds", "600", "--threads", "2", "--memory", "64");
        final BufferedReader lines = awaitRun(demo);

        new ProcessBuilder("kill", "-INT", Long.toString(demo.pid())).start().waitFor();

        final String rest = String.join("\n", lines.lines().toList());
        assertThat(await(demo)).as(rest).isEqualTo(ExitStatus.INTERRUPTED);
        assertThat(rest).contains("verbena: interrupted").doesNotContain("\tat ");
        assertThat(leftovers()).isEmpty();
    }

    @Test
    void shouldCleanUpAfterAKilledProcessAtTheNextStart() throws Exception
    {
        final Process killed =
            start("demo", "--records", "1000", "--seconds", "600", "--threads", "2", "--memory", "64");
        awaitRun(killed);
        killed.destroyForcibly().waitFor();
        assertThat(leftovers()).as("kill -9 leaves files: else this test shows nothing").isNotEmpty();

        final Process next =
            start("demo", "--records", "1000", "--seconds", "1", "--threads", "2", "--memory", "64");
        final String output = read(next);

        assertThat(await(next)).as(output).isEqualTo(ExitStatus.OK);
        assertThat(leftovers()).isEmpty();
    }

    private Process start(final String... args) throws IOException
    {
        final List<String> command = new ArrayList<>(List.of(
            // Who starts this in the background of a script has it ignore SIGINT, and all that it starts.
            "env", "--default-signal=INT",
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "@" + SourceTree.root().resolve("config/jvm.args"),
            "-XX:+UseSerialGC",
            "-Xmx512m",
            "-Duser.name=" + user,
            "-cp",
            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
            VerbenaCommand.class.getName()));
        command.addAll(List.of(args));
        final Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        processes.add(process);
        return process;
    }

    // Loading is over and the run has begun when its first line of progress comes.
    private static BufferedReader awaitRun(final Process process) throws IOException
    {
        final BufferedReader lines =
            new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        final StringBuilder seen = new StringBuilder();
        for (String line = lines.readLine(); line != null; line = lines.readLine())
        {
            seen.append(line).append('\n');
            if (line.startsWith("run "))
            {
                return lines;
            }
        }
        throw new AssertionError("the demo ended before its run: " + seen);
    }

    private static String read(final Process process) throws IOException
    {
        return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    private static int await(final Process process) throws InterruptedException
    {
        assertThat(process.waitFor(TIMEOUT_S, TimeUnit.SECONDS)).as("the demo ends").isTrue();
        return process.exitValue();
    }

    private List<Path> leftovers() throws IOException
    {
        if (!Files.exists(sharedMemory))
        {
            return List.of();
        }
        try (Stream<Path> files = Files.list(sharedMemory))
        {
            return files.toList();
        }
    }
}
