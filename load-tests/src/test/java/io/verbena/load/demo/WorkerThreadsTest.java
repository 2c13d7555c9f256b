package io.verbena.load.demo;

import io.verbena.load.LoadException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Timeout(60)
class WorkerThreadsTest
{
    private static final int THREADS = 100;

    @Test
    void shouldGiveOneSlowThreadTheWholeTime() throws InterruptedException
    {
        final long endNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(500);
        final WorkerThreads workers = new WorkerThreads();
        workers.start("slow", () ->
        {
            while (System.nanoTime() - endNs < 0)
            {
                Thread.onSpinWait();
            }
        });
        for (int i = 1; i < THREADS; i++)
        {
            workers.start("quick-" + i, () -> {});
        }

        // An equal part for each thread would be 200 ms.
        workers.finish(TimeUnit.SECONDS.toNanos(20));
    }

    @Test
    void shouldSayWhichThreadDidNotEnd()
    {
        final CountDownLatch end = new CountDownLatch(1);
        final WorkerThreads workers = new WorkerThreads();
        workers.start("stuck", () ->
        {
            try
            {
                end.await();
            }
            catch (final InterruptedException ex)
            {
                throw new AssertionError(ex);
            }
        });

        assertThatThrownBy(() -> workers.finish(TimeUnit.MILLISECONDS.toNanos(50)))
            .isInstanceOf(LoadException.class).hasMessageContaining("stuck");
        end.countDown();
    }
}
