package io.verbena.rdma.soft.shared;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Which process this is, so that another one of the host can tell whether it still lives, and whether it is on the same
 * host at all.
 *
 * @param pid              in its process namespace.
 * @param startedTicks     clock ticks after boot when it started ({@code /proc/PID/stat}, field 22).
 * @param pidNamespace     inode of its process namespace; 0 when unknown.
 * @param networkNamespace inode of its network namespace; 0 when unknown.
 */
public record ProcessIdentity(long pid, long startedTicks, long pidNamespace, long networkNamespace)
{
    private static final int STARTED_FIELD = 20;

    /** This process, as it is now: threads may have been moved to another network namespace. */
    static ProcessIdentity own()
    {
        final long pid = ProcessHandle.current().pid();
        return new ProcessIdentity(pid, startedTicks(pid), namespace("pid"), namespace("net"));
    }

    /** Of a device's owner, as its file says, which is mapped at {@code base}. */
    public static ProcessIdentity of(final long base)
    {
        return new ProcessIdentity(
            SharedWords.getLong(base + DeviceFileDescriptor.PID_OFFSET),
            SharedWords.getLong(base + DeviceFileDescriptor.STARTED_OFFSET),
            SharedWords.getLong(base + DeviceFileDescriptor.PID_NAMESPACE_OFFSET),
            SharedWords.getLong(base + DeviceFileDescriptor.NETWORK_NAMESPACE_OFFSET));
    }

    /**
     * Kills the process (SIGKILL) when it is certainly the one that is meant, and not this one.
     *
     * @return whether the signal was sent.
     */
    boolean kill()
    {
        if (pidNamespace == 0 || pidNamespace != namespace("pid") || pid == ProcessHandle.current().pid())
        {
            return false;
        }
        // The handle remembers the start time itself: it does not kill a process that takes the pid after this check.
        final Optional<ProcessHandle> process = ProcessHandle.of(pid);
        return process.isPresent() && startedTicks == startedTicks(pid) && process.get().destroyForcibly();
    }

    private static long startedTicks(final long pid)
    {
        try
        {
            final String stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"), StandardCharsets.UTF_8);
            // The second field is the name in parentheses, and may hold anything.
            return Long.parseLong(stat.substring(stat.lastIndexOf(')') + 1).split(" ")[STARTED_FIELD]);
        }
        catch (final IOException | RuntimeException ex)
        {
            return 0;
        }
    }

    private static long namespace(final String name)
    {
        try
        {
            final String link = Files.readSymbolicLink(Path.of("/proc/self/ns", name)).toString();
            return Long.parseLong(link.substring(link.indexOf('[') + 1, link.length() - 1));
        }
        catch (final IOException | RuntimeException ex)
        {
            return 0;
        }
    }
}
