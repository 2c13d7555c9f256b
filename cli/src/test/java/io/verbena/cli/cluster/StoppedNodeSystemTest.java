package io.verbena.cli.cluster;

import io.verbena.cli.CommandLines;
import io.verbena.cli.role.RoleProcess;
import io.verbena.cli.role.TlsOptions;
import io.verbena.client.KvClient;
import io.verbena.client.KvClientOptions;
import io.verbena.client.KvEntry;
import io.verbena.client.KvException;
import io.verbena.client.KvOutOfMemoryException;
import io.verbena.client.KvOutcomeUnknownException;
import io.verbena.client.KvTable;
import io.verbena.client.TableOptions;
import io.verbena.elle.Validity;
import io.verbena.elle.check.Elle;
import io.verbena.elle.history.Event;
import io.verbena.elle.history.EventType;
import io.verbena.elle.history.HistoryBuilder;
import io.verbena.elle.linear.LinearOptions;
import io.verbena.elle.linear.LinearVerdict;
import io.verbena.elle.linear.Models;
import io.verbena.rdma.soft.SoftFabricOptions;
import io.verbena.rdma.soft.StoppedInside;
import io.verbena.table.format.ChunkDescriptor;
import io.verbena.table.format.Superblock;
import io.verbena.table.format.SuperblockDescriptor;

import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A compute node that is stopped in the midst of writes for longer than its lease, each role a process: others take its
 * memory, and when it goes on, what it had begun changes nothing.
 */
@Timeout(180)
class StoppedNodeSystemTest
{
    private static final long STEP_NS = TimeUnit.SECONDS.toNanos(40);
    private static final Duration STEP = Duration.ofNanos(STEP_NS);
    /** Of what a stopped node has: about a lease, which passes at the same time. */
    private static final long WRITE_NS = TimeUnit.SECONDS.toNanos(4);
    private static final int KEYS = 60;
    private static final int MORE = 300;
    private static final int VALUE_BYTES = 1_000;
    private static final String FIRST = "first";
    private static final String OTHER = "other";

    @TempDir
    private Path directory;
    private final HistoryBuilder history = new HistoryBuilder("stopped node");
    private final AtomicInteger processes = new AtomicInteger();
    private long time;
    private int further;
    private Process stopping;

    private ClusterFolder folder()
    {
        return ClusterFolder.of(directory.resolve("cluster"));
    }

    @AfterEach
    void leaveNothingBehind()
    {
        if (null != stopping)
        {
            stopping.destroyForcibly();
        }
        CommandLines.run(List.of("down", "--discard", "--data", folder().path().toString()));
        assertThat(new ProcessTable(folder().processes()).entries()).isEmpty();
    }

    private static void await(final String what, final BooleanSupplier condition)
    {
        final long deadlineNs = System.nanoTime() + STEP_NS;
        while (!condition.getAsBoolean())
        {
            assertThat(System.nanoTime() - deadlineNs).as(what).isNegative();
            LockSupport.parkNanos(5_000_000);
        }
    }

    private List<String> said()
    {
        try
        {
            return Files.readAllLines(directory.resolve("stopping.log"));
        }
        catch (final IOException ex)
        {
            return List.of();
        }
    }

    /** What the node was registered as, each time that it began to serve: id and incarnation. */
    private List<int[]> lives()
    {
        return said().stream().filter((line) -> line.startsWith(RoleProcess.READY))
            .map((line) -> Arrays.stream(line.substring(RoleProcess.READY.length()).split(" "))
                .mapToInt(Integer::parseInt).toArray()).toList();
    }

    private void startStoppingNode() throws IOException
    {
        final List<String> command = NodeLauncher.commandLine(
            List.of("-XX:+UseSerialGC", "-Xmx256m"), List.of(folder().address(), folder().token().toString()));
        command.set(command.size() - 3, StoppingComputeNode.class.getName());
        stopping = new ProcessBuilder(command).redirectErrorStream(true)
            .redirectOutput(directory.resolve("stopping.log").toFile()).start();
        await("the node joins", () -> 1 == lives().size());
    }

