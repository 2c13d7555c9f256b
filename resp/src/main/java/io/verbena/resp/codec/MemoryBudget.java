package io.verbena.resp.codec;

import java.util.concurrent.atomic.AtomicLong;

/**
 * What the buffers of all connections may hold together, beyond the small one that each of them begins with: however
 * many connections announce long commands or leave long replies unread, the process keeps its memory. Thread-safe.
 */
public final class MemoryBudget
{
    private final long limitBytes;
    private final AtomicLong takenBytes = new AtomicLong();

    /** @param limitBytes that all buffers may have together, 0 or more. */
    public MemoryBudget(final long limitBytes)
    {
        this.limitBytes = limitBytes;
    }

    /**
     * Takes some of it.
     *
     * @param bytes 0 or more.
     * @return false when so much is not left: nothing was taken.
     */
    public boolean take(final long bytes)
    {
        if (takenBytes.addAndGet(bytes) <= limitBytes)
        {
            return true;
        }
        takenBytes.addAndGet(-bytes);
        return false;
    }

    /** @param bytes taken before, that are free again. */
    public void giveBack(final long bytes)
    {
        takenBytes.addAndGet(-bytes);
    }

    /** @return bytes taken now. */
    public long takenBytes()
    {
        return takenBytes.get();
    }
}
