package io.verbena.raas.failure;

import org.agrona.concurrent.NanoClock;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;

/**
 * Counts failures that end nothing but what they are failures of, and logs one of them each second at most, with how
 * many there were since. One thread adds; any thread reads the count.
 */
public final class FailureLog
{
    /** Least time between two lines of the log: 1 s. */
    public static final long PAUSE_NS = TimeUnit.SECONDS.toNanos(1);

    private final BiConsumer<String, Throwable> log;
    private final NanoClock clock;
    private final String what;
    private final AtomicLong count = new AtomicLong();
    private long loggedCount;
    private long loggedAtNs;

    /**
     * @param log    takes a line and the exception that it is about.
     * @param clock  of the device.
     * @param what   has failed, the beginning of each line.
     */
    public FailureLog(final BiConsumer<String, Throwable> log, final NanoClock clock, final String what)
    {
        this.log = log;
        this.clock = clock;
        this.what = what;
    }

    /** @return failures so far; any thread. */
    public long count()
    {
        return count.get();
    }

    /**
     * Counts a failure, and logs it unless one was logged a moment ago.
     *
     * @param subject what has failed.
     * @param cause   what it met.
     */
    public void add(final Object subject, final Throwable cause)
    {
        final long now = count.getPlain() + 1;
        count.lazySet(now);
        final long nowNs = clock.nanoTime();
        if (0 == loggedCount || nowNs - loggedAtNs >= PAUSE_NS)
        {
            log.accept(what + ", and " + (now - loggedCount - 1) + " since the last such line: " + subject, cause);
            loggedCount = now;
            loggedAtNs = nowNs;
        }
    }
}
