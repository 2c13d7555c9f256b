package io.verbena.client.routing;

import io.verbena.client.DeleteResult;
import io.verbena.client.KvClientOptions;
import io.verbena.client.KvClosedException;
import io.verbena.client.KvEntry;
import io.verbena.client.KvException;
import io.verbena.client.KvInvalidRequestException;
import io.verbena.client.KvLimits;
import io.verbena.client.KvNoSuchTableException;
import io.verbena.client.KvOutOfMemoryException;
import io.verbena.client.KvOutcomeUnknownException;
import io.verbena.client.KvTable;
import io.verbena.client.KvTableExistsException;
import io.verbena.client.KvTableFullException;
import io.verbena.client.KvTimeoutException;
import io.verbena.client.KvUnavailableException;
import io.verbena.client.OperationKind;
import io.verbena.client.OperationStatistics;
import io.verbena.client.PutResult;
import io.verbena.client.ReplaceResult;
import io.verbena.client.TableOptions;
import io.verbena.protocol.request.ComputeEndpoint;
import io.verbena.protocol.request.ControlRequest;
import io.verbena.protocol.request.NodeRequest;
import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.OperationRequest;
import io.verbena.protocol.request.RequestKind;
import io.verbena.protocol.request.TableReference;

import org.agrona.concurrent.SystemNanoClock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Timeout(60)
class RoutedKvClientTest
{
    private static final byte[] KEY = {1, 2, 3};
    private static final byte[] VALUE = {4, 5};
    private static final Duration SHORT = Duration.ofMillis(10);

    private final ComputeNodeSet nodes = new ComputeNodeSet();
    private final RoutedKvClient client = RoutedKvClient.open(nodes, SystemNanoClock.INSTANCE, new KvClientOptions());
    private final KvTable table = client.table(new TableReference("t", 7));

    @AfterEach
    void tearDown()
    {
        client.close();
    }

    @Test
    void shouldReturnEntryWhenFound()
    {
        node(1, answer(OperationAnswer.FOUND, VALUE, 42));

        assertThat(table.get(KEY)).contains(new KvEntry(VALUE, 42));
        assertThat(table.exists(KEY)).isTrue();
    }

    @Test
    void shouldReturnEmptyWhenNotFound()
    {
        node(1, answer(OperationAnswer.NOT_FOUND, null, 0));

        assertThat(table.get(KEY)).isEmpty();
        assertThat(table.exists(KEY)).isFalse();
        assertThat(table.delete(KEY)).isFalse();
        assertThat(table.replace(KEY, VALUE, 3).outcome()).isEqualTo(ReplaceResult.Outcome.NOT_FOUND);
        assertThat(table.delete(KEY, 3).outcome()).isEqualTo(DeleteResult.Outcome.NOT_FOUND);
    }

    @Test
    void shouldReturnVersionWhenStored()
    {
        node(1, answer(OperationAnswer.STORED, null, 43));

        assertThat(table.put(KEY, VALUE)).isEqualTo(43);
        assertThat(table.putIfAbsent(KEY, VALUE)).isEqualTo(new PutResult(true, 43));
        assertThat(table.replace(KEY, VALUE, 3)).isEqualTo(new ReplaceResult(ReplaceResult.Outcome.REPLACED, 43));
    }

    /** More of them than the common pool has threads, and each waits for an operation that completes after it. */
    @Test
    void shouldCompleteOtherOperationsWhileDependentStagesBlock() throws Exception
    {
        // Answered later: what depends on a future that is complete runs where it is asked for.
        final List<OperationRequest> taken = new ArrayList<>();
        final StubNode node = node(1, taken::add);
        final int blocking = ForkJoinPool.getCommonPoolParallelism() + 1;
        final CountDownLatch letGo = new CountDownLatch(1);
        final CountDownLatch entered = new CountDownLatch(blocking);
        final List<CompletableFuture<Long>> blocked = new ArrayList<>();
        for (int i = 0; i < blocking; i++)
        {
            blocked.add(table.putAsync(KEY, VALUE).thenApply((version) ->
            {
                entered.countDown();
                awaitQuietly(letGo);
                return version + table.put(KEY, VALUE) + table.putAsync(KEY, VALUE).join();
            }));
        }
        node.onOperation(answer(OperationAnswer.STORED, null, 43));
        taken.forEach(answer(OperationAnswer.STORED, null, 43));
        assertThat(entered.await(20, TimeUnit.SECONDS)).as("no stage holds up another").isTrue();
        assertThat(table.putAsync(KEY, VALUE).get(20, TimeUnit.SECONDS)).isEqualTo(43);
        assertThat(blocked).noneMatch(CompletableFuture::isDone);
        letGo.countDown();
        for (final CompletableFuture<Long> future : blocked)
        {
            assertThat(future.get(20, TimeUnit.SECONDS)).isEqualTo(3 * 43);
        }
    }

