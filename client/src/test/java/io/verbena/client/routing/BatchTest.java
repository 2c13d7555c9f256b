package io.verbena.client.routing;

import io.verbena.client.KvClientOptions;
import io.verbena.client.KvClosedException;
import io.verbena.client.KvOutcome;
import io.verbena.client.KvTable;
import io.verbena.client.KvTimeoutException;
import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.OperationRequest;
import io.verbena.protocol.request.RequestKind;
import io.verbena.protocol.request.TableReference;

import org.agrona.concurrent.SystemNanoClock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Calls of many keys: any number of keys, a bounded number of operations under way. */
@Timeout(60)
class BatchTest
{
    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final int MANY = 10_000;

    private final ComputeNodeSet nodes = new ComputeNodeSet();
    private final BlockingQueue<OperationRequest> asked = new LinkedBlockingQueue<>();
    private final AtomicInteger unanswered = new AtomicInteger();
    private final AtomicInteger mostUnanswered = new AtomicInteger();
    private final Thread answerer = Thread.ofPlatform().daemon().unstarted(this::answerAll);

    @AfterEach
    void stopAnswering() throws InterruptedException
    {
        answerer.interrupt();
        answerer.join();
    }

    @Test
    void shouldTakeAnyNumberOfKeysAndReturnOutcomesInTheirOrder()
    {
        answerer.start();
        try (RoutedKvClient client = client(KvClientOptions.DEFAULT_MAX_ASYNC_IN_FLIGHT))
        {
            final KvTable table = table(client);
            final List<byte[]> keys = keys("a", MANY);

            final List<KvOutcome<Long>> put = table.withTimeout(TIMEOUT).putAll(keys, keys);
            final var got = table.withTimeout(TIMEOUT).getAll(keys);
            final List<KvOutcome<Boolean>> deleted = table.withTimeout(TIMEOUT).deleteAll(keys);

            for (int i = 0; i < MANY; i++)
            {
                assertThat(put.get(i).get()).isEqualTo(number(keys.get(i)));
                assertThat(got.get(i).get().orElseThrow().value()).isEqualTo(keys.get(i));
                assertThat(deleted.get(i).get()).isEqualTo(number(keys.get(i)) % 2 == 0);
            }
            assertThat(put).hasSize(MANY);
            assertThat(mostUnanswered.get()).isBetween(2, Batch.WINDOW);
        }
    }

    @Test
    void shouldShareTheLimitOfTheClientAmongThreads() throws Exception
    {
        answerer.start();
        final int limit = 100;
        final int threads = 8;
        final int each = 2_000;
        try (RoutedKvClient client = client(limit))
        {
            final KvTable table = table(client);
            final List<CompletableFuture<List<KvOutcome<Long>>>> calls = new ArrayList<>();
            for (int i = 0; i < threads; i++)
            {
                final List<byte[]> keys = keys("t" + i + "-", each);
                final CompletableFuture<List<KvOutcome<Long>>> call = new CompletableFuture<>();
                Thread.ofPlatform().daemon().start(() -> call.complete(table.withTimeout(TIMEOUT).putAll(keys, keys)));
                calls.add(call);
            }
            for (final CompletableFuture<List<KvOutcome<Long>>> call : calls)
            {
                assertThat(call.get(30, TimeUnit.SECONDS)).hasSize(each).allMatch(KvOutcome::isSuccess);
            }
            assertThat(mostUnanswered.get()).isBetween(2, limit);
        }
    }

    @Test
    void shouldEndAtTheDeadlineOfTheWholeCall()
    {
        try (RoutedKvClient client = client(KvClientOptions.DEFAULT_MAX_ASYNC_IN_FLIGHT))
        {
            final int count = 64 * Batch.WINDOW;
            final List<byte[]> keys = keys("a", count);
            final long beganNs = System.nanoTime();

            final List<KvOutcome<Long>> put = table(client).withTimeout(Duration.ofMillis(500)).putAll(keys, keys);

            // One for each of the 64 windows would be 32 seconds.
            assertThat(System.nanoTime() - beganNs).as("one deadline, not one for each window")
                .isBetween(TimeUnit.MILLISECONDS.toNanos(500), TimeUnit.SECONDS.toNanos(20));
            assertThat(put).hasSize(count).allMatch((outcome) -> outcome.failure() instanceof KvTimeoutException);
            assertThat(asked).hasSize(Batch.WINDOW);
            assertThat(put.getLast().failure()).hasMessageContaining("PUT in table t was not begun")
                .hasMessageContaining("longer timeout");
        }
    }

