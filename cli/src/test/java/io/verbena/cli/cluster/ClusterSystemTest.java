package io.verbena.cli.cluster;

import io.verbena.cli.CommandLines;
import io.verbena.cli.ExitStatus;
import io.verbena.cli.cluster.ProcessTable.Entry;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;

/** A cluster of real processes, as a new user would use it, and what can go wrong with it. */
@Timeout(400)
class ClusterSystemTest
{
    @TempDir
    private Path directory;
    private CommandLines.Result last;

    @AfterEach
    void leaveNothingBehind()
    {
        run("down");
        final List<Entry> left = new ProcessTable(directory.resolve("processes")).entries();
        assertThat(left).isEmpty();
    }

    private int run(final String... arguments)
    {
        final List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--data", directory.toString()));
        last = CommandLines.run(all);
        return last.status();
    }

    private void succeed(final String... arguments)
    {
        assertThat(run(arguments)).as("%s: %s%s", List.of(arguments), last.out(), last.err()).isZero();
    }

    private List<Entry> entries()
    {
        return new ProcessTable(directory.resolve("processes")).entries();
    }

    private static void kill(final Entry entry)
    {
        final ProcessHandle process = entry.process().orElseThrow();
        process.destroyForcibly();
        process.onExit().join();
    }

    @Test
    void shouldServeThroughTheDeathOfAComputeNode() throws IOException
    {
        succeed("up", "--compute-nodes", "2", "--memory", "64");
        assertThat(last.out()).contains("up: verbena://127.0.0.1:");
        succeed("put", "hello", "world");
        final String version = last.out().strip();
        succeed("get", "hello", "--show-version");
        assertThat(last.out()).isEqualTo(version + "\tworld\n");
        assertThat(run("put", "hello", "again", "--if-absent")).isEqualTo(ExitStatus.FAILED);
        assertThat(last.err()).contains("not written: there is a record, version " + version);
        assertThat(run("get", "nothing")).isEqualTo(ExitStatus.FAILED);
        assertThat(last.err()).contains("no such record");

        entries().stream().filter((entry) -> entry.name().equals("compute-1")).forEach(ClusterSystemTest::kill);
        succeed("get", "hello");
        assertThat(last.out()).isEqualTo("world\n");
        succeed("put", "68656c6c6f", "64", "--hex", "--if-version", version);
        assertThat(run("status")).isEqualTo(ExitStatus.FAILED);
        assertThat(last.out()).contains("compute-1").contains("dead");
        assertThat(run("up")).isEqualTo(ExitStatus.UNAVAILABLE);
        assertThat(last.err()).contains("a cluster is up already");
        succeed("scale", "--compute-nodes", "2");
        succeed("status", "--json");
        assertThat(last.out()).contains("\"ready\":true").contains("\"name\":\"compute-1\"");

        final byte[] blob = new byte[16_000];
        new Random(1).nextBytes(blob);
        Files.write(directory.resolve("blob"), blob);
        succeed("put", "blob", "--file", directory.resolve("blob").toString());
        succeed("get", "blob", "--file", directory.resolve("copy").toString());
        assertThat(Files.readAllBytes(directory.resolve("copy"))).isEqualTo(blob);
        succeed("table", "create", "more");
        succeed("table", "list");
        assertThat(last.out()).isEqualTo("default\nmore\n");
        succeed("table", "drop", "more");
        succeed("delete", "blob");
        assertThat(run("exists", "blob")).isEqualTo(ExitStatus.FAILED);
        succeed("down");
        assertThat(run("get", "hello")).isEqualTo(ExitStatus.UNAVAILABLE);
        assertThat(last.err()).contains("is the cluster up?");
    }

    @Test
    void shouldComeUpAndGoDownAfterACrashOfEveryProcess() throws IOException
    {
        succeed("up", "--memory", "64");
        entries().forEach(ClusterSystemTest::kill);
        assertThat(run("status")).isEqualTo(ExitStatus.FAILED);
        succeed("up", "--memory", "64");
        succeed("put", "a", "b");
        final String other = Files.createTempFile(directory, "other", "token").toString();
        Files.writeString(Path.of(other), "00".repeat(32));
        assertThat(run("get", "a", "--token-file", other)).isEqualTo(ExitStatus.USAGE);
        assertThat(last.err()).contains("the cluster has another token").hasLineCount(1);
        entries().forEach(ClusterSystemTest::kill);
        succeed("down");
        succeed("down");
        assertThat(run("status")).isEqualTo(ExitStatus.UNAVAILABLE);
    }

    @Test
    void shouldSayInOneLineWhyItDoesNotComeUp() throws IOException
    {
        try (ServerSocket busy = new ServerSocket(0, 1, InetAddress.getLoopbackAddress()))
        {
            assertThat(run("up", "--listen", "verbena://127.0.0.1:" + busy.getLocalPort()))
                .isEqualTo(ExitStatus.UNAVAILABLE);
            assertThat(last.err()).contains("meta-server ended at once", "cannot listen at").hasLineCount(1);
        }
        assertThat(run("up", "--memory-nodes", "0")).isEqualTo(ExitStatus.USAGE);
        assertThat(run("up", "--memory", "100000")).as("more than any /dev/shm here").isEqualTo(ExitStatus.UNAVAILABLE);
        assertThat(last.err()).contains("memory-1 ended at once").hasLineCount(1);
        assertThat(entries()).as("what was begun is undone").isEmpty();
        assertThat(run("scale", "--compute-nodes", "1")).isEqualTo(ExitStatus.UNAVAILABLE);
        Files.writeString(directory.resolve("file"), "");
        assertThat(CommandLines.run(List.of("up", "--data", directory.resolve("file/x").toString())).status())
            .isEqualTo(ExitStatus.CANNOT_CREATE);
    }
}
