package io.verbena.cli.cluster;

import io.verbena.cli.CommandLines;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.role.RoleProcess;
import io.verbena.client.KvClient;
import io.verbena.client.KvClientOptions;
import io.verbena.client.KvException;
import io.verbena.client.KvOutcomeUnknownException;
import io.verbena.client.KvTable;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/** Folders that cannot be used, a full disk, an end while requests are under way: each as its processes meet it. */
@Timeout(300)
class FaultsSystemTest
{
    private static final Duration STEP = Duration.ofSeconds(60);
    private static final int MINUTES = 3;
    private static final long START_NS = TimeUnit.SECONDS.toNanos(90);
    /** What a JVM ends with that was told to by SIGTERM. */
    private static final int TERMINATED = 128 + 15;

    @TempDir
    private Path directory;
    private CommandLines.Result last;
    private Process compute;

    private int run(final Path folder, final String... arguments)
    {
        final List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--data", folder.toString()));
        last = CommandLines.run(all);
        return last.status();
    }

    private void succeed(final Path folder, final String... arguments)
    {
        assertThat(run(folder, arguments)).as("%s: %s%s", List.of(arguments), last.out(), last.err()).isZero();
    }

    private Path cluster()
    {
        return directory.resolve("cluster");
    }

    @AfterEach
    void leaveNothingBehind()
    {
        if (null != compute)
        {
            compute.destroyForcibly();
        }
        run(cluster(), "down", "--discard");
        assertThat(new ProcessTable(cluster().resolve("processes")).entries()).isEmpty();
    }

    private Process compute(final ClusterFolder folder) throws IOException
    {
        return new ProcessBuilder(NodeLauncher.commandLine(List.of("-XX:+UseSerialGC"), List.of(
            "compute-node", "--cluster", folder.address(), "--token-file", folder.token().toString())))
            .redirectErrorStream(true).redirectOutput(directory.resolve("compute.log").toFile()).start();
    }

    private void awaitReady() throws IOException
    {
        final long deadlineNs = System.nanoTime() + START_NS;
        while (System.nanoTime() - deadlineNs < 0 &&
            !Files.readString(directory.resolve("compute.log")).contains(RoleProcess.READY))
        {
            LockSupport.parkNanos(10_000_000);
        }
        assertThat(Files.readString(directory.resolve("compute.log"))).contains(RoleProcess.READY);
    }

