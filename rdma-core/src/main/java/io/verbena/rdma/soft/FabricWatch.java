package io.verbena.rdma.soft;

import io.verbena.rdma.soft.shared.AccessMark;
import io.verbena.rdma.soft.shared.FabricDirectory;
import io.verbena.rdma.soft.shared.WatchPace;

import org.agrona.concurrent.SystemNanoClock;

import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A thread that finds out which peers' processes are dead, so that requests to them fail within the retry time, and
 * unmaps what is gone. It costs one attempt at a file lock per other process at each round, and nothing without others;
 * {@link WatchPace} says how often it looks.
 */
public final class FabricWatch implements AutoCloseable
{
    private static final System.Logger LOGGER = System.getLogger(FabricWatch.class.getName());
    private static final long TIDY_NS = TimeUnit.MILLISECONDS.toNanos(500);

    private static final long CLOSE_PAUSE_NS = 200_000;

    private final FabricDirectory files;
    private final Collection<SoftHost> devices;
    private final WatchPace pace;
    private final Thread thread = new Thread(this::run, "verbena-soft-watch");
    /** Failures that were logged; the watch's thread. */
    private final Set<String> reported = new HashSet<>();
    private volatile boolean isClosed;
    /** Written by the watch's thread. */
    private volatile long looks;

    /** @param devices open now; a live view. */
    FabricWatch(final FabricDirectory files, final Collection<SoftHost> devices, final WatchPace pace)
    {
        this.pace = pace;
        this.files = files;
        this.devices = devices;
        thread.setDaemon(true);
    }

    void start()
    {
        thread.start();
    }

    private void run()
    {
        long tidiedNs = SystemNanoClock.INSTANCE.nanoTime();
        while (!isClosed)
        {
            pace.sleep(this::accesses);
            attempt("find dead peers", this::findDead);
            looks++;
            if (SystemNanoClock.INSTANCE.nanoTime() - tidiedNs >= TIDY_NS)
            {
                tidiedNs = SystemNanoClock.INSTANCE.nanoTime();
                for (final SoftHost device : devices)
                {
                    attempt("unmap what is gone", () -> device.watch(device.peers()::tidy));
                }
            }
        }
        files.probeOnly(Set.of());
    }

    /** How often it has looked for dead peers so far; any thread. */
    long looks()
    {
        return looks;
    }

    private long accesses()
    {
        final long[] sum = {0};
        devices.forEach(device -> device.watch(() -> sum[0] += AccessMark.accesses(device.file())));
        return sum[0];
    }

    private void findDead()
    {
        final Set<Integer> owners = new HashSet<>();
        for (final SoftHost device : devices)
        {
            attempt("find peers", () -> device.watch(() -> device.peers().collectOwners(owners)));
        }
        owners.remove(files.ownerId()); // while it looks, its own process lives
        files.probeOnly(owners);
        owners.removeIf(owner -> files.isAlive(owner));
        for (final int owner : owners)
        {
            for (final SoftHost device : devices)
            {
                attempt("give up a dead peer", () -> device.watch(() -> device.peers().ownerDied(owner)));
            }
            attempt("remove the files of a dead peer", () -> files.removeFilesOfDead(owner));
        }
    }

    /** What fails is tried again in a later period: without this thread nobody would find out about any death. */
    private void attempt(final String what, final Runnable step)
    {
        try
        {
            step.run();
        }
        catch (final RuntimeException ex)
        {
            // Once: it may fail in each period, and says other times or processes then.
            if (reported.add(what + ex.getClass().getName()))
            {
                LOGGER.log(System.Logger.Level.WARNING, "cannot " + what + " now, goes on trying", ex);
            }
        }
    }

    @Override
    public void close()
    {
        isClosed = true;
        LockSupport.unpark(thread);
        final long deadlineNs = SystemNanoClock.INSTANCE.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        while (thread.isAlive() && SystemNanoClock.INSTANCE.nanoTime() - deadlineNs < 0)
        {
            LockSupport.parkNanos(CLOSE_PAUSE_NS);
        }
    }
}
