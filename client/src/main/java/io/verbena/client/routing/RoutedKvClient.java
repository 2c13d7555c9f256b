package io.verbena.client.routing;

import io.verbena.client.KvClient;
import io.verbena.client.KvClientOptions;
import io.verbena.client.KvTable;
import io.verbena.client.OperationStatistics;
import io.verbena.client.TableOptions;
import io.verbena.protocol.request.ControlRequest;
import io.verbena.protocol.request.TableReference;

import org.agrona.concurrent.NanoClock;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

/**
 * A client that chooses a compute node for each operation and hands it over, through whatever endpoints its
 * {@link ComputeNodeSet} holds. Thread-safe.
 */
public final class RoutedKvClient implements KvClient
{
    private final ComputeNodeSet nodes;
    private final NanoClock clock;
    private final StatisticsCells statistics = new StatisticsCells();
    private final SyncCalls syncCalls;
    private final AsyncCalls asyncCalls;
    private final BackgroundCalls backgroundCalls;
    private final ControlCalls controlCalls;
    private final TableCalls tableCalls;
    private final CallSweeper sweeper;
    private final Runnable onClose;

    private RoutedKvClient(
        final ComputeNodeSet nodes, final NanoClock clock, final KvClientOptions options, final boolean sweepsItself,
        final Runnable onClose)
    {
        this.onClose = onClose;
        this.nodes = Objects.requireNonNull(nodes);
        this.clock = Objects.requireNonNull(clock);
        syncCalls = new SyncCalls(nodes, clock, statistics);
        asyncCalls = new AsyncCalls(nodes, clock, statistics, options, this::wakeSweeper);
        backgroundCalls = new BackgroundCalls(asyncCalls.completionExecutor(), options.maxAsyncInFlight());
        final long timeoutNs = Arguments.checkTimeout(options.timeout());
        tableCalls = new TableCalls(clock, timeoutNs, syncCalls, asyncCalls, backgroundCalls);
        controlCalls = new ControlCalls(nodes, clock, timeoutNs);
        sweeper = sweepsItself ? new CallSweeper(asyncCalls, clock) : null;
    }

    /**
     * Opens a client.
     *
     * @param nodes   that it may use, kept up to date by their owner.
     * @param clock   of the fabric, the one that the nodes use.
     * @param options how it behaves; copied.
     * @return the client, closed by the caller.
     */
    public static RoutedKvClient open(final ComputeNodeSet nodes, final NanoClock clock, final KvClientOptions options)
    {
        return open(nodes, clock, options, () -> {});
    }

    /** As {@link #open(ComputeNodeSet, NanoClock, KvClientOptions)}, with something to be done when it is closed. */
    static RoutedKvClient open(
        final ComputeNodeSet nodes, final NanoClock clock, final KvClientOptions options, final Runnable onClose)
    {
        return new RoutedKvClient(nodes, clock, options, true, onClose);
    }

    /**
     * Opens a client without a thread of its own, for programs that step everything in one thread, such as simulations:
     * only asynchronous operations can be used, and {@link #sweep()} must be called now and then.
     *
     * @param nodes   that it may use.
     * @param clock   of the fabric.
     * @param options how it behaves; its completion executor should be {@code Runnable::run}.
     * @return the client, closed by the caller.
     */
    public static RoutedKvClient openStepped(
        final ComputeNodeSet nodes, final NanoClock clock, final KvClientOptions options)
    {
        return new RoutedKvClient(nodes, clock, options, false, () -> {});
    }

    /** Looks after deadlines and re-routing of asynchronous operations; only for clients opened as stepped. */
    public void sweep()
    {
        asyncCalls.sweep(clock.nanoTime());
    }

    @Override
    public KvTable table(final String name)
    {
        Arguments.checkTableName(name);
        return handle(controlCalls.run(ControlRequest.Kind.FIND_TABLE, name));
    }

    @Override
    public CompletableFuture<KvTable> tableAsync(final String name)
    {
        Arguments.checkTableName(name);
        return backgroundCalls.run(() -> table(name));
    }

    /**
     * Makes a handle of a table that is known already, without asking anybody.
     *
     * @param table that exists.
     * @return its handle.
     */
    public KvTable table(final TableReference table)
    {
        return handle(table);
    }

    @Override
    public KvTable createTable(final String name, final TableOptions options)
    {
        Arguments.checkTableName(name);
        Arguments.checkTableOptions(options);
        return handle(controlCalls.run(
            ControlRequest.Kind.CREATE_TABLE, name, options.expectedRecords(), options.copies()));
    }

    @Override
    public CompletableFuture<KvTable> createTableAsync(final String name, final TableOptions options)
    {
        Arguments.checkTableName(name);
        Arguments.checkTableOptions(options);
        return backgroundCalls.run(() -> createTable(name, options));
    }

    @Override
    @SuppressWarnings("unchecked")
    public List<String> tables()
    {
        return (List<String>)controlCalls.run(ControlRequest.Kind.LIST_TABLES, null);
    }

    @Override
    public CompletableFuture<List<String>> tablesAsync()
    {
        return backgroundCalls.run(this::tables);
    }

    @Override
    public void dropTable(final String name)
    {
        Arguments.checkTableName(name);
        controlCalls.run(ControlRequest.Kind.DROP_TABLE, name);
        controlCalls.runOnAll(ControlRequest.Kind.FORGET_TABLE, name);
    }

    @Override
    public CompletableFuture<Void> dropTableAsync(final String name)
    {
        Arguments.checkTableName(name);
        return backgroundCalls.run(() ->
        {
            dropTable(name);
            return null;
        });
    }

    @Override
    public List<Integer> reclaim()
    {
        controlCalls.awaitNode(ControlRequest.Kind.SWEEP);
        return controlCalls.runOnAll(ControlRequest.Kind.SWEEP, null);
    }

    @Override
    public CompletableFuture<List<Integer>> reclaimAsync()
    {
        return backgroundCalls.run(this::reclaim);
    }

    @Override
    public OperationStatistics statistics()
    {
        return statistics.snapshot();
    }

    @Override
    public void close()
    {
        syncCalls.close();
        asyncCalls.close();
        backgroundCalls.close();
        controlCalls.close();
        if (null != sweeper)
        {
            sweeper.close();
        }
        onClose.run();
    }

    private KvTable handle(final Object reference)
    {
        return new RoutedKvTable(tableCalls, (TableReference)reference, tableCalls.timeoutNs());
    }

    private void wakeSweeper()
    {
        if (null != sweeper)
        {
            sweeper.wake();
        }
    }

    @Override
    public String toString()
    {
        return "RoutedKvClient{nodes=" + nodes + ", asyncInFlight=" + asyncCalls.inFlight() + '}';
    }
}