    private boolean isStopped()
    {
        try
        {
            final String stat = Files.readString(Path.of("/proc/" + stopping.pid() + "/stat"));
            return 'T' == stat.charAt(stat.lastIndexOf(')') + 2);
        }
        catch (final IOException ex)
        {
            throw new AssertionError(ex);
        }
    }

    private KvClient client()
    {
        return KvClient.connect(folder().address(), new KvClientOptions().tokenFile(folder().token()));
    }

    /** Until the meta server has forgotten a node, which is when all memory nodes have cut it off. */
    private void awaitFence(final LocalCluster cluster, final int incarnation)
    {
        await("the node is fenced", () ->
        {
            final Map<String, Object> figures = HealthProbe.figures(cluster.entry("meta-server"));
            return null != figures && !String.valueOf(figures.get("nodes")).contains("incarnation=" + incarnation);
        });
    }

    private static byte[] key(final String begin, final int number)
    {
        return (begin + number).getBytes(StandardCharsets.US_ASCII);
    }

    private static byte[] value(final String text)
    {
        return Arrays.copyOf(text.getBytes(StandardCharsets.US_ASCII), VALUE_BYTES);
    }

    private static String text(final byte[] value)
    {
        return new String(value, StandardCharsets.US_ASCII).trim();
    }

    private void note(final int process, final EventType type, final String function, final int key, final Object value)
    {
        history.add(new Event(process, type, function, "key-" + key, value, time++, -1, 0));
    }

    /** Begins to put all keys at once. */
    private List<CompletableFuture<Long>> beginAll(final KvTable table, final String begin, final long timeoutNs)
    {
        final List<CompletableFuture<Long>> puts = new ArrayList<>();
        final int first = processes.getAndAdd(KEYS);
        for (int i = 0; i < KEYS; i++)
        {
            note(first + i, EventType.INVOKE, "put", i, begin + i);
            puts.add(table.withTimeout(Duration.ofNanos(timeoutNs)).putAsync(key("key-", i), value(begin + i)));
        }
        return puts;
    }

    /** Waits for the puts that were begun last. @return how those ended that failed. */
    private List<Throwable> endAll(final List<CompletableFuture<Long>> puts)
    {
        final int first = processes.get() - KEYS;
        final List<Throwable> failures = new ArrayList<>();
        for (int i = 0; i < KEYS; i++)
        {
            try
            {
                note(first + i, EventType.OK, "put", i, puts.get(i).join());
            }
            catch (final CompletionException ex)
            {
                failures.add(ex.getCause());
                note(first + i, ex.getCause() instanceof KvOutcomeUnknownException ? EventType.INFO : EventType.FAIL,
                    "put", i, ex.getCause().getMessage());
            }
        }
        return failures;
    }

    private void assertAll(final KvTable table, final String begin)
    {
        final int process = processes.getAndIncrement();
        for (int i = 0; i < KEYS; i++)
        {
            note(process, EventType.INVOKE, "get", i, null);
            final Optional<KvEntry> entry = table.withTimeout(STEP).get(key("key-", i));
            note(process, EventType.OK, "get", i,
                entry.<Object>map((found) -> List.of(text(found.value()), found.version())).orElse(null));
            assertThat(text(entry.orElseThrow().value())).isEqualTo(begin + i);
        }
    }

    /** Puts further keys; when all memory is in use, those that come too late have no room. */
    private void putMore(final KvTable table)
    {
        final List<byte[]> keys = new ArrayList<>();
        final List<byte[]> values = new ArrayList<>();
        for (int i = 0; i < MORE; i++)
        {
            keys.add(key("more-", further));
            values.add(value(OTHER + further++));
        }
        assertThat(table.withTimeout(STEP).putAll(keys, values)).allMatch(
            (put) -> null == put.failure() || put.failure() instanceof KvOutOfMemoryException);
    }