    private static void awaitQuietly(final CountDownLatch latch)
    {
        try
        {
            latch.await();
        }
        catch (final InterruptedException ex)
        {
            throw new IllegalStateException(ex);
        }
    }

    @Test
    void shouldReturnFoundVersionWhenConditionFails()
    {
        final StubNode node = node(1, answer(OperationAnswer.VERSION_MISMATCH, null, 9));

        assertThat(table.replace(KEY, VALUE, 3))
            .isEqualTo(new ReplaceResult(ReplaceResult.Outcome.VERSION_MISMATCH, 9));
        assertThat(table.delete(KEY, 3)).isEqualTo(new DeleteResult(DeleteResult.Outcome.VERSION_MISMATCH, 9));

        node.onOperation(answer(OperationAnswer.EXISTS, null, 9));
        assertThat(table.putIfAbsent(KEY, VALUE)).isEqualTo(new PutResult(false, 9));
    }

    @Test
    void shouldDelete()
    {
        final List<RequestKind> kinds = new ArrayList<>();
        node(1, (request) ->
        {
            kinds.add(request.kind());
            answer(OperationAnswer.DELETED, null, 0).accept(request);
        });

        assertThat(table.delete(KEY)).isTrue();
        assertThat(table.delete(KEY, 3).deleted()).isTrue();
        assertThat(table.withTimeout(SHORT).delete(KEY)).isTrue();

        assertThat(kinds)
            .containsExactly(RequestKind.DELETE, RequestKind.DELETE_BY_VERSION, RequestKind.DELETE);
    }

    @Test
    void shouldNotKeepCallersArraysAfterTheCall()
    {
        final StubNode node = node(1, answer(OperationAnswer.FOUND, VALUE, 42));
        table.get(KEY);

        assertThat(((OperationRequest)node.seen().getFirst()).key()).isNull();
        assertThat(((OperationRequest)node.seen().getFirst()).foundValue()).isNull();
    }

    @Test
    void shouldThrowTypedExceptionForEachFailure()
    {
        assertFailure(OperationAnswer.TABLE_FULL, KvTableFullException.class, KvException.Category.NO_SPACE);
        assertFailure(OperationAnswer.NO_MEMORY, KvOutOfMemoryException.class, KvException.Category.NO_SPACE);
        assertFailure(OperationAnswer.TIMED_OUT, KvTimeoutException.class, KvException.Category.NOT_APPLIED);
        assertFailure(
            OperationAnswer.OUTCOME_UNKNOWN, KvOutcomeUnknownException.class, KvException.Category.OUTCOME_UNKNOWN);
        assertFailure(
            OperationAnswer.NO_SUCH_TABLE, KvNoSuchTableException.class, KvException.Category.INVALID_REQUEST);
        assertFailure(OperationAnswer.UNREACHABLE, KvUnavailableException.class, KvException.Category.UNAVAILABLE);
        assertFailure(OperationAnswer.NOT_SERVING, KvUnavailableException.class, KvException.Category.UNAVAILABLE);
    }

