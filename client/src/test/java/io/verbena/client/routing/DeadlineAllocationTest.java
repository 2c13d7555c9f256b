package io.verbena.client.routing;

import com.sun.management.ThreadMXBean;
import io.verbena.client.KvClientOptions;
import io.verbena.client.KvTable;
import io.verbena.protocol.request.ComputeEndpoint;
import io.verbena.protocol.request.NodeRequest;
import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.OperationRequest;
import io.verbena.protocol.request.TableReference;
import org.agrona.concurrent.SystemNanoClock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.lang.management.ManagementFactory;
import java.time.Duration;

import static org.assertj.core.api.Assertions.assertThat;

/** A deadline of one's own costs no more than the handle that has it, and an operation through the handle nothing. */
@Timeout(60)
class DeadlineAllocationTest
{
    private static final int OPERATIONS = 20_000;
    private static final int HANDLE_BYTES = 32;
    private static final Duration TIMEOUT = Duration.ofSeconds(7);
    private static final byte[] KEY = {1, 2, 3};
    private static final byte[] VALUE = {4, 5};
    private static final ThreadMXBean THREADS = (ThreadMXBean)ManagementFactory.getThreadMXBean();

    private interface Put
    {
        long put();
    }

    /** Answers at once, and keeps nothing. */
    private static final class StoringNode implements ComputeEndpoint
    {
        @Override
        public int id()
        {
            return 1;
        }

        @Override
        public int submit(final NodeRequest request)
        {
            request.queue();
            if (request.start())
            {
                ((OperationRequest)request).answer(OperationAnswer.STORED, null, 9, null);
                request.complete();
            }
            return ACCEPTED;
        }
    }

    @Test
    void shouldAllocateNoMoreThanTheHandle()
    {
        final ComputeNodeSet nodes = new ComputeNodeSet();
        nodes.add(new StoringNode());
        try (RoutedKvClient client =
            RoutedKvClient.open(nodes, SystemNanoClock.INSTANCE, new KvClientOptions()))
        {
            final KvTable table = client.table(new TableReference("t", 7));
            final KvTable patient = table.withTimeout(TIMEOUT);

            assertThat(leastBytes(() -> table.put(KEY, VALUE))).isZero();
            assertThat(leastBytes(() -> patient.put(KEY, VALUE))).isZero();
            assertThat(leastBytes(() -> table.withTimeout(TIMEOUT).put(KEY, VALUE)))
                .isLessThanOrEqualTo((long)HANDLE_BYTES * OPERATIONS);
        }
    }

    /** The least of several runs: the JVM's compilers allocate in the caller's name now and then. */
    private static long leastBytes(final Put put)
    {
        long least = Long.MAX_VALUE;
        for (int attempt = 0; attempt < 10 && least > 0; attempt++)
        {
            final long overheadFrom = THREADS.getCurrentThreadAllocatedBytes();
            final long overhead = THREADS.getCurrentThreadAllocatedBytes() - overheadFrom;
            final long before = THREADS.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < OPERATIONS; i++)
            {
                put.put();
            }
            least = Math.min(least, THREADS.getCurrentThreadAllocatedBytes() - before - overhead);
        }
        return least;
    }
}
