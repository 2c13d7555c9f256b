package io.verbena.cli.cluster;

import io.verbena.cli.CommandLines;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A group of meta servers goes on while the disk of a follower is full, and has lost nothing afterwards; with
 * {@code -Dverbena.meta.fullLeader=true} then also that of the leader.
 */
@Timeout(660)
class MetaGroupFullDiskSystemTest
{
    /** System property: also the leader's. */
    static final String LEADER = "verbena.meta.fullLeader";
    private static final int MINUTES = 10;

    @TempDir
    private Path directory;

    private Path cluster()
    {
        return directory.resolve("cluster");
    }

    /** Where the program did not end by itself. */
    @AfterEach
    void leaveNothingBehind()
    {
        CommandLines.run(List.of("down", "--discard", "--data", cluster().toString()));
    }

    @Test
    void shouldGoOnWithoutAMemberWhoseDiskIsFull() throws Exception
    {
        for (int member = 2; member <= CalledGroup.MEMBERS; member++)
        {
            Files.createDirectories(ClusterFolder.of(cluster()).metaServer(member));
        }
        assertThat(MountedCluster.saidBy(FullMetaDisk.class, cluster(), directory, MINUTES)).contains("PASSED");
    }
}