    @Test
    void shouldRefuseBadArgumentsBeforeAnythingIsSent()
    {
        final StubNode node = node(1, answer(OperationAnswer.STORED, null, 1));

        assertInvalid(() -> table.get(new byte[0]), "keyBytes=0");
        assertInvalid(() -> table.get(null), "key is null");
        assertInvalid(() -> table.get(new byte[KvLimits.MAX_KEY_BYTES + 1]), "keyBytes=65537");
        assertInvalid(() -> table.put(KEY, null), "value is null");
        assertInvalid(() -> table.put(KEY, new byte[KvLimits.MAX_VALUE_BYTES + 1]), "valueBytes=16385");
        assertInvalid(() -> table.putAsync(KEY, new byte[KvLimits.MAX_VALUE_BYTES + 1]), "16384");
        assertInvalid(() -> table.withTimeout(Duration.ZERO), "timeout=PT0S");
        assertInvalid(() -> table.replace(KEY, VALUE, 0), "expectedVersion=0");
        assertInvalid(() -> table.delete(KEY, -1), "expectedVersion=-1");
        assertInvalid(() -> client.table(""), "table name '' is not allowed: use 1 to 128 ");
        assertInvalid(() -> client.table("a b"), "table name 'a b' is not allowed");
        for (final String name : new String[]{".hidden", "-x", "", null, "a\nb"})
        {
            assertInvalid(() -> client.createTable(name, TableOptions.DEFAULTS), "not beginning with '-' or '.'");
        }
        assertInvalid(() -> client.table("a".repeat(129)), "a".repeat(128) + "...' is not allowed");
        assertInvalid(() -> new TableOptions(0), "expectedRecords=0");
        assertInvalid(() -> new TableOptions(1, 0), "copies=0 must be 1 to 3, each on another memory node");
        assertInvalid(() -> new TableOptions(1, 4), "copies=4 must be 1 to 3");
        assertInvalid(() -> new KvClientOptions().timeout(Duration.ZERO), "timeout=PT0S");
        assertInvalid(() -> new KvClientOptions().maxAsyncInFlight(0), "maxAsyncInFlight=0");

        assertThat(node.seen()).isEmpty();
    }

    @Test
    void shouldAcceptLongestKeyAndValue()
    {
        node(1, answer(OperationAnswer.STORED, null, 1));

        assertThat(table.put(new byte[KvLimits.MAX_KEY_BYTES], new byte[KvLimits.MAX_VALUE_BYTES])).isEqualTo(1);
        assertThat(table.put(KEY, new byte[0])).isEqualTo(1);
        assertThat(table.withTimeout(Duration.ofSeconds(Long.MAX_VALUE)).get(KEY)).isEmpty();
    }

    @Test
    void shouldTimeOutWithoutEffectWhenNodeNeverStarts()
    {
        final StubNode node = node(1, (request) -> {});

        assertThatThrownBy(() -> table.withTimeout(SHORT).put(KEY, VALUE)).isInstanceOf(KvTimeoutException.class)
            .hasMessage("PUT in table " + table.name() + " was not applied before its deadline");
        assertThatThrownBy(() -> table.withTimeout(SHORT).get(KEY)).isInstanceOf(KvTimeoutException.class)
            .hasMessage("GET in table " + table.name() + " was not answered before its deadline");

        assertThat(node.seen().getFirst().start()).as("a late node must not be able to start it").isFalse();
    }

    @Test
    void shouldReportUnknownOutcomeWhenNodeStartsAndFallsSilent()
    {
        final StubNode node = node(1, NodeRequest::start);

        assertThatThrownBy(() -> table.withTimeout(SHORT).put(KEY, VALUE))
            .isInstanceOf(KvOutcomeUnknownException.class);
        assertThatThrownBy(() -> table.withTimeout(SHORT).get(KEY)).isInstanceOf(KvTimeoutException.class);

        // The late answers must not reach the calls that came after.
        node.seen().forEach(NodeRequest::complete);
        node.onOperation(answer(OperationAnswer.FOUND, VALUE, 42));
        assertThat(table.get(KEY)).contains(new KvEntry(VALUE, 42));
        assertThat(node.seen().get(2)).isNotIn(node.seen().get(0), node.seen().get(1));
    }

    @Test
    void shouldReuseRequestOfThread()
    {
        final StubNode node = node(1, answer(OperationAnswer.FOUND, VALUE, 42));
        table.get(KEY);
        table.get(KEY);

        assertThat(node.seen().get(0)).isSameAs(node.seen().get(1));
    }

    @ParameterizedTest
    @EnumSource(value = OperationAnswer.class, names = {"NOT_SERVING", "UNREACHABLE"})
    void shouldTryOtherNodeWhenOneCannotServe(final OperationAnswer refusal)
    {
        final StubNode bad = preferred(answer(refusal, null, 0));
        final StubNode good = other(answer(OperationAnswer.STORED, null, 5));

        assertThat(table.put(KEY, VALUE)).isEqualTo(5);
        assertThat(bad.seen()).hasSize(1);
        assertThat(good.seen()).hasSize(1);
    }

