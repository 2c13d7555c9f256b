package io.verbena.embedded;

import io.verbena.client.KvTable;
import io.verbena.client.TableOptions;

import org.junit.jupiter.api.Test;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import static org.assertj.core.api.Assertions.assertThat;

/** A table made for a thousand records takes many more through the ordinary client: verbena.growth.records, 150,000. */
class GrowingTableTest
{
    private static final int RECORDS = Integer.getInteger("verbena.growth.records", 150_000);
    private static final int WINDOW = 256;
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(20);
    private static final Duration TIMEOUT = Duration.ofNanos(TIMEOUT_NS);

    private final Semaphore window = new Semaphore(WINDOW);
    private final AtomicReference<Throwable> failure = new AtomicReference<>();

    private static byte[] key(final int number)
    {
        return ByteBuffer.allocate(Integer.BYTES).putInt(number).array();
    }

    private void await() throws InterruptedException
    {
        assertThat(window.tryAcquire(TIMEOUT_NS, TimeUnit.NANOSECONDS)).as("answered in time").isTrue();
    }

    private void done(final Throwable error)
    {
        failure.compareAndSet(null, error);
        window.release();
    }

    @Test
    void shouldTakeManyTimesTheRecordsItWasMadeFor() throws InterruptedException, ExecutionException
    {
        try (EmbeddedCluster cluster = EmbeddedCluster.start(
            new EmbeddedClusterOptions().computeNodes(2).memoryBytesPerNode(512L << 20)))
        {
            final KvTable table = cluster.client().createTable("t", new TableOptions(1_000));
            final long beganNs = System.nanoTime();
            for (int i = 0; i < RECORDS; i++)
            {
                await();
                table.withTimeout(TIMEOUT).putAsync(key(i), key(-i)).whenComplete((version, error) -> done(error));
            }
            window.acquire(WINDOW);
            final double seconds = (System.nanoTime() - beganNs) / 1e9;
            assertThat(failure.get()).isNull();
            System.out.println(RECORDS + " records in " + seconds + " s");
            window.release(WINDOW);
            for (int i = 0; i < RECORDS; i++)
            {
                await();
                final byte[] value = key(-i);
                table.withTimeout(TIMEOUT).getAsync(key(i)).whenComplete((entry, error) -> done(null != error ? error :
                    entry.isPresent() && Arrays.equals(entry.get().value(), value) ? null :
                        new AssertionError("not there, or another value")));
            }
            window.acquire(WINDOW);
            assertThat(failure.get()).isNull();
        }
    }
}
