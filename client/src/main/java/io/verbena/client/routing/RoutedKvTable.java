package io.verbena.client.routing;

import io.verbena.client.DeleteResult;
import io.verbena.client.KvEntry;
import io.verbena.client.KvOutcome;
import io.verbena.client.KvScan;
import io.verbena.client.KvTable;
import io.verbena.client.PutResult;
import io.verbena.client.ReplaceResult;
import io.verbena.client.TableStat;
import io.verbena.protocol.request.RecordPage;
import io.verbena.protocol.request.RequestKind;
import io.verbena.protocol.request.TableReference;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/** A table of a client: checks arguments, and says which request each operation is. Thread-safe. */
final class RoutedKvTable extends RoutedExpiry implements KvTable
{
    /** Of requests that are about no key. */
    private static final byte[] ANY_KEY = {0};

    RoutedKvTable(final TableCalls clientCalls, final TableReference table, final long timeoutNs)
    {
        super(clientCalls, table, timeoutNs);
    }

    @Override
    public String name()
    {
        return table.name();
    }

    @Override
    public Duration timeout()
    {
        return Duration.ofNanos(timeoutNs);
    }

    @Override
    public KvTable withTimeout(final Duration timeout)
    {
        return new RoutedKvTable(clientCalls, table, Arguments.checkTimeout(timeout));
    }

    @Override
    public Optional<KvEntry> get(final byte[] key)
    {
        return run(RequestKind.GET, key, null, 0, Conversion::entry);
    }

    @Override
    public CompletableFuture<Optional<KvEntry>> getAsync(final byte[] key)
    {
        return runAsync(RequestKind.GET, key, null, 0, Conversion::entry);
    }

    @Override
    public boolean exists(final byte[] key)
    {
        return run(RequestKind.EXISTS, key, null, 0, Conversion::found);
    }

    @Override
    public CompletableFuture<Boolean> existsAsync(final byte[] key)
    {
        return runAsync(RequestKind.EXISTS, key, null, 0, Conversion::found);
    }

    @Override
    public long put(final byte[] key, final byte[] value)
    {
        Arguments.checkValue(value);
        final SyncCall call = answered(RequestKind.PUT, key, value, 0);
        final long version = call.version(); // not through run(), which would box it
        call.forget();
        return version;
    }

    @Override
    public CompletableFuture<Long> putAsync(final byte[] key, final byte[] value)
    {
        Arguments.checkValue(value);
        return runAsync(RequestKind.PUT, key, value, 0, Conversion::version);
    }

    @Override
    public PutResult putIfAbsent(final byte[] key, final byte[] value)
    {
        Arguments.checkValue(value);
        return run(RequestKind.PUT_IF_ABSENT, key, value, 0, Conversion::putResult);
    }

    @Override
    public CompletableFuture<PutResult> putIfAbsentAsync(final byte[] key, final byte[] value)
    {
        Arguments.checkValue(value);
        return runAsync(RequestKind.PUT_IF_ABSENT, key, value, 0, Conversion::putResult);
    }

    @Override
    public long append(final byte[] key, final byte[] suffix)
    {
        Arguments.checkValue(suffix);
        final SyncCall call = answered(RequestKind.APPEND, key, suffix, 0);
        final long version = call.version();
        call.forget();
        return version;
    }

    @Override
    public CompletableFuture<Long> appendAsync(final byte[] key, final byte[] suffix)
    {
        Arguments.checkValue(suffix);
        return runAsync(RequestKind.APPEND, key, suffix, 0, Conversion::version);
    }

    @Override
    public long increment(final byte[] key, final long amount)
    {
        final SyncCall call = answered(RequestKind.INCREMENT, key, null, amount);
        final long counter = Conversion.counter(call);
        call.forget();
        return counter;
    }

    @Override
    public CompletableFuture<Long> incrementAsync(final byte[] key, final long amount)
    {
        return runAsync(RequestKind.INCREMENT, key, null, amount, Conversion::counter);
    }

    @Override
    public List<KvOutcome<Optional<KvEntry>>> getAll(final List<byte[]> keys)
    {
        Arguments.checkKeys(keys);
        return all(RequestKind.GET, keys, null, Conversion::entry);
    }

    @Override
    public CompletableFuture<List<KvOutcome<Optional<KvEntry>>>> getAllAsync(final List<byte[]> keys)
    {
        Arguments.checkKeys(keys);
        final List<byte[]> copy = List.copyOf(keys);
        return clientCalls.backgroundCalls().run(() -> getAll(copy));
    }

    @Override
    public List<KvOutcome<Long>> putAll(final List<byte[]> keys, final List<byte[]> values)
    {
        Arguments.checkValues(keys, values);
        return all(RequestKind.PUT, keys, values, Conversion::version);
    }

    @Override
    public CompletableFuture<List<KvOutcome<Long>>> putAllAsync(final List<byte[]> keys, final List<byte[]> values)
    {
        Arguments.checkValues(keys, values);
        final List<byte[]> keysCopy = List.copyOf(keys);
        final List<byte[]> valuesCopy = List.copyOf(values);
        return clientCalls.backgroundCalls().run(() -> putAll(keysCopy, valuesCopy));
    }

    @Override
    public List<KvOutcome<Boolean>> deleteAll(final List<byte[]> keys)
    {
        Arguments.checkKeys(keys);
        return all(RequestKind.DELETE, keys, null, Conversion::deleted);
    }

