package io.verbena.rdma.soft;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** One slot of a completion queue. */
final class CompletionEntry
{
    private static final VarHandle PUBLISHED;

    static
    {
        try
        {
            PUBLISHED = MethodHandles.lookup().findVarHandle(CompletionEntry.class, "published", long.class);
        }
        catch (final ReflectiveOperationException ex)
        {
            throw new ExceptionInInitializerError(ex);
        }
    }

    SoftQueuePair queuePair;
    long wrId;
    int status;
    int opcode;
    int byteLength;
    int immediate;
    long position;
    private long published = -1;

    /** Producer: release, so that the consumer sees the fields and, before them, the data received. */
    void publish(final long ringPosition)
    {
        PUBLISHED.setRelease(this, ringPosition);
    }

    /** Consumer: whether the slot has been filled for this lap of the ring. */
    boolean isPublished(final long ringPosition)
    {
        return (long)PUBLISHED.getAcquire(this) == ringPosition;
    }
}
