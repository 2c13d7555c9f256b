package io.verbena.rdma.soft.shared;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import static org.assertj.core.api.Assertions.assertThat;

/** When the watch slows down, and that an access hastens it. */
@Timeout(60)
class WatchPaceTest
{
    /** Longer than the test may take: who sleeps so long has to be woken. */
    private static final long FOREVER_NS = TimeUnit.HOURS.toNanos(1);

    private final AtomicLong accesses = new AtomicLong();

    @Test
    void shouldStayFastWhileRequestersAreAtWork()
    {
        final WatchPace pace = new WatchPace(FOREVER_NS);
        for (int look = 0; look < 3 * WatchPace.QUIET_LOOKS; look++)
        {
            accesses.incrementAndGet();
            pace.sleep(accesses::get);
        }
        assertThat(pace.isSlow()).isFalse();
    }

    @Test
    void shouldBeHastenedByTheFirstAccessAfterRest() throws InterruptedException
    {
        final WatchPace pace = new WatchPace(FOREVER_NS);
        final Thread watch = Thread.ofPlatform().start(() ->
        {
            for (int look = 0; look <= WatchPace.QUIET_LOOKS; look++)
            {
                pace.sleep(accesses::get);
            }
        });
        while (!pace.isSlow())
        {
            Thread.onSpinWait();
        }
        accesses.incrementAndGet();
        pace.onAccess();
        watch.join();
        assertThat(pace.isSlow()).isFalse();
    }

    /** The access that comes between the last look at the marks and the sleep, which was not told to be slow yet. */
    @Test
    void shouldNotSleepOnAccessThatCameMeanwhile()
    {
        final WatchPace pace = new WatchPace(FOREVER_NS);
        for (int look = 0; look < WatchPace.QUIET_LOOKS; look++)
        {
            pace.sleep(accesses::get);
        }
        pace.sleep(new java.util.function.LongSupplier()
        {
            private int looks;

            @Override
            public long getAsLong()
            {
                return looks++;
            }
        });
        assertThat(pace.isSlow()).isFalse();
    }
}