    @Override
    public CompletableFuture<List<KvOutcome<Boolean>>> deleteAllAsync(final List<byte[]> keys)
    {
        Arguments.checkKeys(keys);
        final List<byte[]> copy = List.copyOf(keys);
        return clientCalls.backgroundCalls().run(() -> deleteAll(copy));
    }

    private <T> List<KvOutcome<T>> all(
        final RequestKind kind, final List<byte[]> keys, final List<byte[]> values, final Conversion<T> conversion)
    {
        final long deadlineNs = deadlineNs();
        final AsyncCalls calls = clientCalls.asyncCalls();
        return new Batch(calls.clock(), deadlineNs).run(
            keys.size(),
            (i, executor) -> calls.tryRun(kind, table, keys.get(i), null == values ? null : values.get(i), 0,
                deadlineNs, conversion, executor),
            () -> Verdict.notBegun(kind, table));
    }

    @Override
    public ReplaceResult replace(final byte[] key, final byte[] value)
    {
        Arguments.checkValue(value);
        return run(RequestKind.PUT_IF_PRESENT, key, value, 0, Conversion::replaceResult);
    }

    @Override
    public CompletableFuture<ReplaceResult> replaceAsync(final byte[] key, final byte[] value)
    {
        Arguments.checkValue(value);
        return runAsync(RequestKind.PUT_IF_PRESENT, key, value, 0, Conversion::replaceResult);
    }

    @Override
    public ReplaceResult replace(final byte[] key, final byte[] value, final long expectedVersion)
    {
        Arguments.checkValue(value);
        Arguments.checkVersion(expectedVersion);
        return run(RequestKind.REPLACE, key, value, expectedVersion, Conversion::replaceResult);
    }

    @Override
    public CompletableFuture<ReplaceResult> replaceAsync(
        final byte[] key, final byte[] value, final long expectedVersion)
    {
        Arguments.checkValue(value);
        Arguments.checkVersion(expectedVersion);
        return runAsync(RequestKind.REPLACE, key, value, expectedVersion, Conversion::replaceResult);
    }

    @Override
    public boolean delete(final byte[] key)
    {
        return run(RequestKind.DELETE, key, null, 0, Conversion::deleted);
    }

    @Override
    public DeleteResult delete(final byte[] key, final long expectedVersion)
    {
        Arguments.checkVersion(expectedVersion);
        return run(RequestKind.DELETE_BY_VERSION, key, null, expectedVersion, Conversion::deleteResult);
    }

    @Override
    public CompletableFuture<Boolean> deleteAsync(final byte[] key)
    {
        return runAsync(RequestKind.DELETE, key, null, 0, Conversion::deleted);
    }

    @Override
    public CompletableFuture<DeleteResult> deleteAsync(final byte[] key, final long expectedVersion)
    {
        Arguments.checkVersion(expectedVersion);
        return runAsync(RequestKind.DELETE_BY_VERSION, key, null, expectedVersion, Conversion::deleteResult);
    }

    @Override
    public KvScan scan()
    {
        return scan(0);
    }

    @Override
    public KvScan scanFrom(final String cursor)
    {
        return scan(ScanCursor.decode(cursor, table.id()));
    }

    private KvScan scan(final long from)
    {
        return new RoutedScan(table.id(), from, clientCalls.asyncCalls().completionExecutor(),
            (position, executor) -> runAsync(RequestKind.SCAN, ANY_KEY, null, position,
                (request) -> new ScannedRecords.Fetched(request.foundValue(), request.version()), executor));
    }

    @Override
    public TableStat stat()
    {
        final TableCount count = new TableCount();
        long position = 0;
        while (RecordPage.END != position)
        {
            position = run(RequestKind.COUNT, ANY_KEY, null, position, count::add);
        }
        return count.stat();
    }

    @Override
    public CompletableFuture<TableStat> statAsync()
    {
        return clientCalls.backgroundCalls().run(this::stat);
    }

    private long deadlineNs()
    {
        return clientCalls.clock().nanoTime() + timeoutNs;
    }

    private <T> T run(
        final RequestKind kind, final byte[] key, final byte[] value, final long expectedVersion,
        final Conversion<T> conversion)
    {
        final SyncCall call = answered(kind, key, value, expectedVersion);
        final T result = conversion.of(call);
        call.forget();
        return result;
    }

    private SyncCall answered(
        final RequestKind kind, final byte[] key, final byte[] value, final long expectedVersion)
    {
        Arguments.checkKey(key);
        final long deadlineNs = deadlineNs();
        return clientCalls.syncCalls().run(kind, table, key, value, expectedVersion, deadlineNs);
    }

    private <T> CompletableFuture<T> runAsync(
        final RequestKind kind, final byte[] key, final byte[] value, final long expectedVersion,
        final Conversion<T> conversion)
    {
        return runAsync(
            kind, key, value, expectedVersion, conversion, clientCalls.asyncCalls().completionExecutor());
    }

    private <T> CompletableFuture<T> runAsync(
        final RequestKind kind, final byte[] key, final byte[] value, final long expectedVersion,
        final Conversion<T> conversion, final Executor executor)
    {
        Arguments.checkKey(key);
        final long deadlineNs = deadlineNs();
        return clientCalls.asyncCalls().run(kind, table, key, value, expectedVersion, deadlineNs, conversion, executor);
    }

    @Override
    public String toString()
    {
        return "KvTable{name=" + table.name() + ", id=" + table.id() + '}';
    }
}
