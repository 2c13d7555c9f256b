package io.verbena.cli.autoscale;

/**
 * How long to wait until something that went wrong is tried again: twice as long each time, up to a minute; from the
 * start again after five minutes without trouble. Used by one thread.
 */
final class Backoff
{
    static final long LONGEST_MS = 60_000;
    static final long FORGET_MS = 300_000;

    private final long firstMs;
    private long waitMs;
    private long nextMs;
    private long lastMs;
    private boolean hasFailed;

    /** @param firstMs wait behind the first trouble. */
    Backoff(final long firstMs)
    {
        this.firstMs = firstMs;
    }

    /** It went wrong, at that time. */
    void failed(final long nowMs)
    {
        waitMs = !hasFailed || nowMs - lastMs > FORGET_MS ? firstMs : Math.min(LONGEST_MS, 2 * waitMs);
        hasFailed = true;
        lastMs = nowMs;
        nextMs = nowMs + waitMs;
    }

    /** It went well: the next trouble is a first one. */
    void succeeded()
    {
        hasFailed = false;
    }

    /** @return how long to wait still; 0 or less when it may be tried. */
    long leftMs(final long nowMs)
    {
        return hasFailed ? nextMs - nowMs : 0;
    }
}
