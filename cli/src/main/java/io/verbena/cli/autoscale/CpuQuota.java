package io.verbena.cli.autoscale;

import io.verbena.cli.console.FileErrors;

import org.agrona.concurrent.SystemNanoClock;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Holds processes to a part of a processor each, by control groups of Linux: of version 1 ({@code cpu.cfs_quota_us}),
 * or else of version 2 ({@code cpu.max}). The groups are removed when it is closed; processes that still run go
 * on without it. Thread-safe.
 */
final class CpuQuota implements AutoCloseable
{
    /** Short, so that a process that has used its part up waits for milliseconds only. */
    private static final long PERIOD_US = 10_000;
    private static final long REMOVAL_NS = TimeUnit.SECONDS.toNanos(5);
    private static final long POLL_NS = TimeUnit.MILLISECONDS.toNanos(20);

    private final Path folder;
    private final boolean isFirstVersion;
    private final long quotaUs;
    private final List<Path> groups = new ArrayList<>();

    private CpuQuota(final Path folder, final boolean isFirstVersion, final double processors)
    {
        this.folder = folder;
        this.isFirstVersion = isFirstVersion;
        quotaUs = Math.round(processors * PERIOD_US);
    }

    /**
     * Makes a group that others are made in.
     *
     * @param processors of each process, above 0.
     * @param mounts     the lines of {@code /proc/mounts}.
     * @return the quota.
     * @throws IOException when there are no control groups that this user can change; the message says why.
     */
    static CpuQuota open(final double processors, final List<String> mounts) throws IOException
    {
        String why = "no control groups are mounted that limit processors";
        for (final String line : mounts)
        {
            final String[] fields = line.split(" ");
            final boolean isFirst = fields.length > 3 && "cgroup".equals(fields[2]) &&
                Arrays.asList(fields[3].split(",")).contains("cpu");
            final boolean isSecond = fields.length > 3 && "cgroup2".equals(fields[2]);
            if (!isFirst && !isSecond)
            {
                continue;
            }
            final Path folder = Path.of(fields[1]).resolve("verbena-bench-" + ProcessHandle.current().pid());
            try
            {
                return create(folder, isFirst, processors);
            }
            catch (final IOException ex)
            {
                why = folder + ": " + FileErrors.reason(ex);
                Files.deleteIfExists(folder);
            }
        }
        throw new IOException(why);
    }

    private static CpuQuota create(final Path folder, final boolean isFirst, final double processors)
        throws IOException
    {
        Files.createDirectory(folder);
        if (!isFirst)
        {
            Files.writeString(folder.getParent().resolve("cgroup.subtree_control"), "+cpu");
            Files.writeString(folder.resolve("cgroup.subtree_control"), "+cpu");
        }
        // Else all processes together would have the part of one thread outside of the group.
        Files.writeString(folder.resolve(isFirst ? "cpu.shares" : "cpu.weight"), isFirst ? "16384" : "1600");
        final CpuQuota quota = new CpuQuota(folder, isFirst, processors);
        quota.group("trial"); // whether limits can be written
        return quota;
    }

    private synchronized Path group(final String name) throws IOException
    {
        final Path group = folder.resolve(name);
        if (!groups.contains(group))
        {
            Files.createDirectory(group);
            groups.add(group);
            if (isFirstVersion)
            {
                Files.writeString(group.resolve("cpu.cfs_period_us"), Long.toString(PERIOD_US));
                Files.writeString(group.resolve("cpu.cfs_quota_us"), Long.toString(quotaUs));
            }
            else
            {
                Files.writeString(group.resolve("cpu.max"), quotaUs + " " + PERIOD_US);
            }
        }
        return group;
    }

    /**
     * Holds a process, and what it starts later, to the quota from now on.
     *
     * @param pid of the process.
     * @throws IOException when it has ended, or the group cannot be made.
     */
    void limit(final long pid) throws IOException
    {
        Files.writeString(group("process-" + pid).resolve("cgroup.procs"), Long.toString(pid));
    }

    @Override
    public synchronized void close()
    {
        final long deadlineNs = SystemNanoClock.INSTANCE.nanoTime() + REMOVAL_NS;
        final List<Path> left = new ArrayList<>(groups);
        left.add(folder);
        while (!left.isEmpty() && SystemNanoClock.INSTANCE.nanoTime() - deadlineNs < 0)
        {
            left.removeIf(this::remove);
            if (!left.isEmpty())
            {
                LockSupport.parkNanos(POLL_NS);
            }
        }
    }

    /** What still runs in it goes on without a quota. */
    private boolean remove(final Path group)
    {
        try
        {
            final Path processes = group.resolve("cgroup.procs");
            for (final String pid : Files.exists(processes) ? Files.readAllLines(processes) : List.<String>of())
            {
                Files.writeString(folder.resolveSibling("cgroup.procs"), pid);
            }
            return Files.deleteIfExists(group) || true;
        }
        catch (final IOException ex)
        {
            return false; // a process in it is still ending
        }
    }
}
