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

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/** A table of a client: checks arguments, and says which request each operation is. Thread-safe. */
final class RoutedKvTable implements KvTable
{
    /** Of requests that are about no key. */
    private static final byte[] ANY_KEY = {0};
    /**
     * For futures that this class alone waits for: completed by whoever ends the operation, because the user's executor
     * may be busy with the very thread that waits.
     */
    private static final Executor DIRECTLY = Runnable::run;

    private final TableCalls clientCalls;
    private final TableReference table;

    RoutedKvTable(final TableCalls clientCalls, final TableReference table)
    {
        this.clientCalls = clientCalls;
        this.table = table;
    }

    @Override
    public String name()
    {
        return table.name();
    }

    @Override
    public Optional<KvEntry> get(final byte[] key)
    {
        return get(key, clientCalls.defaultTimeoutNs());
    }

    @Override
    public Optional<KvEntry> get(final byte[] key, final long timeoutNs)
    {
        return run(RequestKind.GET, key, null, 0, timeoutNs, Conversion::entry);
    }

    @Override
    public CompletableFuture<Optional<KvEntry>> getAsync(final byte[] key)
    {
        return getAsync(key, clientCalls.defaultTimeoutNs());
    }

    @Override
    public CompletableFuture<Optional<KvEntry>> getAsync(final byte[] key, final long timeoutNs)
    {
        return runAsync(RequestKind.GET, key, null, 0, timeoutNs, Conversion::entry);
    }

    @Override
    public boolean exists(final byte[] key)
    {
        return exists(key, clientCalls.defaultTimeoutNs());
    }

    @Override
    public boolean exists(final byte[] key, final long timeoutNs)
    {
        return run(RequestKind.EXISTS, key, null, 0, timeoutNs, Conversion::found);
    }

    @Override
    public CompletableFuture<Boolean> existsAsync(final byte[] key)
    {
        return existsAsync(key, clientCalls.defaultTimeoutNs());
    }

    @Override
    public CompletableFuture<Boolean> existsAsync(final byte[] key, final long timeoutNs)
    {
        return runAsync(RequestKind.EXISTS, key, null, 0, timeoutNs, Conversion::found);
    }

    @Override
    public long put(final byte[] key, final byte[] value)
    {
        return put(key, value, clientCalls.defaultTimeoutNs());
    }

    @Override
    public long put(final byte[] key, final byte[] value, final long timeoutNs)
    {
        Arguments.checkValue(value);
        final SyncCall call = answered(RequestKind.PUT, key, value, 0, timeoutNs);
        final long version = call.version(); // not through run(), which would box it
        call.forget();
        return version;
    }

    @Override
    public CompletableFuture<Long> putAsync(final byte[] key, final byte[] value)
    {
        return putAsync(key, value, clientCalls.defaultTimeoutNs());
    }

    @Override
    public CompletableFuture<Long> putAsync(final byte[] key, final byte[] value, final long timeoutNs)
    {
        Arguments.checkValue(value);
        return runAsync(RequestKind.PUT, key, value, 0, timeoutNs, Conversion::version);
    }

    @Override
    public PutResult putIfAbsent(final byte[] key, final byte[] value)
    {
        return putIfAbsent(key, value, clientCalls.defaultTimeoutNs());
    }

    @Override
    public PutResult putIfAbsent(final byte[] key, final byte[] value, final long timeoutNs)
    {
        Arguments.checkValue(value);
        return run(RequestKind.PUT_IF_ABSENT, key, value, 0, timeoutNs, Conversion::putResult);
    }

    @Override
    public CompletableFuture<PutResult> putIfAbsentAsync(final byte[] key, final byte[] value)
    {
        return putIfAbsentAsync(key, value, clientCalls.defaultTimeoutNs());
    }

    @Override
    public CompletableFuture<PutResult> putIfAbsentAsync(final byte[] key, final byte[] value, final long timeoutNs)
    {
        Arguments.checkValue(value);
        return runAsync(RequestKind.PUT_IF_ABSENT, key, value, 0, timeoutNs, Conversion::putResult);
    }

    @Override
    public long append(final byte[] key, final byte[] suffix)
    {
        return append(key, suffix, clientCalls.defaultTimeoutNs());
    }

    @Override
    public long append(final byte[] key, final byte[] suffix, final long timeoutNs)
    {
        Arguments.checkValue(suffix);
        final SyncCall call = answered(RequestKind.APPEND, key, suffix, 0, timeoutNs);
        final long version = call.version();
        call.forget();
        return version;
    }

