package io.verbena.cli.cluster;

import io.verbena.cli.CommandLines;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.memory.MemoryFolder;
import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What commands do with the folder of a cluster of which nothing runs. */
class LocalClusterTest
{
    private static final long LENGTH = 1 << 20;

    @TempDir
    private Path directory;
    private final List<String> said = new ArrayList<>();

    @Test
    void shouldEndADiscardThatWasInterruptedAndRestoreNothing() throws IOException
    {
        final ClusterFolder folder = new ClusterFolder(directory.resolve("cluster"));
        final String fabricName = "soft:" + directory.resolve("fabric");
        Files.createDirectories(folder.path());
        Files.writeString(folder.token(), "00");
        folder.write("verbena://127.0.0.1:1", fabricName);
        final Path node = folder.memoryNode("memory-1");
        MemoryFolder.open(node, LENGTH, 0).close();
        Files.createDirectories(node.resolve("checkpoint"));
        Files.writeString(node.resolve("checkpoint/CURRENT"), "records");
        try (Fabric fabric = Fabrics.open(fabricName);
            Device device = fabric.openDevice("holder");
            ProtectionDomain domain = device.allocateProtectionDomain();
            MemoryRegion held =
                domain.allocateNamed(MemoryFolder.memoryName(node), LENGTH, AccessFlags.ALL_REMOTE);
            LocalCluster cluster = LocalCluster.open(folder))
        {
            assertThat(held.lengthBytes()).isEqualTo(LENGTH);
            assertThatThrownBy(() -> cluster.down(said::add)).as("halfway: the memory cannot be removed")
                .isInstanceOf(CommandFailedException.class).hasMessageContaining("is left");
        }
        assertThat(folder.isDiscarding()).isTrue();
        try (LocalCluster cluster = LocalCluster.open(folder))
        {
            assertThat(cluster.downWithCheckpoint(said::add)).isTrue();
        }
        assertThat(said).containsExactly("removed what 'verbena down --discard' had begun to remove");
        assertThat(node).doesNotExist();
        assertThat(folder.isDiscarding()).isFalse();
    }

    @Test
    void shouldNotLookAtMemoryThatIsBeingChangedOrRemoved() throws IOException
    {
        final ClusterFolder folder = new ClusterFolder(directory.resolve("cluster"));
        Files.createDirectories(folder.path());
        Files.writeString(folder.token(), "00");
        folder.write("verbena://127.0.0.1:1", "soft:" + directory.resolve("fabric"));
        MemoryFolder.open(folder.memoryNode("memory-1"), LENGTH, 0).close();
        try (LocalCluster other = LocalCluster.open(folder))
        {
            assertThat(other.live()).isEmpty();
            assertNotOpened(folder, "another command changes the cluster in ");
        }
        folder.beginDiscard();
        assertNotOpened(folder, "'verbena down --discard' removes the others");
        folder.endDiscard();
        assertNotOpened(folder, "there is no memory of memory-1");
        LocalCluster.open(folder).close(); // it is held no more
    }

    private static void assertNotOpened(final ClusterFolder folder, final String why)
    {
        assertThatThrownBy(() -> OfflineStore.open(folder)).isInstanceOf(CommandFailedException.class)
            .hasMessageContaining(why);
    }

    @Test
    void shouldLeaveNoTokenOfAMetaServerThatDidNotStart() throws IOException
    {
        final Path data = directory.resolve("data");
        final List<String> command = List.of(
            "meta-server", "--data", data.toString(), "--listen", "verbena://127.0.0.1:0", "--fabric");
        final List<String> onNothing = new ArrayList<>(command);
        onNothing.add("nonsense");
        assertThat(CommandLines.run(onNothing).err()).contains("nonsense").hasLineCount(1);
        assertThat(data).doesNotExist();

        Files.createDirectories(data.resolve("meta/poems"));
        final List<String> onFabric = new ArrayList<>(command);
        onFabric.add("soft:" + directory.resolve("fabric"));
        assertThat(CommandLines.run(onFabric).err()).contains("'poems'").hasLineCount(1);
        assertThat(data.resolve("token")).doesNotExist();
        Files.writeString(data.resolve("token"), "ab".repeat(32));
        Files.setPosixFilePermissions(data.resolve("token"), PosixFilePermissions.fromString("rw-------"));
        assertThat(CommandLines.run(onFabric).err()).contains("'poems'");
        assertThat(data.resolve("token")).as("one that was there before").hasContent("ab".repeat(32));
    }

    @Test
    void shouldLeaveAFolderAloneThatHoldsSomethingElse() throws IOException
    {
        Files.writeString(directory.resolve("poem.txt"), "roses");
        assertThatThrownBy(() -> LocalCluster.open(new ClusterFolder(directory)))
            .isInstanceOf(CommandFailedException.class).hasMessageContaining("holds something else ('poem.txt')");
        assertThat(directory.toFile().list()).containsExactly("poem.txt");
    }
}