    /** The only compute node is told to end while many requests are under way: none of them is left in the dark. */
    @Test
    void shouldAnswerOrRefuseWhatIsUnderWayWhenAComputeNodeIsToldToEnd() throws Exception
    {
        succeed(cluster(), "up", "--memory", "64");
        final ClusterFolder folder = ClusterFolder.of(cluster());
        succeed(cluster(), "scale", "--compute-nodes", "0");
        final Set<String> devices = devices(folder);
        assertThat(devices).as("of the meta server and the memory node").hasSize(2);
        assertThat(run(cluster(), "get", "x", "--timeout-ms", "500")).isEqualTo(ExitStatus.UNAVAILABLE);
        assertThat(last.err()).isEqualTo("verbena: find table found no node that could serve it before its deadline: " +
            "there is no compute node: './verbena scale --compute-nodes 1' starts one\n");
        compute = compute(folder);
        awaitReady();
        final List<CompletableFuture<Long>> puts = new ArrayList<>();
        try (KvClient client = KvClient.connect(
            folder.address(), new KvClientOptions().tokenFile(folder.token()).timeout(STEP)))
        {
            final KvTable table = client.table("default");
            table.withTimeout(STEP).put(new byte[]{1}, new byte[]{1});
            final KvTable hasty = table.withTimeout(Duration.ofSeconds(12));
            for (int i = 0; i < 3_000; i++)
            {
                puts.add(hasty.putAsync(new byte[]{(byte)i, (byte)(i >> 8)}, new byte[1_000]));
                if (i == 1_500)
                {
                    // On a slow machine it may be told before the client's thread has sent anything.
                    assertThat(puts.getFirst().join()).isPositive();
                    compute.destroy();
                }
            }
            puts.forEach(FaultsSystemTest::assertAnsweredOrRefused);
        }
        assertThat(compute.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(compute.exitValue()).isEqualTo(TERMINATED);
        assertThat(devices(folder)).as("its files, and the client's").isEqualTo(devices);
    }

    /** What files of the fabric begin with, each a device. */
    private static Set<String> devices(final ClusterFolder folder) throws IOException
    {
        try (Stream<Path> files = Files.list(Path.of(folder.fabric().substring("soft:".length()))))
        {
            return files.map((file) -> file.getFileName().toString())
                .filter((name) -> name.matches("[0-9a-f]{8}\\..*"))
                .map((name) -> name.substring(0, name.indexOf('.'))).collect(Collectors.toSet());
        }
    }

    private static void assertAnsweredOrRefused(final CompletableFuture<Long> put)
    {
        try
        {
            assertThat(put.join()).isPositive();
        }
        catch (final CompletionException ex)
        {
            assertThat(ex.getCause()).isInstanceOf(KvException.class).isNotInstanceOf(KvOutcomeUnknownException.class);
        }
    }

    @Test
    void shouldRefuseFoldersThatAreNotTheClustersOwnOrCannotBeWritten() throws IOException
    {
        final Path foreign = Files.createDirectories(directory.resolve("foreign"));
        Files.writeString(foreign.resolve("poem.txt"), "roses");
        assertThat(run(foreign, "up")).isEqualTo(ExitStatus.CANNOT_CREATE);
        assertThat(last.err()).contains("holds something else ('poem.txt')").hasLineCount(1);
        // Nobody can write there, whoever they are.
        assertThat(run(Path.of("/proc/verbena"), "up")).isEqualTo(ExitStatus.CANNOT_CREATE);
        assertThat(last.err()).hasLineCount(1)
            .contains("/proc/verbena cannot be used (no such file or folder)", "--data");

        succeed(cluster(), "up", "--memory", "64");
        final ClusterFolder folder = ClusterFolder.of(cluster());
        final List<String> node = List.of("memory-node", "--cluster", folder.address(), "--token-file",
            folder.token().toString());
        assertThat(run(foreign, node.toArray(String[]::new))).isEqualTo(ExitStatus.CANNOT_CREATE);
        assertThat(last.err()).contains("holds something else ('poem.txt')").hasLineCount(1);
        assertThat(run(Path.of("/proc/verbena"), node.toArray(String[]::new))).isEqualTo(ExitStatus.CANNOT_CREATE);
        assertThat(last.err()).contains("cannot be read and written").hasLineCount(1);
        assertThat(run(cluster().resolve("memory-1"), node.toArray(String[]::new)))
            .isEqualTo(ExitStatus.CANNOT_CREATE);
        assertThat(last.err()).contains("is in use by another memory node").hasLineCount(1);
        Files.createDirectories(foreign.resolve("meta/poems"));
        assertThat(run(foreign, "meta-server", "--listen", "verbena://127.0.0.1:0", "--fabric", folder.fabric(),
            "--token-file", folder.token().toString())).isEqualTo(ExitStatus.CANNOT_CREATE);
        assertThat(last.err()).contains("'poems'").hasLineCount(1);
    }

    /** Its memory is none of this cluster's, and its records are those of the other one. */
    @Test
    void shouldRefuseTheMemoryFolderOfAnotherClusterAndLeaveBothAsTheyWere() throws IOException
    {
        final Path other = directory.resolve("other");
        succeed(other, "up", "--memory", "64");
        succeed(other, "put", "whose", "other");
        succeed(other, "down");
        succeed(cluster(), "up", "--memory", "64");
        succeed(cluster(), "put", "whose", "own");
        succeed(cluster(), "down");
        final Path own = cluster().resolve("memory-1");
        Files.move(own, directory.resolve("aside"));
        Files.move(other.resolve("memory-1"), own);

        assertThat(run(cluster(), "up")).isEqualTo(ExitStatus.UNAVAILABLE);
        assertThat(last.err()).contains("memory-1 ended at once", "memory-1 belongs to cluster ",
            ", and the one to join is cluster ", "use the folder that was here, or an empty one").hasLineCount(1);
        assertThat(new ProcessTable(cluster().resolve("processes")).entries()).as("what was begun is undone").isEmpty();

        Files.move(own, other.resolve("memory-1"));
        Files.move(directory.resolve("aside"), own);
        for (final Path each : List.of(cluster(), other))
        {
            succeed(each, "up");
            succeed(each, "get", "whose");
            assertThat(last.out()).isEqualTo(each.equals(other) ? "other\n" : "own\n");
            succeed(each, "down", "--discard");
        }
    }

    /** Killed in the middle, {@code up} leaves processes: they are known, and end with the next {@code down}. */
    @Test
    void shouldRefuseASecondUpMeanwhileAndEndWhatAKilledOneHadStarted() throws Exception
    {
        final ProcessTable table = new ProcessTable(cluster().resolve("processes"));
        final Process up = new ProcessBuilder(NodeLauncher.commandLine(List.of("-XX:+UseSerialGC"), List.of(
            "up", "--memory", "64", "--compute-nodes", "2", "--data", cluster().toString())))
            .redirectErrorStream(true).redirectOutput(directory.resolve("up.log").toFile()).start();
        try
        {
            final long deadlineNs = System.nanoTime() + START_NS;
            while (table.entries().isEmpty() && System.nanoTime() - deadlineNs < 0)
            {
                LockSupport.parkNanos(1_000_000);
            }
            // Halfway for as long as it is looked at, however fast this machine is.
            assertThat(new ProcessBuilder("kill", "-STOP", Long.toString(up.pid())).start().waitFor()).isZero();
            for (final String command : List.of("up", "down"))
            {
                assertThat(run(cluster(), command)).isEqualTo(ExitStatus.UNAVAILABLE);
                assertThat(last.err()).contains("another command changes the cluster").hasLineCount(1);
            }
        }
        finally
        {
            up.destroyForcibly().waitFor();
        }
        final List<ProcessTable.Entry> started = table.entries();
        assertThat(started).isNotEmpty();
        succeed(cluster(), "down");
        assertThat(table.entries()).isEmpty();
        assertThat(started).noneMatch(ProcessTable.Entry::isLive);
        succeed(cluster(), "up", "--memory", "64");
        succeed(cluster(), "put", "hello", "world");
    }

    /** In a mount namespace of its own, with a file system of 40 MiB. */
    @Test
    void shouldKeepTheCheckpointBeforeAndAllRecordsWhenTheDiskIsFull() throws Exception
    {
        Files.createDirectories(cluster().resolve("memory-1"));
        Files.writeString(cluster().resolve("up.lock"), "");
        assertThat(MountedCluster.saidBy(FullDisk.class, cluster(), directory, MINUTES))
            .contains("free space there", "PASSED");
    }

    /** Also for root, whom rights do not bind: mounted read-only, in a mount namespace of its own. */
    @Test
    void shouldSayWhichFolderIsReadOnlyAndLoseNothing() throws Exception
    {
        Files.createDirectories(cluster());
        assertThat(MountedCluster.saidBy(ReadOnlyFolder.class, cluster(), directory, MINUTES)).contains("PASSED");
    }
}