    @Override
    public CompletableFuture<Long> appendAsync(final byte[] key, final byte[] suffix, final long timeoutNs)
    {
        Arguments.checkValue(suffix);
        return runAsync(RequestKind.APPEND, key, suffix, 0, timeoutNs, Conversion::version);
    }

    @Override
    public long increment(final byte[] key, final long amount)
    {
        return increment(key, amount, clientCalls.defaultTimeoutNs());
    }

    @Override
    public long increment(final byte[] key, final long amount, final long timeoutNs)
    {
        final SyncCall call = answered(RequestKind.INCREMENT, key, null, amount, timeoutNs);
        final long counter = Conversion.counter(call);
        call.forget();
        return counter;
    }

    @Override
    public CompletableFuture<Long> incrementAsync(final byte[] key, final long amount, final long timeoutNs)
    {
        return runAsync(RequestKind.INCREMENT, key, null, amount, timeoutNs, Conversion::counter);
    }

    @Override
    public List<KvOutcome<Optional<KvEntry>>> getAll(final List<byte[]> keys, final long timeoutNs)
    {
        Arguments.checkKeys(keys);
        return all(RequestKind.GET, keys, null, timeoutNs, Conversion::entry);
    }

    @Override
    public List<KvOutcome<Long>> putAll(
        final List<byte[]> keys, final List<byte[]> values, final long timeoutNs)
    {
        Arguments.checkValues(keys, values);
        return all(RequestKind.PUT, keys, values, timeoutNs, Conversion::version);
    }

    @Override
    public List<KvOutcome<Boolean>> deleteAll(final List<byte[]> keys, final long timeoutNs)
    {
        Arguments.checkKeys(keys);
        return all(RequestKind.DELETE, keys, null, timeoutNs, Conversion::deleted);
    }

    private <T> List<KvOutcome<T>> all(
        final RequestKind kind, final List<byte[]> keys, final List<byte[]> values, final long timeoutNs,
        final Conversion<T> conversion)
    {
        final long deadlineNs = clientCalls.deadlineNs(timeoutNs);
        final AsyncCalls calls = clientCalls.asyncCalls();
        return new Batch(calls.clock(), deadlineNs).run(
            keys.size(),
            (i, executor) -> calls.tryRun(kind, table, keys.get(i), null == values ? null : values.get(i), 0,
                deadlineNs, conversion, executor),
            () -> Verdict.notBegun(kind, table));
    }

    @Override
    public ReplaceResult putIfPresent(final byte[] key, final byte[] value)
    {
        return putIfPresent(key, value, clientCalls.defaultTimeoutNs());
    }

    @Override
    public ReplaceResult putIfPresent(final byte[] key, final byte[] value, final long timeoutNs)
    {
        Arguments.checkValue(value);
        return run(RequestKind.PUT_IF_PRESENT, key, value, 0, timeoutNs, Conversion::replaceResult);
    }

    @Override
    public CompletableFuture<ReplaceResult> putIfPresentAsync(
        final byte[] key, final byte[] value, final long timeoutNs)
    {
        Arguments.checkValue(value);
        return runAsync(RequestKind.PUT_IF_PRESENT, key, value, 0, timeoutNs, Conversion::replaceResult);
    }

    @Override
    public ReplaceResult replace(final byte[] key, final byte[] value, final long expectedVersion)
    {
        return replace(key, value, expectedVersion, clientCalls.defaultTimeoutNs());
    }

    @Override
    public ReplaceResult replace(
        final byte[] key, final byte[] value, final long expectedVersion, final long timeoutNs)
    {
        Arguments.checkValue(value);
        Arguments.checkVersion(expectedVersion);
        return run(RequestKind.REPLACE, key, value, expectedVersion, timeoutNs, Conversion::replaceResult);
    }

    @Override
    public CompletableFuture<ReplaceResult> replaceAsync(
        final byte[] key, final byte[] value, final long expectedVersion)
    {
        return replaceAsync(key, value, expectedVersion, clientCalls.defaultTimeoutNs());
    }

    @Override
    public CompletableFuture<ReplaceResult> replaceAsync(
        final byte[] key, final byte[] value, final long expectedVersion, final long timeoutNs)
    {
        Arguments.checkValue(value);
        Arguments.checkVersion(expectedVersion);
        return runAsync(RequestKind.REPLACE, key, value, expectedVersion, timeoutNs, Conversion::replaceResult);
    }