    @Test
    void shouldWaitForRoomThatOtherOperationsTake()
    {
        try (RoutedKvClient client = client(1))
        {
            final KvTable table = table(client);
            final CompletableFuture<Long> other = table.withTimeout(TIMEOUT).putAsync("other1".getBytes(), new byte[0]);
            final List<byte[]> keys = keys("a", 3);

            final List<KvOutcome<Long>> late = table.withTimeout(Duration.ofMillis(50)).putAll(keys, keys);
            assertThat(late).allMatch((outcome) -> outcome.failure() instanceof KvTimeoutException);
            assertThat(asked).hasSize(1);

            answerer.start();
            assertThat(table.withTimeout(TIMEOUT).putAll(keys, keys)).allMatch(KvOutcome::isSuccess);
            assertThat(other.join()).isEqualTo(1);
        }
    }

    @Test
    void shouldKeepTheOutcomesOfWhatWasBegunWhenTheClientIsClosed() throws Exception
    {
        final RoutedKvClient client = client(KvClientOptions.DEFAULT_MAX_ASYNC_IN_FLIGHT);
        final KvTable table = table(client);
        final List<byte[]> keys = keys("a", 2 * Batch.WINDOW);
        final CompletableFuture<List<KvOutcome<Long>>> call = new CompletableFuture<>();
        Thread.ofPlatform().daemon().start(() -> call.complete(table.withTimeout(TIMEOUT).putAll(keys, keys)));
        while (asked.size() < Batch.WINDOW)
        {
            Thread.sleep(1);
        }

        client.close();
        answerer.start();

        final List<KvOutcome<Long>> put = call.get(30, TimeUnit.SECONDS);
        assertThat(put.subList(0, Batch.WINDOW)).allMatch(KvOutcome::isSuccess);
        assertThat(put.subList(Batch.WINDOW, keys.size()))
            .allMatch((outcome) -> outcome.failure() instanceof KvClosedException);
        assertThatThrownBy(() -> table.withTimeout(TIMEOUT).getAll(keys)).isInstanceOf(KvClosedException.class);
    }

    @Test
    void shouldKeepAnInterruptAndEndAnyway()
    {
        answerer.start();
        try (RoutedKvClient client = client(10))
        {
            final List<byte[]> keys = keys("a", MANY);
            Thread.currentThread().interrupt();
            final List<KvOutcome<Long>> put = table(client).withTimeout(TIMEOUT).putAll(keys, keys);
            assertThat(Thread.interrupted()).isTrue();
            assertThat(put).hasSize(MANY).allMatch(KvOutcome::isSuccess);
        }
    }

    private RoutedKvClient client(final int maxAsyncInFlight)
    {
        nodes.add(new StubNode(1).onOperation((request) ->
        {
            final int now = unanswered.incrementAndGet();
            mostUnanswered.accumulateAndGet(now, Math::max);
            asked.add(request);
        }));
        return RoutedKvClient.open(
            nodes, SystemNanoClock.INSTANCE, new KvClientOptions().maxAsyncInFlight(maxAsyncInFlight));
    }

    private static KvTable table(final RoutedKvClient client)
    {
        return client.table(new TableReference("t", 7));
    }

    private static List<byte[]> keys(final String prefix, final int count)
    {
        return IntStream.range(0, count).mapToObj((i) -> (prefix + i).getBytes()).toList();
    }

    private static long number(final byte[] key)
    {
        return Long.parseLong(new String(key).replaceAll("^.*\\D", ""));
    }

    /** Answers latest first now and then, so that answers do not come in the order of the keys. */
    private void answerAll()
    {
        final List<OperationRequest> taken = new ArrayList<>();
        try
        {
            while (true)
            {
                taken.add(asked.take());
                asked.drainTo(taken, 16);
                for (final OperationRequest request : taken.reversed())
                {
                    answer(request);
                }
                taken.clear();
            }
        }
        catch (final InterruptedException ex)
        {
            Thread.currentThread().interrupt();
        }
    }

    private void answer(final OperationRequest request)
    {
        unanswered.decrementAndGet();
        if (!request.start())
        {
            return;
        }
        final long number = number(request.key());
        if (RequestKind.GET == request.kind())
        {
            request.answer(OperationAnswer.FOUND, request.key().clone(), number, null);
        }
        else if (RequestKind.PUT == request.kind())
        {
            request.answer(OperationAnswer.STORED, null, number, null);
        }
        else
        {
            request.answer(number % 2 == 0 ? OperationAnswer.DELETED : OperationAnswer.NOT_FOUND, null, 0, null);
        }
        request.complete();
    }
}
