package io.verbena.cli.cluster;

import io.verbena.cli.CommandLines;
import io.verbena.cli.cluster.ProcessTable.Entry;
import io.verbena.cli.console.ExitStatus;
import io.verbena.client.KvClient;
import io.verbena.client.KvClientOptions;
import io.verbena.client.KvException;
import io.verbena.client.KvOutcomeUnknownException;
import io.verbena.client.KvTable;
import io.verbena.client.TableOptions;
import io.verbena.memory.MemoryFolder;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.DirectoryEntry;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SubtableDescriptor;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** A cluster of real processes, as a new user would use it, and what can go wrong with it. */
@Timeout(400)
class ClusterSystemTest
{
    private static final long STEP_NS = TimeUnit.SECONDS.toNanos(60);
    private static final Duration STEP = Duration.ofNanos(STEP_NS);

    @TempDir
    private Path directory;
    private CommandLines.Result last;

    @AfterEach
    void leaveNothingBehind()
    {
        run("down", "--discard");
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

    /** What a program reads of it. */
    private byte[] piped(final String... arguments)
    {
        final List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--data", directory.toString()));
        final CommandLines.Result result = CommandLines.piped(all);
        assertThat(result.status()).as(result.err()).isZero();
        return result.bytes();
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
        succeed("scale", "--compute-nodes", "2");
        assertThat(run("up")).isEqualTo(ExitStatus.UNAVAILABLE);
        assertThat(last.err()).contains("a cluster is up already");
        succeed("status", "--json");
        assertThat(last.out()).contains("\"ready\":true").contains("\"name\":\"compute-1\"");
        final Map<String, Object> status = JsonReader.object(last.out());
        assertThat(String.valueOf(status.get("tables"))).contains("table=default, records=1,");
        assertThat(String.valueOf(status.get("processes"))).contains("lease_left_ms=", "free_bytes=", "carriers=");
        succeed("status");
        assertThat(last.out()).containsPattern("compute-2 +\\d+ +ready +\\d+ +\\d+ +[\\d,]+\n")
            .containsPattern("default +1 ");

        final LeavingReader reader = new LeavingReader(2);
        assertThat(CommandLines.into(reader, List.of("status", "--watch", "--data", directory.toString())).status())
            .as("nobody reads on").isZero();
        assertThat(reader.read().toString(StandardCharsets.UTF_8)).as("shown again, line below line")
            .doesNotContain("\u001b").matches("(?s)(.*compute-2 .*default .*){2}");

        final byte[] blob = new byte[16_000];
        new Random(1).nextBytes(blob);
        Files.write(directory.resolve("blob"), blob);
        succeed("put", "blob", "--file", directory.resolve("blob").toString());
        succeed("get", "blob", "--file", directory.resolve("copy").toString());
        assertThat(Files.readAllBytes(directory.resolve("copy"))).isEqualTo(blob);
        assertThat(piped("get", "blob")).isEqualTo(blob);
        assertThat(piped("get", "626c6f62", "--hex")).asString().matches("[0-9a-f]{32000}\n");
        succeed("put", "--hex", "ff00", "fe0a");
        assertThat(piped("get", "--hex", "ff00")).asString().isEqualTo("fe0a\n");
        assertThat(piped("scan", "--limit", "10")).as("its bytes").containsSequence(0xFF, 0, '\t', 0xFE, '\n', '\n');
        succeed("delete", "--hex", "ff00");
        succeed("table", "create", "more");
        succeed("table", "list");
        assertThat(last.out()).isEqualTo("default\nmore\n");
        new RecordCommands(directory).check();
        succeed("table", "drop", "more");
        succeed("delete", "blob");
        assertThat(run("exists", "blob")).isEqualTo(ExitStatus.FAILED);
        succeed("table", "check", "--all", "--repair");
        assertThat(last.out()).contains("beside its users", "SOUND: every invariant holds", "lost 0 bytes");
        succeed("down");
        assertThat(run("get", "hello")).isEqualTo(ExitStatus.UNAVAILABLE);
        assertThat(last.err()).contains("is the cluster up?");
    }

    @Test
    void shouldScanLoadAndDump() throws IOException
    {
        succeed("up", "--compute-nodes", "2", "--memory", "64");
        assertThat(run("replace", "hello", "nobody")).isEqualTo(ExitStatus.FAILED);
        assertThat(last.err()).contains("not written: no such record");
        succeed("put", "hello", "world");
        succeed("replace", "hello", "again");
        final String version = last.out().strip();
        succeed("replace", "hello", "more", "--if-version", version);
        assertThat(run("replace", "hello", "less", "--if-version", version)).isEqualTo(ExitStatus.FAILED);
        succeed("put", "--hex", "ff", "00");
        succeed("scan", "--hex");
        assertThat(last.out().lines()).containsExactlyInAnyOrder("68656c6c6f\t6d6f7265", "ff\t00");
        succeed("scan", "--limit", "1", "--keys");
        assertThat(last.out()).hasLineCount(1).doesNotContain("\t");

        final StringBuilder lines = new StringBuilder();
        for (int i = 0; i < 20_000; i++)
        {
            lines.append("{\"key\":\"key-").append(i).append("\",\"value\":\"").append(i % 9).append("\"}\n");
        }
        final Path file = Files.writeString(directory.resolve("in.jsonl"), lines);
        final Path csv = directory.resolve("out.csv");
        final Path back = directory.resolve("back.jsonl");
        succeed("table", "create", "loaded", "--records", "30000");
        succeed("load", file.toString(), "--table", "loaded");
        assertThat(last.out()).startsWith("loaded 20,000 records in ");
        succeed("table", "stat", "loaded");
        assertThat(last.out()).containsPattern("records +20,000\n");
        succeed("dump", csv.toString(), "--table", "loaded");
        succeed("table", "create", "copy", "--records", "30000");
        succeed("load", csv.toString(), "--table", "copy");
        Files.writeString(directory.resolve("back.jsonl.partial"), "mine");
        Files.createSymbolicLink(directory.resolve("link.jsonl"), back);
        succeed("dump", directory.resolve("link.jsonl").toString(), "--table", "copy");
        assertThat(directory.resolve("link.jsonl")).isSymbolicLink();
        assertThat(directory.resolve("back.jsonl.partial")).hasContent("mine");
        assertThat(Files.readAllLines(back)).containsExactlyInAnyOrderElementsOf(Files.readAllLines(file));

        shouldScanAndDumpInParts(file);
        assertThat(run("dump", csv.toString())).as("not text, and not --hex").isEqualTo(ExitStatus.FAILED);
        assertThat(Files.readAllLines(csv)).as("the file that was there stays").hasSize(20_001);
        Files.writeString(file, "{\"key\":\"a\"}\n");
        assertThat(run("load", file.toString())).isEqualTo(ExitStatus.BAD_DATA);
        assertThat(last.err()).contains("in.jsonl: line 1: ", "0 records were put").hasLineCount(1);
        succeed("table", "create", "small", "--records", "1000");
        succeed("load", csv.toString(), "--table", "small");
        succeed("table", "stat", "small");
        assertThat(last.out()).as("it grows").containsPattern("records +20,000\n");
        Files.writeString(file, "{\"key\":\"a\",\"value\":\"" + "v".repeat(16_385) + "\"}\n");
        assertThat(run("load", file.toString())).isEqualTo(ExitStatus.BAD_DATA);
        assertThat(last.err()).contains("in.jsonl: line 1: a value of 16,385 bytes").hasLineCount(1);
        assertThat(run("load", directory.resolve("none.csv").toString())).isEqualTo(ExitStatus.BAD_DATA);
        assertThat(last.err()).contains("none.csv: cannot be read: no such file or folder; ").hasLineCount(1);
    }

    private void shouldScanAndDumpInParts(final Path file) throws IOException
    {
        final List<String> lines = new ArrayList<>();
        String cursor = null;
        for (int limit : new int[]{1, 0, 9_000, 7, 20_000})
        {
            final String[] goOn = null == cursor ? new String[0] : new String[]{"--cursor", cursor};
            succeed(Stream.concat(Stream.of("scan", "--table", "loaded", "--keys", "--limit", Integer.toString(limit)),
                Stream.of(goOn)).toArray(String[]::new));
            last.out().lines().forEach(lines::add);
            cursor = cursor();
        }
        assertThat(lines).hasSize(20_000).doesNotHaveDuplicates();
        assertThat(run("scan", "--table", "loaded", "--cursor", "1-2-3-4")).isEqualTo(ExitStatus.USAGE);
        assertThat(last.err()).contains("cursor=1-2-3-4").hasLineCount(1);

        final Path first = file.resolveSibling("part-1.jsonl");
        final Path second = file.resolveSibling("part-2.jsonl");
        succeed("dump", "--limit", "5000", "--table", "loaded", first.toString());
        assertThat(last.out()).startsWith("dumped 5,000 records in ");
        succeed("dump", "--cursor", cursor(), "--table", "loaded", second.toString());
        final List<String> dumped = new ArrayList<>(Files.readAllLines(first));
        dumped.addAll(Files.readAllLines(second));
        assertThat(dumped).containsExactlyInAnyOrderElementsOf(Files.readAllLines(file));
        assertThat(run("dump", "--cursor", "none", "--table", "loaded", first.toString())).isEqualTo(ExitStatus.USAGE);
        assertThat(Files.readAllLines(first)).as("the file that was there stays").hasSize(5_000);
    }

    private String cursor()
    {
        return last.err().lines().toList().getLast().substring("cursor: ".length());
    }

    @Test
    void shouldComeUpAndGoDownAfterACrashOfEveryProcess() throws IOException
    {
        succeed("up", "--memory", "64");
        entries().forEach(ClusterSystemTest::kill);
        assertThat(run("status")).isEqualTo(ExitStatus.FAILED);
        succeed("up", "--memory", "64");
        succeed("put", "a", "b");
        succeed("table", "create", "other", "--records", "100");
        // So much that one more chunk is leased ahead, in which there is nothing yet.
        final StringBuilder lines = new StringBuilder();
        for (int i = 0; i < 14; i++)
        {
            lines.append("{\"key\":\"").append(i).append("\",\"value\":\"").append("v".repeat(16_000)).append("\"}\n");
        }
        succeed("load", Files.writeString(directory.resolve("in.jsonl"), lines).toString());
        entries().forEach(ClusterSystemTest::kill);
        checkAndRepairWhatIsLeft();
        PlantedSplit.plant(ClusterFolder.of(directory));
        try (LocalCluster cluster = LocalCluster.openExisting(ClusterFolder.of(directory)))
        {
            cluster.up(LocalCluster.ANY_PORT, 1, null, 0, (_) -> {}); // no compute node, which would finish it, too
        }
        succeed("table", "check", "default", "--json");
        assertThat(last.out()).contains("\"live\": true", "\"splits_under_way\": 1");
        assertThat(run("table", "check", "default", "--repair")).isEqualTo(ExitStatus.UNAVAILABLE);
        assertThat(last.err()).as("what it does behind that").contains("there is no compute node").hasLineCount(1);
        succeed("table", "check", "default", "--json");
        assertThat(last.out()).contains("\"splits_under_way\": 0", "\"unused_index_bytes\": 0");
        succeed("scale", "--compute-nodes", "1");
        succeed("table", "check", "default", "--repair", "--json");
        assertThat(last.out()).contains("compute nodes have taken back what no record uses");
        succeed("get", "a");
        final String other = Files.createTempFile(directory, "other", "token").toString();
        Files.writeString(Path.of(other), "00".repeat(32));
        assertThat(run("get", "a", "--token-file", other)).isEqualTo(ExitStatus.USAGE);
        assertThat(last.err()).contains("the cluster has another token").hasLineCount(1);
        final CommandLines.Result role = CommandLines.run(List.of(
            "compute-node", "--cluster", ClusterFolder.of(directory).address(), "--token-file", other));
        assertThat(role.status()).as("the same from a role").isEqualTo(ExitStatus.USAGE);
        assertThat(role.err()).isEqualTo(last.err());
        entries().forEach(ClusterSystemTest::kill);
        succeed("down");
        succeed("down");
        assertThat(run("status")).isEqualTo(ExitStatus.UNAVAILABLE);
    }

    /** Damage is planted in the memory of a cluster whose processes have ended. */
    private void checkAndRepairWhatIsLeft()
    {
        succeed("table", "check", "--all");
        assertThat(last.out()).contains("whose processes have ended", "SOUND: every invariant holds");
        final long word = SlotWord.committed(1, 0, 1, 0, 1 << 16);
        plant(SlotWord.EMPTY, SlotWord.withKind(word, SlotWord.KIND_TENTATIVE));
        succeed("table", "check", "default", "--json");
        assertThat(last.out()).contains("\"left_behind\": 1");
        succeed("table", "check", "other", "--repair");
        assertThat(last.out()).as("memory of all tables, words of one").contains(" freed that no record uses")
            .doesNotContain("undecided insert ");
        succeed("table", "check", "default", "--repair");
        assertThat(last.out()).contains("1 undecided insert removed");
        succeed("table", "check", "default", "--json", "--repair");
        assertThat(last.out()).contains("\"left_behind\": 0", "\"repairs\": []");

        PlantedSplit.plant(ClusterFolder.of(directory));
        succeed("table", "check", "default", "--json");
        assertThat(last.out()).contains("\"splits_under_way\": 1");
        succeed("table", "check", "default", "--repair", "--json");
        assertThat(last.out()).contains("\"splits_under_way\": 0", "1 split or merge of a subtable finished",
            "1 chunk freed that no record uses", "\"unused_index_bytes\": 0");

        plant(SlotWord.EMPTY, word);
        assertThat(run("table", "check", "default", "--repair")).isEqualTo(ExitStatus.FAILED);
        assertThat(last.out()).contains("NOT SOUND: ", "its block is damaged or was rewritten");
        plant(word, SlotWord.EMPTY);
        assertThat(run("table", "check", "nothing")).isEqualTo(ExitStatus.USAGE);
        assertThat(last.err()).contains("no such table: name=nothing").hasLineCount(1);
        for (final String what : List.of("superblock", "directory", "subtable 0", "bucket 0", "chunk 0", "slot 0x1050"))
        {
            final List<String> arguments = new ArrayList<>(List.of("table", "inspect"));
            arguments.addAll(List.of(what.split(" ")));
            arguments.add("--hex");
            succeed(arguments.toArray(String[]::new));
        }
        assertThat(run("table", "inspect", "block", "0x40")).isEqualTo(ExitStatus.FAILED);
        assertThat(last.out()).contains("DAMAGED: there is no block here");
        assertThat(run("table", "inspect", "chunk", "4096")).isEqualTo(ExitStatus.USAGE);
        assertThat(last.err()).contains("chunk 4096: memory node ").hasLineCount(1);
    }

    /** Swaps the last slot of the first bucket. */
    private void plant(final long expected, final long desired)
    {
        try (OfflineStore stopped = OfflineStore.open(ClusterFolder.of(directory)))
        {
            final long entry = stopped.tables().getFirst().entry(0);
            stopped.swap(DirectoryEntry.memoryNodeId(entry), DirectoryEntry.subtableOffset(entry) +
                SubtableDescriptor.GROUPS_OFFSET + BucketDescriptor.BUCKET_BYTES - BucketDescriptor.SLOT_BYTES,
                expected, desired);
        }
    }

    private void kill(final String name)
    {
        entries().stream().filter((entry) -> entry.name().equals(name)).forEach(ClusterSystemTest::kill);
    }

    /** Until the processes have noticed; what they say is checked by the caller. */
    private void awaitStatus(final String text)
    {
        final long deadlineNs = System.nanoTime() + STEP_NS;
        do
        {
            run("status");
        }
        while (!last.out().contains(text) && System.nanoTime() - deadlineNs < 0);
        assertThat(last.out()).contains(text);
    }

    @Test
    void shouldGoOnWithoutTheMetaServerAndFindItAgain()
    {
        succeed("up", "--compute-nodes", "2", "--memory", "64");
        final ClusterFolder folder = ClusterFolder.of(directory);
        final String address = folder.address();
        try (KvClient client = KvClient.connect(address, new KvClientOptions().tokenFile(folder.token()).timeout(STEP)))
        {
            final KvTable table = client.table("default");
            final byte[] key = {1};
            table.withTimeout(STEP).put(key, new byte[]{1});
            kill("meta-server");
            // At once: a lease lasts four seconds at least, and a slow machine may take them for the next line.
            table.withTimeout(STEP).put(key, new byte[]{2});
            assertThat(table.withTimeout(STEP).get(key).orElseThrow().value()).containsExactly(2);
            awaitStatus("cannot reach the meta server");
            assertThat(last.status()).isEqualTo(ExitStatus.FAILED);
            assertThat(run("get", "hello")).isEqualTo(ExitStatus.UNAVAILABLE);

            succeed("up");
            assertThat(last.out()).contains("meta-server was dead, started again");
            assertThat(folder.address()).isEqualTo(address);
            assertThat(table.withTimeout(STEP).get(key).orElseThrow().value()).containsExactly(2);
            client.createTable("more", new TableOptions(100)).withTimeout(STEP).put(key, key);
            succeed("table", "list");
            assertThat(last.out()).isEqualTo("default\nmore\n");
            succeed("put", "hello", "again");
            kill("compute-1");
            kill("compute-2");
            succeed("up");
            assertThat(table.withTimeout(STEP).get(key).orElseThrow().value()).containsExactly(2);
            succeed("status");
            assertThat(last.out()).doesNotContain("error:", "dead");
        }
    }

    /** One thread that writes numbers to keys in turn, and knows what was acknowledged. */
    private static final class Writer implements Runnable
    {
        private static final int KEYS = 500;
        private final KvTable table;
        private final int[] acknowledged = new int[KEYS];
        private final int[] attempted = new int[KEYS];
        private volatile boolean isStopped;
        private volatile int rounds;
        private volatile RuntimeException failure;

        Writer(final KvTable table)
        {
            this.table = table;
        }

        private static byte[] bytes(final int number)
        {
            return ByteBuffer.allocate(Integer.BYTES).putInt(number).array();
        }

        @Override
        public void run()
        {
            try
            {
                write();
            }
            catch (final RuntimeException ex)
            {
                failure = ex;
            }
        }

        private void write()
        {
            for (int round = 1; !isStopped; round++)
            {
                for (int key = 0; key < KEYS && !isStopped; key++)
                {
                    attempted[key] = round;
                    try
                    {
                        table.withTimeout(STEP).put(bytes(key), bytes(round));
                        acknowledged[key] = round;
                    }
                    catch (final KvOutcomeUnknownException ex)
                    {
                        // Either is right.
                    }
                }
                rounds = round;
            }
        }

        void awaitRound(final int round)
        {
            while (rounds < round)
            {
                assertThat(failure).isNull();
                Thread.yield();
            }
        }

        void check()
        {
            for (int key = 0; key < KEYS; key++)
            {
                assertThat(ByteBuffer.wrap(table.withTimeout(STEP).get(bytes(key)).orElseThrow().value()).getInt())
                    .as("key %d", key).isBetween(acknowledged[key], attempted[key]);
            }
        }
    }

    /** Its memory is still there until somebody has noticed that the node is dead, some 20 ms later. */
    private static void getUntilItFails(final KvTable table)
    {
        final long deadlineNs = System.nanoTime() + STEP_NS;
        while (System.nanoTime() - deadlineNs < 0)
        {
            table.withTimeout(Duration.ofMillis(300)).get(new byte[]{1});
        }
    }

    @Test
    void shouldKeepEveryAcknowledgedWriteWhenAMemoryNodeIsKilled() throws InterruptedException
    {
        succeed("up", "--memory", "64");
        final ClusterFolder folder = ClusterFolder.of(directory);
        try (KvClient client = KvClient.connect(
            folder.address(), new KvClientOptions().tokenFile(folder.token()).timeout(STEP)))
        {
            final Writer writer = new Writer(client.table("default"));
            final Thread thread = new Thread(writer);
            thread.start();
            writer.awaitRound(3);
            kill("memory-1");
            assertThatThrownBy(() -> getUntilItFails(client.table("default")))
                .as("within its deadline").isInstanceOf(KvException.class);
            assertThat(run("status")).isEqualTo(ExitStatus.FAILED);
            succeed("up");
            assertThat(last.out()).contains("memory-1 was dead, started again");
            writer.awaitRound(writer.rounds + 3);
            writer.isStopped = true;
            thread.join();
            writer.check();

            entries().forEach(ClusterSystemTest::kill);
            succeed("up");
            succeed("status");
        }
        try (KvClient client = KvClient.connect(
            folder.address(), new KvClientOptions().tokenFile(folder.token()).timeout(STEP)))
        {
            final KvTable table = client.table("default");
            assertThat(table.withTimeout(STEP).get(Writer.bytes(Writer.KEYS - 1))).isPresent();
            table.withTimeout(STEP).put(Writer.bytes(0), new byte[]{1});
        }
        succeed("down");
        assertThat(last.out()).contains("memory-1: 500 records in its checkpoint");
        assertThat(Path.of(folder.fabric().substring("soft:".length()))).doesNotExist();
        succeed("up");
        succeed("get", "00000000", "--hex");
        assertThat(last.out()).as("restored").isEqualTo("01\n");
        succeed("put", "new", "record");
        succeed("checkpoint");
        assertThat(last.out()).matches("memory-1: 501 records, \\d+ changed, \\d+ bytes written in \\d+ ms\n");
        succeed("checkpoint");
        assertThat(last.out()).as("incremental").startsWith("memory-1: 501 records, 0 changed, ");
        succeed("put", "newer", "record");
        entries().forEach(ClusterSystemTest::kill);
        succeed("down");
        assertThat(last.out()).as("also of a memory node that was killed").contains("502 records in its checkpoint");
        assertThat(Path.of(folder.fabric().substring("soft:".length()))).doesNotExist();
        succeed("up");
        succeed("get", "newer");
        succeed("down", "--discard");
        succeed("up", "--memory", "64");
        assertThat(run("get", "newer")).as("ended with its records").isEqualTo(ExitStatus.FAILED);
    }

    /** Its memory is not where a folder of the new name would have it, and must not be found there years later. */
    @Test
    void shouldFindItsRecordsAgainInAFolderThatWasMoved() throws IOException
    {
        final Path moved = directory.resolveSibling(directory.getFileName() + "-moved");
        succeed("up", "--memory", "64", "--compute-nodes", "2");
        assertThat(Files.getPosixFilePermissions(directory.resolve("memory-1"))).as("others read no records")
            .isEqualTo(PosixFilePermissions.fromString("rwx------"));
        assertThat(Files.getPosixFilePermissions(directory.resolve("meta")))
            .isEqualTo(PosixFilePermissions.fromString("rwx------"));
        succeed("put", "k", "first");
        succeed("checkpoint");
        succeed("put", "k", "second");
        entries().forEach(ClusterSystemTest::kill);
        Files.move(directory, moved);
        assertThat(CommandLines.run(List.of("up", "--data", moved.toString())).out())
            .as("as many as died").contains("compute-2 ready");
        assertThat(CommandLines.run(List.of("get", "k", "--data", moved.toString())).out()).isEqualTo("second\n");
        kill(new ProcessTable(moved.resolve("processes")).entries().getLast());
        assertThat(CommandLines.run(List.of("up", "--memory", "128", "--data", moved.toString())).err())
            .contains("--memory 128: a part of the cluster is up").hasLineCount(1);
        CommandLines.run(List.of("put", "k", "third", "--data", moved.toString()));
        assertThat(CommandLines.run(List.of("down", "--data", moved.toString())).out())
            .contains("1 record in its checkpoint");
        Files.move(moved, directory);
        succeed("up");
        succeed("get", "k");
        assertThat(last.out()).isEqualTo("third\n");
        final Path fabric = Path.of(ClusterFolder.of(directory).fabric().substring("soft:".length()));
        entries().forEach(ClusterSystemTest::kill);
        Files.delete(fabric.resolve(MemoryFolder.memoryName(directory.resolve("memory-1")) + ".memory"));
        succeed("up");
        succeed("down");
        assertThat(fabric).as("what killed processes left beside memory that was removed").doesNotExist();
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
