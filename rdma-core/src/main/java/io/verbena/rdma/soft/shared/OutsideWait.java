package io.verbena.rdma.soft.shared;

import io.verbena.rdma.verbs.RdmaException;

import org.agrona.concurrent.SystemNanoClock;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Waits until requesters that were inside memory being revoked have left it. A requester that does not leave within
 * the deadline is stopped or dead: a dead one lands nothing any more; a stopped one is killed when its process opted in
 * as a node, and otherwise the revocation fails with nothing freed. It never just goes on.
 */
public final class OutsideWait
{
    private static final long PARK_NS = 20_000;
    private static final int MAX_SPINS = 100;
    private static final int PARKS_PER_LOOK = 500;
    private static final long KILL_WAIT_NS = TimeUnit.SECONDS.toNanos(10);

    private final FabricDirectory files;
    private final long timeoutNs;

    public OutsideWait(final FabricDirectory files, final long timeoutNs)
    {
        this.files = files;
        this.timeoutNs = timeoutNs;
    }

    /** How long a requester may stay inside. */
    public long timeoutNs()
    {
        return timeoutNs;
    }

    /**
     * Waits for all requesters of a device; that one may have come back does not matter, because then it has seen the
     * revocation.
     *
     * @param device whose queue pairs these are; its file stays mapped.
     * @param target low half of the GID of the device whose memory is revoked; 0 for any.
     * @throws RdmaException when one stays inside.
     */
    public void awaitOutside(final DeviceFile device, final long target)
    {
        final int limit = SharedWords.getIntAcquire(device.base() + DeviceFileDescriptor.QUEUE_PAIR_LIMIT_OFFSET);
        for (int i = 0; i < limit; i++)
        {
            awaitOutside(device, device.queuePairEntry(i), target);
        }
    }

    /** As above for one queue pair. */
    public void awaitOutside(final DeviceFile device, final long entry, final long target)
    {
        final long found = AccessMark.sequence(entry);
        if (!AccessMark.isInside(found) || target != 0 && AccessMark.target(entry, found) != target)
        {
            return;
        }
        final long deadlineNs = SystemNanoClock.INSTANCE.nanoTime() + timeoutNs;
        for (int spins = 0; AccessMark.sequence(entry) == found; spins++)
        {
            if (spins < MAX_SPINS)
            {
                Thread.onSpinWait();
                continue;
            }
            LockSupport.parkNanos(PARK_NS);
            if (spins % PARKS_PER_LOOK == 0 && !files.isAlive(device.ownerId()))
            {
                return;
            }
            if (SystemNanoClock.INSTANCE.nanoTime() - deadlineNs > 0)
            {
                overdue(device);
                return;
            }
        }
    }

    private void overdue(final DeviceFile device)
    {
        if (!end(device))
        {
            throw new RdmaException(
                "a requester does not leave the memory being closed, so nothing was freed: device=" + device.name() +
                ", pid=" + ProcessIdentity.of(device.base()).pid() + "; its thread is stopped: let it run or end it, " +
                "and close again (a process that opens its fabric with mayBeKilled is ended by itself)");
        }
    }

    /**
     * Ends the process of a requester that is overdue, if it opted in.
     *
     * @param device of that requester.
     * @return whether the process is dead.
     */
    public boolean end(final DeviceFile device)
    {
        final int owner = device.ownerId();
        if (files.isAlive(owner) && device.isNode() && ProcessIdentity.of(device.base()).kill())
        {
            final long deadlineNs = SystemNanoClock.INSTANCE.nanoTime() + KILL_WAIT_NS;
            while (files.isAlive(owner) && SystemNanoClock.INSTANCE.nanoTime() - deadlineNs < 0)
            {
                LockSupport.parkNanos(PARK_NS);
            }
        }
        return !files.isAlive(owner);
    }
}