    @Override
    public boolean delete(final byte[] key)
    {
        return run(RequestKind.DELETE, key, null, 0, clientCalls.defaultTimeoutNs(), Conversion::deleted);
    }

    @Override
    public DeleteResult delete(final byte[] key, final long expectedVersion)
    {
        return delete(key, expectedVersion, clientCalls.defaultTimeoutNs());
    }

    @Override
    public DeleteResult delete(final byte[] key, final long expectedVersion, final long timeoutNs)
    {
        return run(deleteKind(expectedVersion), key, null, expectedVersion, timeoutNs, Conversion::deleteResult);
    }

    @Override
    public CompletableFuture<Boolean> deleteAsync(final byte[] key)
    {
        return runAsync(RequestKind.DELETE, key, null, 0, clientCalls.defaultTimeoutNs(), Conversion::deleted);
    }

    @Override
    public CompletableFuture<DeleteResult> deleteAsync(final byte[] key, final long expectedVersion)
    {
        return deleteAsync(key, expectedVersion, clientCalls.defaultTimeoutNs());
    }

    @Override
    public CompletableFuture<DeleteResult> deleteAsync(
        final byte[] key, final long expectedVersion, final long timeoutNs)
    {
        return runAsync(deleteKind(expectedVersion), key, null, expectedVersion, timeoutNs, Conversion::deleteResult);
    }

    @Override
    public KvScan scan()
    {
        return scan(clientCalls.defaultTimeoutNs());
    }

    @Override
    public KvScan scan(final long timeoutNs)
    {
        return scan(0, timeoutNs);
    }

    @Override
    public KvScan scanFrom(final String cursor)
    {
        return scanFrom(cursor, clientCalls.defaultTimeoutNs());
    }

    @Override
    public KvScan scanFrom(final String cursor, final long timeoutNs)
    {
        return scan(ScanCursor.decode(cursor, table.id()), timeoutNs);
    }

    private KvScan scan(final long from, final long timeoutNs)
    {
        Arguments.checkTimeout(timeoutNs);
        return new RoutedScan(table.id(), from, (position) -> runAsync(
            RequestKind.SCAN, ANY_KEY, null, position, timeoutNs,
            (request) -> new RoutedScan.Page(request.foundValue(), request.version()), DIRECTLY));
    }

    @Override
    public TableStat stat()
    {
        final TableCount count = new TableCount();
        long position = 0;
        while (RecordPage.END != position)
        {
            position = run(RequestKind.COUNT, ANY_KEY, null, position, clientCalls.defaultTimeoutNs(), count::add);
        }
        return count.stat();
    }

    private static RequestKind deleteKind(final long expectedVersion)
    {
        if (ANY_VERSION == expectedVersion)
        {
            return RequestKind.DELETE;
        }
        Arguments.checkVersion(expectedVersion);
        return RequestKind.DELETE_BY_VERSION;
    }

    private <T> T run(
        final RequestKind kind, final byte[] key, final byte[] value, final long expectedVersion,
        final long timeoutNs, final Conversion<T> conversion)
    {
        final SyncCall call = answered(kind, key, value, expectedVersion, timeoutNs);
        final T result = conversion.of(call);
        call.forget();
        return result;
    }

    private SyncCall answered(
        final RequestKind kind, final byte[] key, final byte[] value, final long expectedVersion,
        final long timeoutNs)
    {
        Arguments.checkKey(key);
        final long deadlineNs = clientCalls.deadlineNs(timeoutNs);
        return clientCalls.syncCalls().run(kind, table, key, value, expectedVersion, deadlineNs);
    }

    private <T> CompletableFuture<T> runAsync(
        final RequestKind kind, final byte[] key, final byte[] value, final long expectedVersion,
        final long timeoutNs, final Conversion<T> conversion)
    {
        return runAsync(
            kind, key, value, expectedVersion, timeoutNs, conversion, clientCalls.asyncCalls().completionExecutor());
    }

    private <T> CompletableFuture<T> runAsync(
        final RequestKind kind, final byte[] key, final byte[] value, final long expectedVersion,
        final long timeoutNs, final Conversion<T> conversion, final Executor executor)
    {
        Arguments.checkKey(key);
        final long deadlineNs = clientCalls.deadlineNs(timeoutNs);
        return clientCalls.asyncCalls().run(kind, table, key, value, expectedVersion, deadlineNs, conversion, executor);
    }

    @Override
    public String toString()
    {
        return "KvTable{name=" + table.name() + ", id=" + table.id() + '}';
    }
}
