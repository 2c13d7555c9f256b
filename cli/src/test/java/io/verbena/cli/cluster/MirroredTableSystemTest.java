package io.verbena.cli.cluster;

import io.verbena.cli.CommandLines;
import io.verbena.cli.cluster.ProcessTable.Entry;
import io.verbena.cli.console.ExitStatus;
import io.verbena.client.KvClient;
import io.verbena.client.KvClientOptions;
import io.verbena.client.KvTable;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

/** Tables with copies on memory nodes that are processes, of which some are killed. */
@Timeout(300)
class MirroredTableSystemTest
{
    private static final int RECORDS = 200;
    /** With 100 ms between two of them: on a busy machine processes start for many seconds. */
    private static final int MOST_LOOKS = 300;
    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    @TempDir
    private Path directory;
    private CommandLines.Result last;

    private void start(final String... metaOptions)
    {
        final List<String> all = new ArrayList<>(List.of("--lease-seconds", "3"));
        all.addAll(List.of(metaOptions));
        up(all);
    }

    /** As the command, without the table that it makes, which could take a chunk that a group has. */
    private void up(final List<String> metaOptions)
    {
        try (LocalCluster cluster = LocalCluster.open(folder()))
        {
            cluster.metaOptions(metaOptions);
            cluster.failureDomains(List.of("rack-1", "rack-1", "rack-2"));
            cluster.up(LocalCluster.ANY_PORT, 3, 64, 1, (line) -> {});
        }
    }

    @AfterEach
    void leaveNothingBehind()
    {
        run("down", "--discard");
        assertThat(new ProcessTable(folder().processes()).entries()).isEmpty();
    }

    private ClusterFolder folder()
    {
        return ClusterFolder.of(directory.resolve("cluster"));
    }

    private int run(final String... arguments)
    {
        final List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--data", directory.resolve("cluster").toString()));
        last = CommandLines.run(all);
        return last.status();
    }

    private String said(final String... arguments)
    {
        assertThat(run(arguments)).as("%s: %s%s", List.of(arguments), last.out(), last.err()).isZero();
        return last.out();
    }

    private KvClient client()
    {
        return KvClient.connect(
            folder().address(), new KvClientOptions().tokenFile(folder().token()).timeout(TIMEOUT));
    }

    private void kill(final int memoryNode)
    {
        final Entry entry = new ProcessTable(folder().processes()).entries().stream()
            .filter((each) -> each.name().equals("memory-" + memoryNode)).findFirst().orElseThrow();
        final ProcessHandle process = entry.process().orElseThrow();
        process.destroyForcibly();
        process.onExit().join();
    }

    private static byte[] bytes(final int number)
    {
        return ByteBuffer.allocate(Integer.BYTES).putInt(number).array();
    }

    private static void requireRecords(final KvTable table, final int count)
    {
        for (int i = 0; i < count; i++)
        {
            assertThat(table.get(bytes(i)).orElseThrow().value()).as("record %d", i).isEqualTo(bytes(-i));
        }
    }

    private Map<?, ?> group()
    {
        run("status", "--json", "--no-tables");
        final List<?> processes = (List<?>)JsonReader.object(last.out()).get("processes");
        final Map<?, ?> metaServer = (Map<?, ?>)((Map<?, ?>)processes.getFirst()).get("health");
        return (Map<?, ?>)((List<?>)metaServer.get("groups")).getFirst();
    }

    /** Health endpoints are asked more seldom than views change. */
    private void awaitView(final long number) throws InterruptedException
    {
        for (int i = 0; i < MOST_LOOKS && (Long)group().get("view") < number; i++)
        {
            Thread.sleep(100);
        }
        assertThat(group().get("view")).isEqualTo(number);
    }

    /** Who closes a view closes all connections, also those for no group: they are made again after a pause. */
    private void awaitNoError() throws InterruptedException
    {
        for (int i = 0; i < MOST_LOOKS && said("status").contains("error:"); i++)
        {
            Thread.sleep(100);
        }
        assertThat(said("status")).doesNotContain("error:");
    }

    @Test
    void shouldHaveAllRecordsWhenAllMemoryNodesButOneAreKilled() throws Exception
    {
        start("--fill-after-seconds", "1");
        assertThat(said("table", "create", "t", "--replicas", "3", "--records", "2000")).isEqualTo(
            "table t has 3 copies, on memory nodes 1 (rack-1), 2 (rack-1), 3 (rack-2); there are fewer failure " +
            "domains than copies: what takes rack-1 down takes 2 of them\n");
        try (KvClient client = client())
        {
            final KvTable table = client.table("t");
            put(table, 0, RECORDS);
            final List<?> members = (List<?>)group().get("memory_nodes");
            assertThat(said("table", "stat", "t")).contains("copies           3, on memory nodes 1, 2, 3 (group ");
            assertThat(said("status")).doesNotContain("error:").containsPattern("warning: group \\d+: memory nodes ")
                .containsPattern("GROUP +VIEW +STATE +MEMORY NODES")
                .containsPattern("\\d+ +1 +active +" + members.get(0) + ", " + members.get(1) + ", " + members.get(2));
            assertThat(said("table", "check", "--all")).contains("SOUND: every invariant holds", "group ");

            final long head = (Long)members.getFirst();
            kill((int)head);
            table.put(bytes(RECORDS), bytes(-RECORDS));
            requireRecords(table, RECORDS + 1);
            awaitView(2);
            assertThat(run("status")).isEqualTo(ExitStatus.FAILED);
            assertThat(last.out()).contains(": records have 2 copies, at memory node " + members.get(1) + ", " +
                members.get(2) + " instead of 3: 'verbena node fill ID' copies them to another memory node");
            assertThat(said("table", "check", "--all")).contains("SOUND: every invariant holds");

            up(List.of());
            awaitView(3);
            assertThat(group().get("memory_nodes")).as("it came in by itself")
                .isEqualTo(List.of(members.get(1), head, members.getLast()));
            kill((int)head);
            kill(((Long)members.getLast()).intValue());
            table.put(bytes(RECORDS + 1), bytes(-RECORDS - 1));
            requireRecords(table, RECORDS + 2);
            awaitView(4);
            assertThat(said("table", "list", "--long")).containsPattern("t +1 +" + members.get(1) + " \\(group ");
            assertThat(said("table", "check", "t")).contains("SOUND: every invariant holds");
        }
        final Path dump = directory.resolve("t.jsonl");
        said("dump", dump.toString(), "--table", "t");
        assertThat(Files.readAllLines(dump)).hasSize(RECORDS + 2);
        assertThat(run("table", "create", "u", "--replicas", "2")).isEqualTo(ExitStatus.USAGE);
        assertThat(last.err()).contains("create table u was refused: 2 copies need as many memory nodes, and 1 is " +
            "connected to this compute node: start more, or ask for fewer").hasLineCount(1);
        assertThat(run("table", "create", "u", "--replicas", "4")).isEqualTo(ExitStatus.USAGE);
        assertThat(last.err()).contains("--replicas 4: must be 1 to 3, each on another memory node, or auto")
            .hasLineCount(1);
    }