    /** The memory of the only memory node: what its chunks hold, and who has those for blocks. */
    private record Memory(byte[] chunks, int chunkLengthBytes, List<int[]> owners)
    {
        static Memory read(final ClusterFolder folder)
        {
            try (OpenedStore opened = OpenedStore.open(null, null, TlsOptions.NONE, folder, null, false, STEP_NS);
                Arena arena = Arena.ofConfined())
            {
                final int node = opened.memoryNodeIds().getFirst();
                final MemorySegment page = arena.allocate(SuperblockDescriptor.READ_BYTES, 64);
                opened.store().read(node, 0, new UnsafeBuffer(page.address(), SuperblockDescriptor.READ_BYTES),
                    SuperblockDescriptor.READ_BYTES);
                final Superblock superblock = SuperblockDescriptor.read(page);
                final UnsafeBuffer part = new UnsafeBuffer(arena.allocate(4096, 64).address(), 4096);
                final byte[] chunks = new byte[superblock.chunkCount() * superblock.chunkLengthBytes()];
                for (int at = 0; at < chunks.length; at += part.capacity())
                {
                    opened.store().read(node, superblock.chunksOffset() + at, part, part.capacity());
                    part.getBytes(0, chunks, at, part.capacity());
                }
                final List<int[]> owners = new ArrayList<>();
                for (int i = 0; i < superblock.chunkCount(); i++)
                {
                    opened.store().read(node, superblock.chunkHeadersOffset() + i * ChunkDescriptor.HEADER_BYTES, part,
                        ChunkDescriptor.HEADER_BYTES);
                    final boolean holdsBlocks = ChunkDescriptor.STATE_BLOCKS == ChunkDescriptor.state(part, 0);
                    owners.add(holdsBlocks ? new int[]{ChunkDescriptor.ownerNodeId(part, 0),
                        ChunkDescriptor.ownerIncarnation(part, 0)} : new int[2]);
                }
                return new Memory(chunks, superblock.chunkLengthBytes(), owners);
            }
        }

        BitSet chunksOf(final int[] life)
        {
            final BitSet found = new BitSet();
            for (int i = 0; i < owners.size(); i++)
            {
                found.set(i, Arrays.equals(owners.get(i), life));
            }
            return found;
        }

        String chunk(final int index)
        {
            return new String(chunks, index * chunkLengthBytes, chunkLengthBytes, StandardCharsets.ISO_8859_1);
        }
    }

    @Test
    void shouldChangeNothingWhenItGoesOnAfterOthersHaveItsMemory() throws Exception
    {
        try (LocalCluster cluster = LocalCluster.open(folder()))
        {
            cluster.metaOptions(List.of("--lease-seconds", "3"));
            cluster.computeOptions(List.of("--growing-tables", "false"));
            cluster.up(LocalCluster.ANY_PORT, 1, 4, 0, (line) -> {});
            startStoppingNode();
            final int[] life = lives().getFirst();
            try (KvClient client = client())
            {
                final KvTable table = client.createTable("t", new TableOptions(5_000));
                assertThat(endAll(beginAll(table, "zero", STEP_NS))).isEmpty();
                final BitSet chunks = Memory.read(folder()).chunksOf(life);
                assertThat(chunks.cardinality()).isPositive();
                assertThat(endAll(beginAll(table, FIRST, STEP_NS))).isEmpty();
                stopInTheMidstOfWrites(table, cluster, life[1]);
                final Memory before = takeItsMemory(life, chunks);

                new ProcessBuilder("kill", "-CONT", Long.toString(stopping.pid())).start().waitFor();
                await("the node joins again", () -> 2 == lives().size());
                assertThat(Arrays.mismatch(Memory.read(folder()).chunks(), before.chunks()))
                    .as("the first byte changed").isEqualTo(-1);
                assertThat(said()).filteredOn((line) -> line.contains("begins anew")).hasSize(1).first().asString()
                    .contains("lease ran out: nodeId=" + life[0] + ", incarnation=" + life[1]);
                assertAll(table, OTHER);
            }
        }
        final CommandLines.Result check =
            CommandLines.run(List.of("table", "check", "--all", "--data", folder().path().toString()));
        assertThat(check.out()).contains("SOUND: every invariant holds");
        final LinearVerdict verdict =
            Elle.checkLinearizable(history.build(), Models.versionedKvMap(), LinearOptions.defaults());
        assertThat(verdict.validity()).as(verdict.explanation()).isEqualTo(Validity.VALID);
    }

