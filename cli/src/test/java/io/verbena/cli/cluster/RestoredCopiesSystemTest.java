package io.verbena.cli.cluster;

import io.verbena.cli.CommandLines;
import io.verbena.client.KvClient;
import io.verbena.client.KvClientOptions;
import io.verbena.client.KvTable;
import io.verbena.memory.MemoryFolder;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.rdma.fabric.Fabrics;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/** Tables with copies of a cluster whose host was restarted: the memory of memory nodes is gone, of all or of some. */
@Timeout(300)
class RestoredCopiesSystemTest
{
    private static final int RECORDS = 300;
    private static final int MOST_LOOKS = 300;
    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    @TempDir
    private Path directory;
    private CommandLines.Result last;

    /** With the table that is made with a cluster, too: what restored groups take must not be in its way. */
    @BeforeEach
    void start()
    {
        up();
        said("table", "create", "t", "--replicas", "3", "--records", "2000");
        said("table", "create", "alone", "--replicas", "1", "--records", "2000");
        try (KvClient client = client())
        {
            put(client.table("t"), 0, RECORDS);
            put(client.table("alone"), 0, RECORDS);
        }
    }

    private void up()
    {
        try (LocalCluster cluster = LocalCluster.open(folder()))
        {
            cluster.metaOptions(List.of("--lease-seconds", "3", "--fill-after-seconds", "2"));
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

    private static byte[] bytes(final int number)
    {
        return ByteBuffer.allocate(Integer.BYTES).putInt(number).array();
    }

    private static void put(final KvTable table, final int from, final int to)
    {
        for (int i = from; i < to; i++)
        {
            table.put(bytes(i), bytes(-i));
        }
    }

    private static void requireRecords(final KvTable table, final int count)
    {
        for (int i = 0; i < count; i++)
        {
            assertThat(table.get(bytes(i)).orElseThrow().value()).as("record %d", i).isEqualTo(bytes(-i));
        }
    }

    /** As a restart of the host. */
    private void loseMemory(final List<String> memoryNodes)
    {
        try (Fabric fabric = Fabrics.open(folder().fabric()))
        {
            memoryNodes.forEach((name) ->
                fabric.discardNamed(MemoryFolder.memoryName(folder().memoryNode(name))));
        }
    }

    private Map<?, ?> group()
    {
        run("status", "--json", "--no-tables");
        final List<?> processes = (List<?>)JsonReader.object(last.out()).get("processes");
        final Map<?, ?> metaServer = (Map<?, ?>)((Map<?, ?>)processes.getFirst()).get("health");
        return (Map<?, ?>)((List<?>)metaServer.get("groups")).getFirst();
    }

    private void awaitMembers(final int count) throws InterruptedException
    {
        for (int i = 0; i < MOST_LOOKS && !hasMembers(count); i++)
        {
            Thread.sleep(100);
        }
        assertThat(hasMembers(count)).as("%s", group()).isTrue();
    }

    private boolean hasMembers(final int count)
    {
        final Map<?, ?> group = group();
        return "active".equals(group.get("state")) && count == ((List<?>)group.get("memory_nodes")).size();
    }

    @Test
    void shouldBringTablesWithCopiesBackFromCheckpoints() throws Exception
    {
        assertThat(said("down")).contains("record");
        loseMemory(folder().memoryNodes());
        up();
        try (KvClient client = client())
        {
            requireRecords(client.table("t"), RECORDS);
            requireRecords(client.table("alone"), RECORDS);
            awaitMembers(3);
            put(client.table("t"), RECORDS, 2 * RECORDS);
            requireRecords(client.table("t"), 2 * RECORDS);
        }
        assertThat(said("table", "check", "--all")).contains("SOUND: every invariant holds");
    }

    /** As a crash of all processes, after which the hosts of two are restarted. */
    @Test
    void shouldLoseNothingWhereOneMemoryNodeHasItsMemory() throws Exception
    {
        said("checkpoint");
        try (KvClient client = client())
        {
            put(client.table("t"), RECORDS, 2 * RECORDS);
        }
        new ProcessTable(folder().processes()).entries().forEach((entry) ->
        {
            final ProcessHandle process = entry.process().orElseThrow();
            process.destroyForcibly();
            process.onExit().join();
        });
        loseMemory(folder().memoryNodes().subList(0, 2));
        up();
        try (KvClient client = client())
        {
            requireRecords(client.table("t"), 2 * RECORDS);
            awaitMembers(3);
        }
        assertThat(said("table", "check", "t")).contains("SOUND: every invariant holds");
    }

    @Test
    void shouldStayClosedWhereNobodyHasACheckpointOfTheGroup() throws Exception
    {
        said("down");
        loseMemory(folder().memoryNodes());
        for (final String memoryNode : folder().memoryNodes())
        {
            try (Stream<Path> files = Files.list(folder().memoryNode(memoryNode)))
            {
                files.filter((file) -> file.getFileName().toString().startsWith("checkpoint-group-"))
                    .forEach(RestoredCopiesSystemTest::remove);
            }
        }
        up();
        for (int i = 0; i < MOST_LOOKS && !log().contains("no checkpoint of the group"); i++)
        {
            Thread.sleep(100);
        }
        assertThat(log()).containsPattern("group \\d+ waits for a member that returns with its memory, or until all " +
            "have reported which checkpoint they have restored, since all were lost in view 1; where nobody has one, " +
            "drop its tables, and load a dump; node \\d+ incarnation \\d+ has its memory since incarnation \\d+ " +
            "only, and no checkpoint of the group");
        for (int i = 0; i < MOST_LOOKS && !said("status", "--no-tables").contains("are lost"); i++)
        {
            Thread.sleep(100);
        }
        assertThat(last.out()).contains("all its memory nodes are lost");
        try (KvClient client = client())
        {
            requireRecords(client.table("alone"), RECORDS);
        }
    }

    private String log() throws IOException
    {
        final StringBuilder all = new StringBuilder();
        try (Stream<Path> files = Files.list(folder().logs()))
        {
            for (final Path file : files.filter((each) -> each.getFileName().toString().startsWith("meta")).toList())
            {
                all.append(Files.readString(file));
            }
        }
        return all.toString();
    }

    private static void remove(final Path folder)
    {
        try (Stream<Path> all = Files.walk(folder))
        {
            all.sorted(Comparator.reverseOrder()).forEach((file) -> assertThat(file.toFile().delete()).isTrue());
        }
        catch (final IOException ex)
        {
            throw new UncheckedIOException(ex);
        }
    }
}