    @Test
    void shouldTryOtherNodeWhenOneIsClosedOrFull()
    {
        final StubNode bad = preferred(answer(OperationAnswer.STORED, null, 4)).refusing(ComputeEndpoint.CLOSED);
        other(answer(OperationAnswer.STORED, null, 5));
        assertThat(table.put(KEY, VALUE)).isEqualTo(5);

        bad.refusing(ComputeEndpoint.FULL);
        assertThat(table.put(KEY, VALUE)).isEqualTo(5);

        bad.refusing(ComputeEndpoint.ACCEPTED);
        assertThat(table.put(KEY, VALUE)).isEqualTo(4);
    }

    @Test
    void shouldRepeatReadButNotWriteWhenNodeDied()
    {
        preferred(answer(OperationAnswer.OUTCOME_UNKNOWN, null, 0));
        final StubNode good = other(answer(OperationAnswer.FOUND, VALUE, 42));

        assertThat(table.get(KEY)).contains(new KvEntry(VALUE, 42));
        assertThat(good.seen()).hasSize(1);

        assertThatThrownBy(() -> table.put(KEY, VALUE)).isInstanceOf(KvOutcomeUnknownException.class);
        assertThat(good.seen()).hasSize(1);
    }

    @Test
    void shouldSayUnavailableWhenThereIsNoNode()
    {
        assertThatThrownBy(() -> table.withTimeout(SHORT).get(KEY))
            .isInstanceOf(KvUnavailableException.class).hasMessageContaining("no compute node");
        assertThatThrownBy(() -> table.withTimeout(SHORT).getAsync(KEY).get())
            .isInstanceOf(ExecutionException.class).hasCauseInstanceOf(KvUnavailableException.class);
    }

    @Test
    void shouldServeCallsThatWaitedForTheFirstNode() throws Exception
    {
        final CompletableFuture<Boolean> future = table.existsAsync(KEY);
        final CompletableFuture<Boolean> waiting = new CompletableFuture<>();
        final Thread thread = new Thread(() -> waiting.complete(table.exists(KEY)), "waiting-caller");
        thread.start();

        node(1, answer(OperationAnswer.FOUND, VALUE, 1));

        assertThat(waiting.get()).isTrue();
        assertThat(future.get()).isTrue();
        thread.join();
    }

    @Test
    void shouldRefuseWhenClosed()
    {
        final StubNode node = node(1, answer(OperationAnswer.FOUND, VALUE, 1));
        client.close();
        client.close();

        assertThatThrownBy(() -> table.get(KEY)).isInstanceOf(KvClosedException.class);
        assertThatThrownBy(() -> table.getAsync(KEY)).isInstanceOf(KvClosedException.class);
        assertThatThrownBy(client::tables).isInstanceOf(KvClosedException.class);
        assertThat(node.seen()).isEmpty();
    }

    @Test
    void shouldCompleteFuturesThatNodeAnswersAfterClose() throws Exception
    {
        final StubNode node = node(1, (request) -> {});
        final CompletableFuture<Long> future = table.putAsync(KEY, VALUE);
        client.close();

        answer(OperationAnswer.STORED, null, 6).accept((OperationRequest)node.seen().getFirst());

        assertThat(future.get()).isEqualTo(6);
    }

    @Test
    void shouldRunEveryKindAsynchronously() throws Exception
    {
        final StubNode node = node(1, answer(OperationAnswer.FOUND, VALUE, 42));
        assertThat(table.getAsync(KEY).get()).contains(new KvEntry(VALUE, 42));
        assertThat(table.existsAsync(KEY).get()).isTrue();

        node.onOperation(answer(OperationAnswer.STORED, null, 5));
        assertThat(table.putAsync(KEY, VALUE).get()).isEqualTo(5);
        assertThat(table.putIfAbsentAsync(KEY, VALUE).get().stored()).isTrue();
        assertThat(table.replaceAsync(KEY, VALUE, 2).get().replaced()).isTrue();

        node.onOperation(answer(OperationAnswer.DELETED, null, 0));
        assertThat(table.deleteAsync(KEY).get()).isTrue();
        assertThat(table.deleteAsync(KEY, 2).get().deleted()).isTrue();
    }

