package io.verbena.rdma.soft;

import io.verbena.rdma.verbs.RdmaException;

import org.agrona.concurrent.SystemNanoClock;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Says whether a requester is inside its peer's memory: a sequence that is odd meanwhile. The requester enters before
 * it looks at states and keys; whoever revokes changes those first and looks at the mark then. With a full fence on
 * both sides, either the requester sees the revocation or the revoker sees the mark.
 */
final class AccessMark
{
    private static final VarHandle SEQUENCE;
    private static final long MAX_WAIT_NS = TimeUnit.SECONDS.toNanos(60);
    private static final long PARK_NS = 20_000;
    private static final int MAX_SPINS = 100;

    static
    {
        try
        {
            SEQUENCE = MethodHandles.lookup().findVarHandle(AccessMark.class, "sequence", long.class);
        }
        catch (final ReflectiveOperationException ex)
        {
            throw new ExceptionInInitializerError(ex);
        }
    }

    private long sequence;

    /** Requester: from here on it may be inside. Also a full fence. */
    void enter()
    {
        SEQUENCE.setOpaque(this, sequence + 1);
        VarHandle.fullFence();
    }

    /** Requester: its last access is done. */
    void leave()
    {
        SEQUENCE.setRelease(this, sequence + 1);
    }

    /** Revoker: whether the requester is inside now. */
    boolean isInside()
    {
        return ((long)SEQUENCE.getVolatile(this) & 1) != 0;
    }

    /**
     * Revoker: waits until a requester that is inside now has left; that it may have come back does not matter, because
     * then it has seen the revocation.
     *
     * @param requester named when it does not leave within 60 s.
     */
    void awaitOutside(final Object requester)
    {
        final long found = (long)SEQUENCE.getVolatile(this);
        if ((found & 1) == 0)
        {
            return;
        }
        final long deadlineNs = SystemNanoClock.INSTANCE.nanoTime() + MAX_WAIT_NS;
        for (int spins = 0; (long)SEQUENCE.getVolatile(this) == found; spins++)
        {
            if (spins < MAX_SPINS)
            {
                Thread.onSpinWait();
                continue;
            }
            LockSupport.parkNanos(PARK_NS);
            if (SystemNanoClock.INSTANCE.nanoTime() - deadlineNs > 0)
            {
                throw new RdmaException(
                    "a requester does not leave the memory being closed, so nothing was freed: requester=" +
                    requester + "; its thread is stopped: let it run, and close again");
            }
        }
    }
}
