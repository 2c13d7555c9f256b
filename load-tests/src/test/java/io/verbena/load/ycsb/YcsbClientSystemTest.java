package io.verbena.load.ycsb;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * YCSB's own client with our binding, in a process of its own because that client ends its process.
 */
class YcsbClientSystemTest
{
    private static final long TIMEOUT_S = 120;

    private final String user = "ycsb-" + ProcessHandle.current().pid();

    @TempDir
    private Path folder;

    @Test
    void shouldRunAfterLoadingByItself() throws IOException, InterruptedException
    {
        final String output = run("-t", "-p", "readproportion=0.5", "-p", "updateproportion=0.5");

        assertThat(output).contains("[READ], Return=OK", "[UPDATE], Return=OK")
            .doesNotContain("NOT_FOUND", "ERROR", "UNEXPECTED");
    }

    @Test
    void shouldLoad() throws IOException, InterruptedException
    {
        final String output = run("-load");

        assertThat(output).contains("[INSERT], Return=OK, 500").doesNotContain("ERROR");
    }

    private String run(final String... args) throws IOException, InterruptedException
    {
        final List<String> command = new ArrayList<>(List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "@../config/jvm.args",
            "-Xmx512m",
            "-Duser.name=" + user,
            "-cp",
            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
            "site.ycsb.Client",
            "-db", VerbenaDb.class.getName(),
            "-threads", "3",
            "-p", "workload=site.ycsb.workloads.CoreWorkload",
            "-p", "recordcount=500",
            "-p", "operationcount=2000",
            "-p", "requestdistribution=zipfian"));
        command.addAll(List.of(args));
        final Path output = folder.resolve("output");
        final Process process = new ProcessBuilder(command)
            .redirectErrorStream(true).redirectOutput(output.toFile()).start();
        final boolean ended = process.waitFor(TIMEOUT_S, TimeUnit.SECONDS);
        process.destroyForcibly();
        final String text = Files.readString(output, StandardCharsets.UTF_8);
        assertThat(ended).as(text).isTrue();
        assertThat(process.exitValue()).as(text).isZero();
        assertThat(Path.of("/dev/shm", "verbena-" + user)).doesNotExist();
        return text;
    }
}
