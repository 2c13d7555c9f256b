package io.verbena.cli.cluster;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;

import static org.assertj.core.api.Assertions.assertThat;

/** A group of meta servers goes on while the disk of a member is full, and has lost nothing when there is room again. */
@Timeout(600)
class MetaGroupFullDiskSystemTest
{
    @TempDir
    private Path directory;

    @Test
    void shouldGoOnWithoutAFollowerAndThenWithoutTheLeaderWhoseDiskIsFull() throws Exception
    {
        final Path cluster = directory.resolve("cluster");
        for (int member = 2; member <= CalledGroup.MEMBERS; member++)
        {
            Files.createDirectories(ClusterFolder.of(cluster).metaServer(member));
        }
        assertThat(MountedCluster.saidBy(FullMetaDisk.class, cluster, directory)).contains("PASSED");
    }
}
