package io.verbena.client.routing;

import io.verbena.client.KvClientOptions;
import io.verbena.client.KvCorruptException;
import io.verbena.client.KvCounterOverflowException;
import io.verbena.client.KvInvalidRequestException;
import io.verbena.client.KvNotACounterException;
import io.verbena.client.KvOutcome;
import io.verbena.client.KvOutcomeUnknownException;
import io.verbena.client.KvTable;
import io.verbena.client.KvTableFullException;
import io.verbena.client.KvUnavailableException;
import io.verbena.client.KvValueTooLongException;
import io.verbena.client.OperationKind;
import io.verbena.client.ReplaceResult;
import io.verbena.protocol.request.ComputeEndpoint;
import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.OperationRequest;
import io.verbena.protocol.request.RequestKind;
import io.verbena.protocol.request.TableReference;
import org.agrona.concurrent.SystemNanoClock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Counters, appends, puts of present keys, and operations on many keys, against nodes that answer as told. */
@Timeout(60)
class RoutedKvTableTest
{
    private static final byte[] KEY = {1, 2, 3};
    private static final byte[] OTHER_KEY = {3, 2, 1};
    private static final byte[] VALUE = {4, 5};
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);
    private static final Duration TIMEOUT = Duration.ofNanos(TIMEOUT_NS);

    private final ComputeNodeSet nodes = new ComputeNodeSet();
    private final RoutedKvClient client = RoutedKvClient.open(nodes, SystemNanoClock.INSTANCE, new KvClientOptions());
    private final KvTable table = client.table(new TableReference("t", 7));
    private final List<String> asked = new ArrayList<>();

    @AfterEach
    void tearDown()
    {
        client.close();
    }

    private void node(final Consumer<OperationRequest> answer)
    {
        nodes.add(new StubNode(1).onOperation((request) ->
        {
            asked.add(request.kind() + " " + request.operand());
            if (request.start())
            {
                answer.accept(request);
                request.complete();
            }
        }));
    }

    @Test
    void shouldAddToCounters()
    {
        node((request) -> request.answer(OperationAnswer.STORED,
            new byte[]{(byte)(request.operand() + 100), 0, 0, 0, 0, 0, 0, 0}, 9, null));

        assertThat(table.increment(KEY, 5)).isEqualTo(105);
        assertThat(table.increment(KEY, -5)).isEqualTo(95);
        assertThat(table.withTimeout(TIMEOUT).incrementAsync(KEY, 7).join()).isEqualTo(107);
        assertThat(asked).containsExactly("INCREMENT 5", "INCREMENT -5", "INCREMENT 7");
        assertThat(client.statistics().count(OperationKind.INCREMENT)).isEqualTo(3);
    }

    @Test
    void shouldAppendAndPutIfPresent()
    {
        node((request) -> request.answer(
            request.kind() == RequestKind.APPEND ? OperationAnswer.STORED : OperationAnswer.NOT_FOUND, null, 9, null));

        assertThat(table.append(KEY, VALUE)).isEqualTo(9);
        assertThat(table.withTimeout(TIMEOUT).appendAsync(KEY, VALUE).join()).isEqualTo(9);
        assertThat(table.replace(KEY, VALUE).outcome()).isEqualTo(ReplaceResult.Outcome.NOT_FOUND);
        assertThat(table.withTimeout(TIMEOUT).replaceAsync(KEY, VALUE).join().replaced()).isFalse();
        assertThat(client.statistics().count(OperationKind.APPEND)).isEqualTo(2);
        assertThat(client.statistics().count(OperationKind.REPLACE)).isEqualTo(2);
    }

    @Test
    void shouldThrowTypedFailuresThatNameTheFacts()
    {
        final OperationAnswer[] answer = new OperationAnswer[1];
        node((request) -> request.answer(answer[0], null, 9, null));

        answer[0] = OperationAnswer.NOT_A_COUNTER;
        assertThatThrownBy(() -> table.increment(KEY, 1)).isInstanceOf(KvNotACounterException.class)
            .hasMessageContaining("8 bytes");
        answer[0] = OperationAnswer.COUNTER_OVERFLOW;
        assertThatThrownBy(() -> table.increment(KEY, 42)).isInstanceOf(KvCounterOverflowException.class)
            .hasMessageContaining("amount=42");
        answer[0] = OperationAnswer.VALUE_TOO_LONG;
        assertThatThrownBy(() -> table.append(KEY, VALUE)).isInstanceOf(KvValueTooLongException.class)
            .hasMessageContaining("16384");
        answer[0] = OperationAnswer.OUTCOME_UNKNOWN;
        assertThatThrownBy(() -> table.increment(KEY, 1)).isInstanceOf(KvOutcomeUnknownException.class);
    }

    @Test
    void shouldTellEachOutcomeOfManyInTheirOrder()
    {
        node((request) ->
        {
            final boolean first = request.key()[0] == 1;
            switch (request.kind())
            {
                case GET -> request.answer(
                    first ? OperationAnswer.FOUND : OperationAnswer.CORRUPT, first ? VALUE : null, 9, null);
                case PUT -> request.answer(
                    first ? OperationAnswer.STORED : OperationAnswer.TABLE_FULL, null, 9, null);
                default -> request.answer(
                    first ? OperationAnswer.DELETED : OperationAnswer.NOT_FOUND, null, 0, null);
            }
        });
        final List<byte[]> keys = List.of(OTHER_KEY, KEY);

        final var got = table.withTimeout(TIMEOUT).getAll(keys);
        assertThat(got.get(0).isSuccess()).isFalse();
        assertThatThrownBy(() -> got.get(0).get()).isInstanceOf(KvCorruptException.class);
        assertThat(got.get(1).get().orElseThrow().value()).isEqualTo(VALUE);

        final var put = table.withTimeout(TIMEOUT).putAll(keys, List.of(VALUE, VALUE));
        assertThat(put.get(0).failure()).isInstanceOf(KvTableFullException.class);
        assertThat(put.get(1).get()).isEqualTo(9);

        assertThat(table.withTimeout(TIMEOUT).deleteAll(keys)).extracting(KvOutcome::get).containsExactly(false, true);
        assertThat(table.withTimeout(TIMEOUT).getAll(List.of())).isEmpty();
    }

    @Test
    void shouldRefuseBadArgumentsBeforeAnythingIsSent()
    {
        node((request) -> request.answer(OperationAnswer.STORED, null, 9, null));

        assertThatThrownBy(() -> table.withTimeout(TIMEOUT).putAll(List.of(KEY), List.of()))
            .isInstanceOf(KvInvalidRequestException.class).hasMessageContaining("keys=1, values=0");
        assertThatThrownBy(() -> table.withTimeout(TIMEOUT).getAll(List.of(KEY, new byte[0])))
            .isInstanceOf(KvInvalidRequestException.class);
        assertThatThrownBy(() -> table.withTimeout(TIMEOUT).getAll(null)).isInstanceOf(KvInvalidRequestException.class);
        assertThatThrownBy(() -> table.append(KEY, null)).isInstanceOf(KvInvalidRequestException.class);
        assertThatThrownBy(() -> table.increment(null, 1)).isInstanceOf(KvInvalidRequestException.class);
        assertThatThrownBy(() -> table.withTimeout(Duration.ZERO)).isInstanceOf(KvInvalidRequestException.class);
        assertThat(asked).isEmpty();
    }

    /** What runs in a thread that waits, because it answers others meanwhile, may use another client. */
    @Test
    void shouldKeepTheAnswerOfACallInWhichAnotherOneIsMade()
    {
        final ComputeNodeSet otherNodes = new ComputeNodeSet();
        try (RoutedKvClient other = RoutedKvClient.open(otherNodes, SystemNanoClock.INSTANCE, new KvClientOptions()))
        {
            final KvTable otherTable = other.table(new TableReference("o", 8));
            otherNodes.add(new StubNode(2).onOperation((request) ->
            {
                request.start();
                request.answer(OperationAnswer.STORED, null, 7, null);
                request.complete();
            }));
            nodes.add(new StubNode(1).onOperation((request) ->
            {
                request.start();
                assertThat(otherTable.put(OTHER_KEY, VALUE)).isEqualTo(7);
                assertThat(request.table().id()).isEqualTo(7);
                request.answer(OperationAnswer.STORED, null, 9, null);
                request.complete();
            }));
            assertThat(table.put(KEY, VALUE)).as("answered after it").isEqualTo(9);
            nodes.remove(nodes.view().endpoint(0, 0));
            nodes.add(new StubNode(1).onOperation((request) ->
            {
                request.start();
                request.answer(OperationAnswer.STORED, null, 9, null);
                request.complete();
                assertThat(otherTable.put(OTHER_KEY, VALUE)).isEqualTo(7);
            }));

            assertThat(table.put(KEY, VALUE)).as("answered before it").isEqualTo(9);
        }
    }

    @Test
    void shouldSayThatAThreadWouldWaitForItself()
    {
        nodes.add(new StubNode(1).refusing(ComputeEndpoint.NESTED));

        assertThatThrownBy(() -> table.put(KEY, VALUE)).isInstanceOf(KvInvalidRequestException.class)
            .hasMessageContaining("completionExecutor");
        assertThatThrownBy(client::tables).isInstanceOf(KvInvalidRequestException.class)
            .hasMessageContaining("LIST_TABLES");
    }

    @Test
    void shouldSayWhyThereIsNoNodeForEver()
    {
        nodes.absence("the client has ended: lightning");

        assertThatThrownBy(() -> table.withTimeout(Duration.ofMillis(5)).get(KEY))
            .isInstanceOf(KvUnavailableException.class).hasMessageContaining("lightning");
    }

    /** The time runs out in the pause between two tries: no node has had it, so none was too slow. */
    @Test
    void shouldSayWhyAllRefusedWhenTheTimeRunsOutBetweenTries()
    {
        final int[] looks = new int[1];
        final RoutedKvClient stepped =
            RoutedKvClient.openStepped(nodes, () -> ++looks[0] > 2 ? TIMEOUT_NS : 0, new KvClientOptions());
        node((request) ->
        {
            final boolean isLate = ++looks[0] > 2; // the node looks at the clock, too
            looks[0] = 0;
            request.answer(
                isLate ? OperationAnswer.TIMED_OUT : OperationAnswer.NOT_SERVING, null, 0, "connection is lost");
        });

        assertThatThrownBy(() -> stepped.table(new TableReference("t", 7)).withTimeout(TIMEOUT).get(KEY))
            .isInstanceOf(KvUnavailableException.class).hasMessageContaining("connection is lost");
        assertThat(asked).hasSize(1);
    }

    /** The thread may be a node's own: what an executor throws must not end it. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldCompleteElsewhereWhatTheExecutorDoesNotRun(final boolean isRejected) throws Exception
    {
        final OperationRequest[] taken = new OperationRequest[1];
        final Thread[] ranIn = new Thread[1];
        nodes.add(new StubNode(1).onOperation((request) -> taken[0] = request));
        try (RoutedKvClient rejecting = RoutedKvClient.open(nodes, SystemNanoClock.INSTANCE,
            new KvClientOptions().completionExecutor((command) ->
            {
                throw isRejected ? new RejectedExecutionException("shut down") : new IllegalStateException("a flaw");
            })))
        {
            final CompletableFuture<Void> stage = rejecting.table(new TableReference("t", 7)).putAsync(KEY, VALUE)
                .thenAccept((version) -> ranIn[0] = Thread.currentThread());
            final Thread holder = Thread.ofPlatform().start(() ->
            {
                taken[0].start();
                taken[0].answer(OperationAnswer.STORED, null, 9, null);
                taken[0].complete();
            });
            stage.get(10, TimeUnit.SECONDS);
            assertThat(ranIn[0]).isNotNull().isNotSameAs(holder);
        }
    }
}
