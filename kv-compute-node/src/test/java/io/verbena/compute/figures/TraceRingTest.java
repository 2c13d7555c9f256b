package io.verbena.compute.figures;

import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.OperationRequest;
import io.verbena.protocol.request.RequestKind;

import com.sun.management.ThreadMXBean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(60)
class TraceRingTest
{
    private final TraceRing ring = new TraceRing();

    /** Each figure follows from the number, so that a reader can tell a trace that is of two. */
    private void add(final OperationRequest request, final long number)
    {
        ring.add(number, request, OperationAnswer.STORED, number, number, number, number, (int)number, null);
    }

    @Test
    void shouldReturnTheLastOnesWithTheLatestFirst()
    {
        final TracedRequest request = new TracedRequest(RequestKind.PUT, "users", 3, 4);
        assertThat(ring.read()).isEmpty();
        for (int i = 1; i <= 3 * TraceRing.CAPACITY + 5; i++)
        {
            add(request, i);
            final List<TracedOperation> read = ring.read();
            assertThat(read).hasSize(Math.min(i, TraceRing.CAPACITY));
            assertThat(read.getFirst()).isEqualTo(new TracedOperation(
                i, i, RequestKind.PUT, OperationAnswer.STORED, "users", i, 3, 4, i, i, i, 0, List.of()));
            assertThat(read.getLast().number()).isEqualTo(Math.max(1, i - TraceRing.CAPACITY + 1));
        }
    }

    @Test
    void shouldNotReturnWhatIsForgotten()
    {
        final TracedRequest request = new TracedRequest(RequestKind.GET, "users", 3, 0);
        add(request, 1);
        add(request, 2);
        ring.forgetAll();
        assertThat(ring.read()).isEmpty();
        assertThat(ring.written()).isEqualTo(2);
        add(request, 3);
        assertThat(ring.read()).extracting(TracedOperation::number).containsExactly(3L);
    }

    @Test
    void shouldNotMixTwoTracesWhileOneIsWritten() throws Exception
    {
        final TracedRequest request = new TracedRequest(RequestKind.PUT, "users", 3, 4);
        final AtomicBoolean isEnding = new AtomicBoolean();
        final CompletableFuture<Void> writer = CompletableFuture.runAsync(() ->
        {
            for (long i = 1; !isEnding.get(); i++)
            {
                add(request, i);
            }
        });
        int read = 0;
        final long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(40);
        for (int round = 0; (round < 2_000 || read < 1_000) && System.nanoTime() < deadlineNs; round++)
        {
            for (final TracedOperation trace : ring.read())
            {
                final long number = trace.number();
                assertThat(trace).isEqualTo(new TracedOperation(number, number, RequestKind.PUT,
                    OperationAnswer.STORED, "users", number, 3, 4, number, number, (int)number, 0, List.of()));
                read++;
            }
        }
        isEnding.set(true);
        writer.get(20, TimeUnit.SECONDS);
        assertThat(read).isPositive();
    }

    @Test
    void shouldAllocateNothing()
    {
        final TracedRequest request = new TracedRequest(RequestKind.PUT, "users", 3, 4);
        final ThreadMXBean threads = (ThreadMXBean)ManagementFactory.getThreadMXBean();
        long bytes = Long.MAX_VALUE;
        // What the JVM compiles meanwhile may allocate for this thread, but not each time.
        for (int round = 0; round < 20 && 0 != bytes; round++)
        {
            final long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < 10_000; i++)
            {
                add(request, i);
            }
            bytes = threads.getCurrentThreadAllocatedBytes() - before;
        }
        assertThat(bytes).isZero();
    }
}
