package io.verbena.embedded;

import io.verbena.client.KvClosedException;
import io.verbena.client.KvTable;
import io.verbena.client.TableOptions;
import io.verbena.rdma.soft.SoftFabricOptions;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** How a cluster starts, ends, and says that it cannot. */
@Timeout(120)
class EmbeddedClusterLifecycleTest
{
    private static final byte[] KEY = {1};

    @TempDir
    private Path folder;

    @Test
    void shouldLeaveNothingBehind() throws IOException
    {
        final Set<String> threadsBefore = verbenaThreads();
        final Path data;
        try (EmbeddedCluster cluster = Verbena.embedded())
        {
            cluster.client().createTable("t", TableOptions.DEFAULTS).put(KEY, KEY);
            data = cluster.dataDirectory();
            assertThat(data).isDirectory();
            assertThat(verbenaThreads()).contains(
                "verbena-meta-server", "verbena-memory-1", "verbena-memory-2", "verbena-compute-1");
        }

        assertThat(data).doesNotExist();
        assertThat(regionsOfThisProcess()).isEmpty();
        assertThat(verbenaThreads()).isEqualTo(threadsBefore);
    }

    @Test
    void shouldRunSeveralClustersApart()
    {
        try (EmbeddedCluster one = EmbeddedCluster.start(small());
            EmbeddedCluster other = EmbeddedCluster.start(small()))
        {
            one.client().createTable("t", new TableOptions(10)).put(KEY, KEY);

            assertThat(other.client().tables()).isEmpty();
            assertThat(one.dataDirectory()).isNotEqualTo(other.dataDirectory());
        }
    }

    @Test
    void shouldSayThatAFabricCannotBeUsedAndUndoWhatWasBegun()
    {
        assertThatThrownBy(() -> small().fabric("infiniband"))
            .isInstanceOf(EmbeddedClusterException.class).hasMessageStartingWith("no such fabric: 'infiniband'");

        final EmbeddedClusterOptions options = small().dataDirectory(folder.resolve("data"));
        assertThatThrownBy(() -> EmbeddedCluster.start(options.fabric("soft:/proc/none")))
            .isInstanceOf(FabricUnusableException.class)
            .hasMessageStartingWith("fabric soft:/proc/none cannot be used");
        EmbeddedCluster.start(options.fabric("soft")).close();
    }

    @Test
    void shouldKeepNumbersButNoTablesInADataDirectory()
    {
        final int incarnation;
        try (EmbeddedCluster cluster = EmbeddedCluster.start(small().dataDirectory(folder.resolve("data"))))
        {
            cluster.client().createTable("t", new TableOptions(10)).put(KEY, KEY);
            incarnation = cluster.computeNodes().getFirst().incarnation();
        }
        assertThat(folder.resolve("data")).isDirectory();

        try (EmbeddedCluster cluster = EmbeddedCluster.start(small().dataDirectory(folder.resolve("data"))))
        {
            assertThat(cluster.client().tables()).isEmpty();
            final KvTable table = cluster.client().createTable("t", new TableOptions(10));
            assertThat(table.get(KEY)).isEmpty();
            assertThat(cluster.computeNodes().getFirst().incarnation()).isGreaterThan(incarnation);
        }
    }

    @Test
    void shouldRefuseADataDirectoryInUse()
    {
        try (EmbeddedCluster cluster = EmbeddedCluster.start(small().dataDirectory(folder)))
        {
            assertThatThrownBy(() -> EmbeddedCluster.start(small().dataDirectory(folder)))
                .isInstanceOf(EmbeddedClusterException.class).hasMessageContaining(folder.toString());
            assertThat(cluster.client().tables()).isEmpty();
        }
    }

    @Test
    void shouldRefuseADataDirectoryThatIsAFile() throws IOException
    {
        final Path file = Files.createFile(folder.resolve("file"));

        assertRefused(small().dataDirectory(file), file.toString());
        assertRefused(small().dataDirectory(file.resolve("below")), file.toString());
    }