    @Test
    void shouldTimeOutAsynchronously()
    {
        final StubNode node = node(1, (request) -> {});
        assertThatThrownBy(() -> table.withTimeout(SHORT).putAsync(KEY, VALUE).get())
            .hasCauseInstanceOf(KvTimeoutException.class);
        assertThat(node.seen().getFirst().start()).isFalse();

        node.onOperation(NodeRequest::start);
        assertThatThrownBy(() -> table.withTimeout(SHORT).putAsync(KEY, VALUE).get())
            .hasCauseInstanceOf(KvOutcomeUnknownException.class);
    }

    @Test
    void shouldTryOtherNodeAsynchronously() throws Exception
    {
        preferred(answer(OperationAnswer.NOT_SERVING, null, 0));
        other(answer(OperationAnswer.STORED, null, 5));

        assertThat(table.putAsync(KEY, VALUE).get()).isEqualTo(5);
    }

    @Test
    void shouldLimitAsynchronousOperationsInFlight() throws Exception
    {
        final StubNode node = node(1, (request) -> {});
        final RoutedKvClient small = RoutedKvClient.open(
            nodes, SystemNanoClock.INSTANCE, new KvClientOptions().maxAsyncInFlight(1));
        final KvTable limited = small.table(new TableReference("t", 7));

        final CompletableFuture<Long> first = limited.putAsync(KEY, VALUE);
        assertThatThrownBy(() -> limited.putAsync(KEY, VALUE).get())
            .hasCauseInstanceOf(KvUnavailableException.class).hasMessageContaining("maxAsyncInFlight=1");

        node.onOperation(answer(OperationAnswer.STORED, null, 6));
        answer(OperationAnswer.STORED, null, 5).accept((OperationRequest)node.seen().getFirst());
        assertThat(first.get()).isEqualTo(5);
        assertThat(limited.putAsync(KEY, VALUE).get()).isEqualTo(6);
        small.close();
    }

    @Test
    void shouldCompleteFutureWhenExecutorWasShutDown() throws Exception
    {
        node(1, answer(OperationAnswer.STORED, null, 5));
        final RoutedKvClient rejected = RoutedKvClient.open(nodes, SystemNanoClock.INSTANCE,
            new KvClientOptions().completionExecutor((task) ->
            {
                throw new RejectedExecutionException();
            }));

        assertThat(rejected.table(new TableReference("t", 7)).putAsync(KEY, VALUE).get()).isEqualTo(5);
        rejected.close();
    }

    @Test
    void shouldKeepInterruptAndReturnResult()
    {
        node(1, answer(OperationAnswer.STORED, null, 5));
        Thread.currentThread().interrupt();
        assertThat(table.put(KEY, VALUE)).isEqualTo(5);
        assertThat(Thread.interrupted()).isTrue();

        preferredSilent();
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> table.withTimeout(SHORT).put(KEY, VALUE)).isInstanceOf(KvTimeoutException.class);
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void shouldAddUpStatistics()
    {
        final StubNode node = node(1, (request) ->
        {
            request.start();
            request.answer(OperationAnswer.FOUND, VALUE, 1, null);
            request.cost(2, 1, 1);
            request.complete();
        });
        final OperationStatistics before = client.statistics();
        table.get(KEY);
        table.get(KEY);
        node.onOperation(answer(OperationAnswer.TABLE_FULL, null, 0));
        assertThatThrownBy(() -> table.put(KEY, VALUE)).isInstanceOf(KvTableFullException.class);

        final OperationStatistics statistics = client.statistics().since(before);
        assertThat(statistics.count(OperationKind.GET)).isEqualTo(2);
        assertThat(statistics.verbs(OperationKind.GET)).isEqualTo(4);
        assertThat(statistics.roundTrips(OperationKind.GET)).isEqualTo(2);
        assertThat(statistics.meanRoundTrips(OperationKind.GET)).isEqualTo(1.0);
        assertThat(statistics.doorbells()).isEqualTo(2);
        assertThat(statistics.failures(OperationKind.PUT)).isEqualTo(1);
        assertThat(statistics.count()).isEqualTo(2);
        assertThat(statistics.failures()).isEqualTo(1);
    }

