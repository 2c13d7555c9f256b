package io.verbena.cli.cluster;

import io.verbena.cli.console.ExitStatus;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A cluster one of whose memory nodes has its data on a file system of its own, which is full at times. A process,
 * because the file system is mounted in the mount namespace of it and of its children only.
 */
public final class FullDisk
{
    private FullDisk()
    {
    }

    /** @param args folder of the cluster; a small file system is mounted at {@code memory-1}, which is there. */
    public static void main(final String[] args) throws IOException, InterruptedException
    {
        final Path folder = Path.of(args[0]);
        final MountedCluster cluster = new MountedCluster(folder);
        MountedCluster.mount("-t", "tmpfs", "-o", "size=40m", "tmpfs", folder.resolve("memory-1").toString());
        final Path filler = folder.resolve("memory-1/checkpoint/filler");
        boolean isUp = false;
        try
        {
            cluster.expect(ExitStatus.OK, "up: ", "up", "--memory", "64");
            isUp = true;
            cluster.expect(ExitStatus.OK, "", "put", "hello", "world");
            cluster.expect(ExitStatus.OK, "memory-1: 1 record, 1 changed", "checkpoint");

            MountedCluster.fill(filler);
            cluster.expect(ExitStatus.OK, "", "put", "more", "x".repeat(10_000));
            cluster.expect(ExitStatus.CANNOT_CREATE, "verbena: memory-1: ", "checkpoint");
            cluster.expect(ExitStatus.OK, "x", "get", "more");
            cluster.expect(ExitStatus.OK, "error: memory-1: the last checkpoint failed", "status");
            cluster.expect(ExitStatus.FAILED, "memory-1: its records stay in shared memory", "down");
            Files.delete(filler);
            cluster.expect(ExitStatus.OK, "memory-1: 2 records in its checkpoint", "down");
            isUp = false;
        }
        finally
        {
            Files.deleteIfExists(filler);
            if (isUp)
            {
                cluster.run("down", "--discard");
            }
        }
        System.out.println("PASSED");
    }
}
