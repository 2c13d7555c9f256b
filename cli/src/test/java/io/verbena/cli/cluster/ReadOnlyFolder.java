package io.verbena.cli.cluster;

import io.verbena.cli.console.ExitStatus;

import java.io.IOException;
import java.nio.file.Path;

/**
 * A cluster whose data is on a file system that cannot be written at times, as one that was remounted after an error.
 * A process, because that is mounted in the mount namespace of it and of its children only.
 */
public final class ReadOnlyFolder
{
    private ReadOnlyFolder()
    {
    }

    /** @param args folder of the cluster, which is there. */
    public static void main(final String[] args) throws IOException, InterruptedException
    {
        final Path folder = Path.of(args[0]);
        final MountedCluster cluster = new MountedCluster(folder);
        MountedCluster.mount("-t", "tmpfs", "-o", "size=200m", "tmpfs", folder.toString());
        boolean isUp = false;
        try
        {
            cluster.expect(ExitStatus.OK, "up: ", "up", "--memory", "64");
            isUp = true;
            cluster.expect(ExitStatus.OK, "", "put", "hello", "world");
            cluster.expect(ExitStatus.OK, "1 record in its checkpoint", "down");
            isUp = false;
            readOnlyAsAWhole(cluster, folder);
            isUp = true;
            readOnlyWhileItRuns(cluster, folder);
            isUp = false;
        }
        finally
        {
            MountedCluster.mount("-o", "remount,rw", folder.toString());
            if (isUp)
            {
                cluster.run("down", "--discard");
            }
        }
        System.out.println("PASSED");
    }

    private static void readOnlyAsAWhole(final MountedCluster cluster, final Path folder)
        throws IOException, InterruptedException
    {
        MountedCluster.mount("-o", "remount,ro", folder.toString());
        cluster.expect(ExitStatus.CANNOT_CREATE, "(Read-only file system): give --data DIR that can be written", "up");
        cluster.expect(ExitStatus.CANNOT_CREATE, "Read-only file system", "down");
        MountedCluster.mount("-o", "remount,rw", folder.toString());
        for (final String part : new String[]{"meta", "memory-1"})
        {
            final String path = folder.resolve(part).toString();
            MountedCluster.mount("--bind", path, path);
            MountedCluster.mount("-o", "remount,bind,ro", path);
            cluster.expect(ExitStatus.UNAVAILABLE, "Read-only file system", "up");
            cluster.expect(ExitStatus.UNAVAILABLE, path, "up");
            MountedCluster.unmount(path);
        }
        cluster.expect(ExitStatus.OK, "up: ", "up");
        cluster.expect(ExitStatus.OK, "world", "get", "hello");
    }

    /** Its records can be written and read on; only what goes to the disk does not. */
    private static void readOnlyWhileItRuns(final MountedCluster cluster, final Path folder)
        throws IOException, InterruptedException
    {
        final String node = folder.resolve("memory-1").toString();
        cluster.expect(ExitStatus.OK, "", "put", "more", "records");
        MountedCluster.mount("--bind", node, node);
        MountedCluster.mount("-o", "remount,bind,ro", node);
        cluster.expect(ExitStatus.CANNOT_CREATE, "Read-only file system", "checkpoint");
        cluster.expect(ExitStatus.OK, "records", "get", "more");
        MountedCluster.mount("-o", "remount,bind,rw", node);
        cluster.expect(ExitStatus.OK, "2 records in its checkpoint", "down");
        MountedCluster.unmount(node);
        cluster.expect(ExitStatus.OK, "up: ", "up");
        cluster.expect(ExitStatus.OK, "records", "get", "more");
        cluster.expect(ExitStatus.OK, "down", "down", "--discard");
    }
}
