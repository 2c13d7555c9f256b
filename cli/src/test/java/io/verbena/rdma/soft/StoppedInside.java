package io.verbena.rdma.soft;

import io.verbena.rdma.soft.shared.AccessMark;
import io.verbena.rdma.soft.shared.DeviceFile;
import io.verbena.rdma.soft.shared.DeviceFileDescriptor;
import io.verbena.rdma.soft.shared.ProcessIdentity;
import io.verbena.rdma.soft.shared.QueuePairEntry;
import io.verbena.rdma.soft.shared.SharedWords;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Lets a process that is stopped look as if that had happened inside the memory of another one, which no test can bring
 * about at will: its requesters have entered, as their marks say, and do not leave.
 */
public final class StoppedInside
{
    private StoppedInside()
    {
    }

    /**
     * Marks all requesters of a process that lead to another one.
     *
     * @param directory of the fabric.
     * @param pid       of the stopped process.
     * @param targetPid of the other one.
     * @return how many there are.
     */
    public static int mark(final Path directory, final long pid, final long targetPid)
    {
        final Set<Long> targets = new HashSet<>();
        forEachDevice(directory, targetPid, (device) -> targets.add(device.interfaceId()));
        final int[] marked = {0};
        forEachDevice(directory, pid, (device) ->
        {
            final int limit = SharedWords.getIntAcquire(device.base() + DeviceFileDescriptor.QUEUE_PAIR_LIMIT_OFFSET);
            for (int i = 0; i < limit; i++)
            {
                marked[0] += mark(device.queuePairEntry(i), targets) ? 1 : 0;
            }
        });
        return marked[0];
    }

    private static boolean mark(final long entry, final Set<Long> targets)
    {
        final long sequence = AccessMark.sequence(entry);
        final boolean leadsThere =
            targets.contains(SharedWords.getLongAcquire(entry + QueuePairEntry.MARK_TARGET_OFFSET));
        if (leadsThere && !AccessMark.isInside(sequence))
        {
            SharedWords.putLongRelease(entry + QueuePairEntry.MARK_OFFSET, sequence + 1);
        }
        return leadsThere;
    }

    private static void forEachDevice(final Path directory, final long pid, final Consumer<DeviceFile> action)
    {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, "*.device"))
        {
            for (final Path path : files)
            {
                try (DeviceFile device = DeviceFile.attach(path))
                {
                    if (device != null && ProcessIdentity.of(device.base()).pid() == pid)
                    {
                        action.accept(device);
                    }
                }
            }
        }
        catch (final IOException ex)
        {
            throw new UncheckedIOException(ex);
        }
    }
}