    /**
     * Stopped inside the memory of the memory node, which can cut it off only when it has left, and serves nobody while
     * it waits for that: it is ended, before the memory node's own lease runs out.
     */
    @Test
    void shouldBeEndedWhenItIsStoppedInsideTheMemoryNode() throws Exception
    {
        try (LocalCluster cluster = LocalCluster.open(folder()))
        {
            cluster.metaOptions(List.of("--lease-seconds", "4"));
            cluster.up(LocalCluster.ANY_PORT, 1, 16, 1, (line) -> {});
            final ProcessTable.Entry compute = cluster.entry("compute-1");
            try (KvClient client = client())
            {
                final KvTable table = client.createTable("t", new TableOptions(5_000));
                assertThat(endAll(beginAll(table, FIRST, STEP_NS))).isEmpty();
                new ProcessBuilder("kill", "-STOP", Long.toString(compute.pid())).start().waitFor();
                assertThat(StoppedInside.mark(
                    fabricDirectory(), compute.pid(), cluster.entry("memory-1").pid())).isPositive();

                await("the stopped node is ended", () -> !compute.isLive());
                cluster.scale(1, (line) -> {});
                assertThat(endAll(beginAll(table, OTHER, STEP_NS))).isEmpty();
                assertAll(table, OTHER);
            }
            final AtomicReference<Map<String, Object>> figures = new AtomicReference<>();
            await("the meta server answers", () ->
            {
                figures.set(HealthProbe.figures(cluster.entry("meta-server")));
                return null != figures.get();
            });
            assertThat(String.valueOf(figures.get().get("nodes")))
                .as("the memory node has kept its place").contains("role=memory-node, incarnation=1, state=LIVE");
        }
    }

    private Path fabricDirectory() throws IOException
    {
        final String fabric = folder().fabric();
        return fabric.contains(":") ? Path.of(fabric.substring(fabric.indexOf(':') + 1)) :
            new SoftFabricOptions().directory();
    }

    /** Until it is cut off; another node comes meanwhile. */
    private void stopInTheMidstOfWrites(final KvTable table, final LocalCluster cluster, final int incarnation)
    {
        final String mark = new String(StoppingComputeNode.MARK, StandardCharsets.US_ASCII);
        final List<CompletableFuture<Long>> puts = beginAll(table, mark, WRITE_NS);
        await("the node stops itself", this::isStopped);
        cluster.scale(1, (line) -> {});
        awaitFence(cluster, incarnation);
        assertThat(endAll(puts)).as("one was begun at least")
            .hasAtLeastOneElementOfType(KvOutcomeUnknownException.class)
            .allSatisfy((failure) -> assertThat(failure).isInstanceOf(KvException.class)
                .extracting(Throwable::getMessage).asString().hasLineCount(1));
    }

    /** Another client, through another node. @return the memory when all that was free in it is in use. */
    private Memory takeItsMemory(final int[] life, final BitSet chunks)
    {
        try (KvClient other = client())
        {
            final KvTable table = other.table("t");
            assertThat(endAll(beginAll(table, OTHER, STEP_NS))).isEmpty();
            assertAll(table, OTHER);
            // Reclaimed chunks come back a while after the fence.
            await("its chunks are used again", () ->
            {
                putMore(table);
                final Memory memory = Memory.read(folder());
                return memory.chunksOf(life).isEmpty() &&
                    chunks.stream().allMatch((chunk) -> memory.chunk(chunk).contains(OTHER));
            });
            return Memory.read(folder());
        }
    }
}