    @Test
    void shouldManageTablesThroughAnyNode()
    {
        final StubNode node = new StubNode(1).onControl(control(ControlRequest.Status.OK, new TableReference("x", 3)));
        nodes.add(node);
        assertThat(client.table("x").name()).isEqualTo("x");
        assertThat(client.createTable("x", TableOptions.DEFAULTS).name()).isEqualTo("x");
        assertThat(((ControlRequest)node.seen().getLast()).copies()).isEqualTo(1);
        client.createTable("x", new TableOptions(7, 3));
        assertThat(((ControlRequest)node.seen().getLast()).copies()).isEqualTo(3);
        assertThat(((ControlRequest)node.seen().getLast()).expectedRecords()).isEqualTo(7);

        node.onControl(control(ControlRequest.Status.OK, List.of("a", "b")));
        assertThat(client.tables()).containsExactly("a", "b");

        node.onControl(control(ControlRequest.Status.OK, null));
        client.dropTable("x");
        assertThat(((ControlRequest)node.seen().getLast()).kind()).isEqualTo(ControlRequest.Kind.FORGET_TABLE);
    }

    @Test
    void shouldThrowTypedExceptionsForTables()
    {
        final StubNode node = new StubNode(1);
        nodes.add(node);

        node.onControl(control(ControlRequest.Status.NOT_FOUND, null));
        assertThatThrownBy(() -> client.table("x")).isInstanceOf(KvNoSuchTableException.class);
        node.onControl(control(ControlRequest.Status.ALREADY_EXISTS, null));
        assertThatThrownBy(() -> client.createTable("x", TableOptions.DEFAULTS))
            .isInstanceOf(KvTableExistsException.class);
        node.onControl(control(ControlRequest.Status.NO_MEMORY, null));
        assertThatThrownBy(() -> client.createTable("x", TableOptions.DEFAULTS))
            .isInstanceOf(KvOutOfMemoryException.class);
        node.onControl(control(ControlRequest.Status.OUTCOME_UNKNOWN, null));
        assertThatThrownBy(() -> client.dropTable("x")).isInstanceOf(KvOutcomeUnknownException.class);
        node.onControl(control(ControlRequest.Status.TIMED_OUT, null));
        assertThatThrownBy(client::tables).isInstanceOf(KvTimeoutException.class);
    }

    private void assertFailure(
        final OperationAnswer answer, final Class<? extends KvException> type, final KvException.Category category)
    {
        final StubNode node = node(1, answer(answer, null, 0));

        assertThatThrownBy(() -> table.withTimeout(SHORT).put(KEY, VALUE)).isInstanceOf(type).hasMessageContaining("t")
            .extracting((thrown) -> ((KvException)thrown).category()).isEqualTo(category);
        assertThatThrownBy(() -> table.withTimeout(SHORT).putAsync(KEY, VALUE).get()).hasCauseInstanceOf(type);
        nodes.remove(node);
    }

    private static void assertInvalid(final Runnable call, final String fact)
    {
        assertThatThrownBy(call::run).isInstanceOf(KvInvalidRequestException.class).hasMessageContaining(fact);
    }

    private StubNode node(final int id, final Consumer<OperationRequest> onOperation)
    {
        final StubNode node = new StubNode(id).onOperation(onOperation);
        nodes.add(node);
        return node;
    }

    /** Adds nodes 1 and 2 and programs the one that KEY goes to first. */
    private StubNode preferred(final Consumer<OperationRequest> onOperation)
    {
        node(1, null);
        node(2, null);
        return ((StubNode)nodes.view().endpoint(RoutingView.partition(KEY), 0)).onOperation(onOperation);
    }

    private StubNode other(final Consumer<OperationRequest> onOperation)
    {
        return ((StubNode)nodes.view().endpoint(RoutingView.partition(KEY), 1)).onOperation(onOperation);
    }

    private void preferredSilent()
    {
        ((StubNode)nodes.view().endpoint(RoutingView.partition(KEY), 0)).onOperation((request) -> {});
    }

    private static Consumer<OperationRequest> answer(
        final OperationAnswer answer, final byte[] foundValue, final long version)
    {
        return (request) ->
        {
            request.start();
            request.answer(answer, foundValue, version, null);
            request.complete();
        };
    }

    private static Consumer<ControlRequest> control(final ControlRequest.Status status, final Object result)
    {
        return (request) ->
        {
            request.start();
            request.answer(status, result, "facts");
            request.complete();
        };
    }
}