    @Test
    void shouldSayThatThereIsNotEnoughSharedMemory() throws IOException
    {
        assertRefused(small().memoryNodes(1).memoryBytesPerNode(100L << 30), "bytes");
        assertThat(regionsOfThisProcess()).isEmpty();
    }

    @Test
    void shouldSayThatAStepTookTooLong() throws IOException
    {
        assertRefused(small().stepTimeoutNs(1), "memory node");
        assertThat(regionsOfThisProcess()).isEmpty();
    }

    @Test
    void shouldRefuseOptionsOutOfRange()
    {
        final EmbeddedClusterOptions options = new EmbeddedClusterOptions();

        assertThatThrownBy(() -> options.memoryNodes(0)).hasMessageContaining("memoryNodes=0");
        assertThatThrownBy(() -> options.memoryNodes(65)).hasMessageContaining("memoryNodes=65");
        assertThatThrownBy(() -> options.computeNodes(-1)).hasMessageContaining("computeNodes=-1");
        assertThatThrownBy(() -> options.memoryBytesPerNode(1)).hasMessageContaining("memoryBytesPerNode=1");
        assertThatThrownBy(() -> options.stepTimeoutNs(0)).hasMessageContaining("stepTimeoutNs=0");
    }

    @Test
    void shouldRefuseEverythingAfterClose()
    {
        final EmbeddedCluster cluster = EmbeddedCluster.start(small());
        final KvTable table = cluster.client().createTable("t", new TableOptions(10));
        cluster.close();
        cluster.close();

        assertThatThrownBy(() -> table.get(KEY)).isInstanceOf(KvClosedException.class);
        assertThatThrownBy(cluster::addComputeNode).isInstanceOf(EmbeddedClusterException.class);
        assertThatThrownBy(cluster::computeVerbCounters).isInstanceOf(EmbeddedClusterException.class);
    }

    @Test
    void shouldDeleteTemporaryFoldersOfDeadProcessesOnly() throws IOException
    {
        final DataFolder alive = DataFolder.openTemporary(folder);
        final Path dead = Files.createDirectory(folder.resolve("verbena-embedded-dead"));
        Files.createFile(dead.resolve("owner.lock"));
        Files.createFile(Files.createDirectory(dead.resolve("meta")).resolve("file"));
        final Path foreign = Files.createDirectory(folder.resolve("verbena-embedded-foreign"));

        final DataFolder next = DataFolder.openTemporary(folder);

        assertThat(dead).doesNotExist();
        assertThat(foreign).exists();
        assertThat(alive.path()).exists();
        next.close();
        alive.close();
        assertThat(alive.path()).doesNotExist();
    }

    private static EmbeddedClusterOptions small()
    {
        return new EmbeddedClusterOptions().memoryNodes(1).memoryBytesPerNode(8 << 20);
    }

    private static void assertRefused(final EmbeddedClusterOptions options, final String fact)
    {
        assertThatThrownBy(() -> EmbeddedCluster.start(options)).isInstanceOf(EmbeddedClusterException.class)
            .message().contains(fact).doesNotContain("\n");
    }

    private static Set<String> verbenaThreads()
    {
        return Thread.getAllStackTraces().keySet().stream().map(Thread::getName)
            .filter((name) -> name.startsWith("verbena-") && !"verbena-client-sweeper".equals(name))
            .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Files of the soft fabric carry a tag of their process; other processes may be at work beside this test. */
    private static Set<Path> regionsOfThisProcess() throws IOException
    {
        final Path directory = new SoftFabricOptions().directory();
        if (!Files.isDirectory(directory))
        {
            return Set.of();
        }
        try (Stream<Path> maps = Files.lines(Path.of("/proc/self/maps")).filter((line) -> line.contains("/verbena-"))
            .map((line) -> Path.of(line.substring(line.indexOf('/')).replace(" (deleted)", ""))))
        {
            return maps.filter(Files::exists).collect(Collectors.toSet());
        }
    }
}