    /** In the end the one that came in is the only one left. */
    @Test
    void shouldGiveAMemoryNodeTheCopiesThatALostOneHad() throws Exception
    {
        start();
        said("table", "create", "t", "--replicas", "3", "--records", "2000");
        try (KvClient client = client())
        {
            final KvTable table = client.table("t");
            put(table, 0, RECORDS);
            final List<?> members = (List<?>)group().get("memory_nodes");
            final int head = ((Long)members.getFirst()).intValue();
            assertThat(said("node", "fill", Integer.toString(head)))
                .isEqualTo("no table lacks a copy that memory node " + head + " could have\n");
            kill(head);
            put(table, RECORDS, 2 * RECORDS);
            awaitView(2);
            said("up");
            assertThat(run("node", "fill", "99")).isEqualTo(ExitStatus.FAILED);
            assertThat(last.err()).contains("node 99 is no memory node that runs").hasLineCount(1);
            assertThat(said("node", "fill", Integer.toString(head))).matches("group \\d+: copies are on memory nodes " +
                members.get(1) + ", " + head + ", " + members.get(2) + ", after \\d+\\.\\d s\n");
            awaitView(3);
            awaitNoError();
            assertThat(said("table", "check", "--all")).contains("SOUND: every invariant holds");
            put(table, 2 * RECORDS, 3 * RECORDS);
            kill(((Long)members.getLast()).intValue());
            put(table, 3 * RECORDS, 4 * RECORDS);
            awaitView(4);
            kill(((Long)members.get(1)).intValue());
            put(table, 4 * RECORDS, 4 * RECORDS + 1);
            awaitView(5);
            requireRecords(table, 4 * RECORDS + 1);
            // Parts of table default, which has one copy, are lost with their memory nodes.
            assertThat(run("table", "check", "t")).isEqualTo(ExitStatus.FAILED);
            assertThat(last.out()).containsPattern("t +801 .* sound\\n").doesNotContain(" of table t");
        }
    }

    private static void put(final KvTable table, final int from, final int to)
    {
        for (int i = from; i < to; i++)
        {
            table.put(bytes(i), bytes(-i));
        }
    }

    @Test
    void shouldCompareCopiesOfAClusterWhoseProcessesHaveEnded()
    {
        start();
        assertThat(said("table", "create", "t", "--replicas", "auto", "--records", "2000")).matches(
            "table t has 2 copies, on memory nodes [12] \\(rack-1\\), 3 \\(rack-2\\); 3 take as many memory " +
            "nodes in different failure domains\n");
        said("put", "key", "value", "--table", "t");
        new ProcessTable(folder().processes()).entries().forEach((entry) ->
        {
            final ProcessHandle process = entry.process().orElseThrow();
            process.destroyForcibly();
            process.onExit().join();
        });
        assertThat(said("table", "check", "--all")).contains("SOUND: every invariant holds", "  group ");
        final String slot = said("table", "inspect", "slot", "--key", "key", "--table", "t");
        assertThat(slot).containsPattern("slot at 0x[0-9a-f]+ of group \\d+, memory nodes \\d, \\d");
        final long offset = Long.decode(slot.replaceAll("(?s)slot at (0x[0-9a-f]+) .*", "$1"));
        final long word = Long.parseUnsignedLong(slot.replaceAll("(?s).*word +0x([0-9a-f]+).*", "$1"), 16);
        try (OfflineStore store = OfflineStore.open(folder()))
        {
            final int group = store.groupIds().getFirst();
            assertThat(store.copyCount(group)).isEqualTo(2);
            store.swapCopy(group, 0, offset, word, 0);
        }
        assertThat(run("table", "check", "--all")).isEqualTo(ExitStatus.FAILED);
        assertThat(last.out()).contains("copy 1 of 2 of group ", "NOT SOUND: 1 violation");
        try (OfflineStore store = OfflineStore.open(folder()))
        {
            store.swapCopy(store.groupIds().getFirst(), 0, offset, 0, word);
        }
        assertThat(said("table", "check", "--all", "--repair")).contains("SOUND: every invariant holds");
    }
}
