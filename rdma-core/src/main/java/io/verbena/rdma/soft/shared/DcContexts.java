package io.verbena.rdma.soft.shared;

import java.util.function.IntPredicate;

import static io.verbena.rdma.soft.shared.DeviceFileDescriptor.*;

/**
 * The responder contexts of a device, as many as it serves initiators at once: a word on a line of its own for each. An
 * initiator needs one while requests of its are under way; between doorbells it keeps it, but others may take it.
 *
 * <pre>
 *  63                    40 39            16 15         2 1     0
 * +------------------------+----------------+------------+-------+
 * | 0                      | queue pair     | visitor    | state |
 * +------------------------+----------------+------------+-------+
 * </pre>
 *
 * <p>A word of 0 is free; BUSY: requests are under way, only its initiator changes it, or the device's owner once that
 * one is dead; IDLE: any initiator may have it.
 */
public final class DcContexts
{
    public static final int IDLE = 1;
    public static final int BUSY = 2;
    /** No context. */
    public static final int NONE = -1;

    private static final int STATE_MASK = 3;
    private static final int VISITOR_SHIFT = 2;
    private static final int VISITOR_MASK = MAX_VISITORS - 1;
    private static final int NUMBER_SHIFT = 16;

    private DcContexts()
    {
    }

    /** Word of an initiator's context that is idle; busy is one more. */
    public static long idle(final int visitor, final int number)
    {
        return (long)number << NUMBER_SHIFT | (long)visitor << VISITOR_SHIFT | IDLE;
    }

    private static long address(final DeviceFile file, final int index)
    {
        return file.base() + DC_CONTEXTS_OFFSET + (long)index * DC_CONTEXT_BYTES;
    }

    /**
     * Makes a context of an initiator busy.
     *
     * @param file  of the device.
     * @param idle  {@link #idle} of the initiator.
     * @param known the one it had last, or {@link #NONE}.
     * @return index; {@link #NONE} when all are busy.
     */
    public static int take(final DeviceFile file, final long idle, final int known)
    {
        if (known != NONE && SharedWords.compareAndSetLong(address(file, known), idle, idle + 1))
        {
            return known;
        }
        final int limit = SharedWords.getInt(file.base() + DC_CONTEXT_LIMIT_OFFSET);
        final int start = (int)((idle >>> VISITOR_SHIFT) % limit);
        for (int i = 0; i < limit; i++)
        {
            final int index = (start + i) % limit;
            final long address = address(file, index);
            if (SharedWords.getLongAcquire(address) == 0 && SharedWords.compareAndSetLong(address, 0, idle + 1))
            {
                return index;
            }
        }
        for (int i = 0; i < limit; i++)
        {
            final int index = (start + i) % limit;
            final long address = address(file, index);
            final long word = SharedWords.getLongAcquire(address);
            if ((word & STATE_MASK) == IDLE && SharedWords.compareAndSetLong(address, word, idle + 1))
            {
                return index;
            }
        }
        return NONE;
    }

    /** Initiator: nothing is under way, others may have its busy context. */
    public static void rest(final DeviceFile file, final int index, final long idle)
    {
        SharedWords.putLongRelease(address(file, index), idle);
    }

    /** Initiator: gives up the context that it had last, if it still has it. */
    public static void release(final DeviceFile file, final int index, final long idle)
    {
        if (!SharedWords.compareAndSetLong(address(file, index), idle, 0))
        {
            SharedWords.compareAndSetLong(address(file, index), idle + 1, 0);
        }
    }

    /** Owner: dead initiators need none. */
    public static void releaseDead(final DeviceFile file, final IntPredicate isDead)
    {
        final int limit = SharedWords.getInt(file.base() + DC_CONTEXT_LIMIT_OFFSET);
        for (int i = 0; i < limit; i++)
        {
            final long word = SharedWords.getLongAcquire(address(file, i));
            if (word != 0 && isDead.test((int)(word >>> VISITOR_SHIFT) & VISITOR_MASK))
            {
                SharedWords.compareAndSetLong(address(file, i), word, 0);
            }
        }
    }
}
