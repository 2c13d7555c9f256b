package io.verbena.rdma.soft;

import org.agrona.concurrent.SystemNanoClock;

import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A thread that finds out which peers' processes are dead, so that requests to them fail within the retry time, and
 * unmaps what is gone. It costs one attempt at a file lock per other process every 20 ms, and nothing without others.
 */
final class FabricWatch implements AutoCloseable
{
    private static final System.Logger LOGGER = System.getLogger(FabricWatch.class.getName());
    private static final long PERIOD_NS = TimeUnit.MILLISECONDS.toNanos(20);
    private static final int PERIODS_PER_TIDY = 25;

    private final FabricDirectory files;
    private final Collection<SoftDevice> devices;
    private final Thread thread = new Thread(this::run, "verbena-soft-watch");
    /** Failures that were told; the watch's thread. */
    private final Set<String> reported = new HashSet<>();
    private volatile boolean isClosed;

    /** @param devices open now; a live view. */
    FabricWatch(final FabricDirectory files, final Collection<SoftDevice> devices)
    {
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
        for (int period = 1; !isClosed; period++)
        {
            LockSupport.parkNanos(PERIOD_NS);
            attempt("look for dead peers", this::lookForDead);
            if (period % PERIODS_PER_TIDY == 0)
            {
                for (final SoftDevice device : devices)
                {
                    attempt("unmap what is gone", () -> device.watch(device.peers()::tidy));
                }
            }
        }
        files.probeOnly(Set.of());
    }

    private void lookForDead()
    {
        final Set<Integer> owners = new HashSet<>();
        for (final SoftDevice device : devices)
        {
            attempt("look for peers", () -> device.watch(() -> device.peers().collectOwners(owners)));
        }
        files.probeOnly(owners);
        owners.removeIf(owner -> files.isAlive(owner));
        for (final int owner : owners)
        {
            for (final SoftDevice device : devices)
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
            LockSupport.parkNanos(PERIOD_NS / 100);
        }
    }
}
