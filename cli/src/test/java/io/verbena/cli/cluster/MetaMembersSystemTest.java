package io.verbena.cli.cluster;

import io.verbena.cli.CommandLines;
import io.verbena.cli.cluster.ProcessTable.Entry;
import io.verbena.cli.console.ExitStatus;
import io.verbena.protocol.bootstrap.ClusterAddress;
import io.verbena.test.UnusedPorts;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/** The disk of a meta server of a group is lost, and another server takes its place: as typed. */
@Timeout(600)
class MetaMembersSystemTest
{
    private static final Duration STEP = Duration.ofSeconds(60);
    /** Nodes ask every 20 to 40 s. */
    private static final Duration AWAIT = Duration.ofSeconds(300);

    @TempDir
    private Path directory;
    private CommandLines.Result last;

    private int run(final String... arguments)
    {
        final List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--data", cluster().toString()));
        last = CommandLines.run(all);
        return last.status();
    }

    private void succeed(final String... arguments)
    {
        assertThat(run(arguments)).as("%s: %s%s", List.of(arguments), last.out(), last.err()).isZero();
    }

    private Path cluster()
    {
        return directory.resolve("cluster");
    }

    @AfterEach
    void leaveNothingBehind()
    {
        CommandLines.run(List.of("down", "--discard", "--data", cluster().toString()));
    }

    @Test
    void shouldReplaceAMemberWhoseDiskWasLost() throws Exception
    {
        succeed("up", "--meta-servers", "3", "--memory-nodes", "1", "--compute-nodes", "1", "--memory", "64");
        final ClusterFolder folder = ClusterFolder.of(cluster());
        final Entry lost = new ProcessTable(folder.processes()).entries().stream()
            .filter((entry) -> entry.name().equals("meta-server-3")).findFirst().orElseThrow();
        new ProcessBuilder("kill", "-KILL", Long.toString(lost.pid())).start().waitFor();
        try (Stream<Path> files = Files.walk(folder.metaServer(3)))
        {
            for (final Path file : files.sorted(Comparator.reverseOrder()).toList())
            {
                Files.delete(file);
            }
        }
        // Another one may have to be elected first.
        final long deadlineNs = System.nanoTime() + STEP.toNanos();
        while (ExitStatus.UNAVAILABLE == run("meta", "list") && System.nanoTime() - deadlineNs < 0)
        {
            assertThat(last.err()).contains("none leads").hasLineCount(1);
        }
        assertThat(last.status()).as(last.out() + last.err()).isEqualTo(ExitStatus.FAILED);
        assertThat(last.out()).contains("leader", "silent");

        final String address = "127.0.0.1:" + UnusedPorts.next();
        assertThat(run("meta", "add", address)).isEqualTo(ExitStatus.UNAVAILABLE);
        assertThat(last.err()).contains("./verbena meta-server --join " + address).hasLineCount(1);
        assertThat(run("meta", "remove", "meta-9")).isEqualTo(ExitStatus.FAILED);
        assertThat(last.err()).contains("'meta-9' is no member").hasLineCount(1);
        assertThat(run("up")).as("with its empty folder").isNotZero();
        assertThat(last.err()).contains("must not come back").contains("./verbena meta add");
        final NodeLauncher launcher = new NodeLauncher(
            new ProcessTable(folder.processes()), folder.logs());
        final ClusterAddress listen = new ClusterAddress("127.0.0.1", UnusedPorts.next());
        launcher.start("meta-server-4", List.of("meta-server", "--join", address, "--listen",
            listen.toString(), "--data", directory.resolve("four").toString(), "--token-file",
            folder.token().toString(), "--fabric", folder.fabric()));
        succeed("meta", "add", address);
        assertThat(last.out()).contains(" at " + address + " is a member");
        succeed("meta", "remove", "meta-3");
        succeed("meta", "list");
        assertThat(last.out()).contains(address).doesNotContain("silent");
        // The three that the nodes were started with, and the new one in the place of one of them.
        awaitAddresses(folder, 4);
        succeed("meta", "move-leader", address);
        assertThat(last.out()).contains(" leads");
        succeed("meta", "list");
        assertThat(last.out().lines().filter((line) -> line.contains(address)).findFirst().orElseThrow())
            .contains("leader");
        // It leads at an address that no node was started with: they have found it, so that a table can be made.
        final String[] there = {"--cluster", listen.toString(), "--token-file", folder.token().toString()};
        succeed(with(there, "table", "create", "afterwards", "--records", "1000"));
        succeed(with(there, "put", "--table", "afterwards", "key", "value"));
        succeed(with(there, "get", "--table", "afterwards", "key"));
        assertThat(last.out()).isEqualTo("value\n");
    }

    private static String[] with(final String[] options, final String... command)
    {
        return Stream.concat(Stream.of(command), Stream.of(options)).toArray(String[]::new);
    }

    private static void awaitAddresses(final ClusterFolder folder, final int count)
    {
        final long deadlineNs = System.nanoTime() + AWAIT.toNanos();
        for (final String name : List.of("memory-1", "compute-1"))
        {
            final Entry node = new ProcessTable(folder.processes()).entries().stream()
                .filter((entry) -> entry.name().equals(name)).findFirst().orElseThrow();
            for (Object known = 0; !Integer.toString(count).equals(known.toString()); known = addresses(node))
            {
                assertThat(System.nanoTime() - deadlineNs).as("%s knows %s", name, known).isNegative();
                LockSupport.parkNanos(Duration.ofMillis(100).toNanos());
            }
        }
    }

    private static Object addresses(final Entry node)
    {
        final Map<String, Object> figures = HealthProbe.figures(node);
        return null == figures ? 0 : figures.get("meta_server_addresses");
    }
}
