package io.verbena.resp.codec;

import java.util.concurrent.atomic.AtomicLong;

/**
 * What the buffers of all connections may hold together, beyond the small one that each of them begins with: however
 * many connections announce long commands or leave long replies unread, the process keeps its memory. Each connection
 * takes from a {@link #share()}, so that the one that holds most is known. Thread-safe.
 */
public final class MemoryBudget
{
    /** The last quarter of the whole is for shares that have no more than this. */
    public static final int SMALL_SHARE_BYTES = 256 * 1024;

    private final long limitBytes;
    private final Runnable onScarce;
    /** Null where this is the whole. */
    private final MemoryBudget whole;
    private final AtomicLong takenBytes = new AtomicLong();

    /** @param limitBytes that all buffers may have together, 0 or more. */
    public MemoryBudget(final long limitBytes)
    {
        this(limitBytes, () -> { });
    }

    /**
     * @param limitBytes that all buffers may have together, 0 or more.
     * @param onScarce   called when more is wanted while less than a quarter of it is free, by the thread that wants
     *                   it, which uses its buffers meanwhile.
     */
    public MemoryBudget(final long limitBytes, final Runnable onScarce)
    {
        this(limitBytes, onScarce, null);
    }

    private MemoryBudget(final long limitBytes, final Runnable onScarce, final MemoryBudget whole)
    {
        this.limitBytes = limitBytes;
        this.onScarce = onScarce;
        this.whole = whole;
    }

    /**
     * @return a part of it without a limit of its own: what is taken of the part is taken of the whole, where a large
     * part, see {@link #SMALL_SHARE_BYTES}, gets nothing more while less than a quarter is free.
     */
    public MemoryBudget share()
    {
        return new MemoryBudget(limitBytes, onScarce, this);
    }

    /**
     * Takes some of it.
     *
     * @param bytes 0 or more.
     * @return false when so much is not left: nothing was taken.
     */
    public boolean take(final long bytes)
    {
        if (null == whole)
        {
            return takeOfWhole(bytes, false);
        }
        // First here, so that a search for the largest share finds these bytes as well.
        final boolean isLarge = takenBytes.addAndGet(bytes) > SMALL_SHARE_BYTES;
        final boolean isTaken = whole.takeOfWhole(bytes, isLarge);
        if (!isTaken)
        {
            takenBytes.addAndGet(-bytes);
        }
        return isTaken;
    }

    private boolean takeOfWhole(final long bytes, final boolean isLarge)
    {
        final long wanted = takenBytes.addAndGet(bytes);
        final boolean isScarce = isScarce(wanted);
        if (isScarce)
        {
            onScarce.run();
        }
        if (wanted <= limitBytes && !(isScarce && isLarge))
        {
            return true;
        }
        takenBytes.addAndGet(-bytes);
        return false;
    }

    /**
     * @param bytes that are taken.
     * @return whether less than a quarter would be free then.
     */
    public boolean isScarce(final long bytes)
    {
        return bytes > limitBytes - limitBytes / 4;
    }

    /** @param bytes taken before, that are free again. */
    public void giveBack(final long bytes)
    {
        takenBytes.addAndGet(-bytes);
        if (null != whole)
        {
            whole.giveBack(bytes);
        }
    }

    /** @return bytes taken now. */
    public long takenBytes()
    {
        return takenBytes.get();
    }
}
