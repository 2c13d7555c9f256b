package io.verbena.client;

import io.verbena.request.RequestKind;
import io.verbena.request.TableReference;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** A table of a {@link RoutedKvClient}: checks arguments, and says which request each operation is. Thread-safe. */
final class RoutedKvTable implements KvTable
{
    private final RoutedKvClient client;
    private final TableReference table;

    RoutedKvTable(final RoutedKvClient client, final TableReference table)
    {
        this.client = client;
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
        return get(key, client.defaultTimeoutNs());
    }

    @Override
    public Optional<KvEntry> get(final byte[] key, final long timeoutNs)
    {
        return run(RequestKind.GET, key, null, 0, timeoutNs, Conversion::entry);
    }

    @Override
    public CompletableFuture<Optional<KvEntry>> getAsync(final byte[] key)
    {
        return getAsync(key, client.defaultTimeoutNs());
    }

    @Override
    public CompletableFuture<Optional<KvEntry>> getAsync(final byte[] key, final long timeoutNs)
    {
        return runAsync(RequestKind.GET, key, null, 0, timeoutNs, Conversion::entry);
    }

    @Override
    public boolean exists(final byte[] key)
    {
        return exists(key, client.defaultTimeoutNs());
    }

    @Override
    public boolean exists(final byte[] key, final long timeoutNs)
    {
        return run(RequestKind.EXISTS, key, null, 0, timeoutNs, Conversion::found);
    }

    @Override
    public CompletableFuture<Boolean> existsAsync(final byte[] key)
    {
        return existsAsync(key, client.defaultTimeoutNs());
    }

    @Override
    public CompletableFuture<Boolean> existsAsync(final byte[] key, final long timeoutNs)
    {
        return runAsync(RequestKind.EXISTS, key, null, 0, timeoutNs, Conversion::found);
    }

    @Override
    public long put(final byte[] key, final byte[] value)
    {
        return put(key, value, client.defaultTimeoutNs());
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
        return putAsync(key, value, client.defaultTimeoutNs());
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
        return putIfAbsent(key, value, client.defaultTimeoutNs());
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
        return putIfAbsentAsync(key, value, client.defaultTimeoutNs());
    }

    @Override
    public CompletableFuture<PutResult> putIfAbsentAsync(final byte[] key, final byte[] value, final long timeoutNs)
    {
        Arguments.checkValue(value);
        return runAsync(RequestKind.PUT_IF_ABSENT, key, value, 0, timeoutNs, Conversion::putResult);
    }

    @Override
    public ReplaceResult replace(final byte[] key, final byte[] value, final long expectedVersion)
    {
        return replace(key, value, expectedVersion, client.defaultTimeoutNs());
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
        return replaceAsync(key, value, expectedVersion, client.defaultTimeoutNs());
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
        return run(RequestKind.DELETE, key, null, 0, client.defaultTimeoutNs(), Conversion::deleted);
    }

    @Override
    public DeleteResult delete(final byte[] key, final long expectedVersion)
    {
        return delete(key, expectedVersion, client.defaultTimeoutNs());
    }

    @Override
    public DeleteResult delete(final byte[] key, final long expectedVersion, final long timeoutNs)
    {
        return run(deleteKind(expectedVersion), key, null, expectedVersion, timeoutNs, Conversion::deleteResult);
    }

    @Override
    public CompletableFuture<Boolean> deleteAsync(final byte[] key)
    {
        return runAsync(RequestKind.DELETE, key, null, 0, client.defaultTimeoutNs(), Conversion::deleted);
    }

    @Override
    public CompletableFuture<DeleteResult> deleteAsync(final byte[] key, final long expectedVersion)
    {
        return deleteAsync(key, expectedVersion, client.defaultTimeoutNs());
    }

    @Override
    public CompletableFuture<DeleteResult> deleteAsync(
        final byte[] key, final long expectedVersion, final long timeoutNs)
    {
        return runAsync(deleteKind(expectedVersion), key, null, expectedVersion, timeoutNs, Conversion::deleteResult);
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
        final long deadlineNs = client.deadlineNs(timeoutNs);
        return client.syncCalls().run(kind, table, key, value, expectedVersion, deadlineNs);
    }

    private <T> CompletableFuture<T> runAsync(
        final RequestKind kind, final byte[] key, final byte[] value, final long expectedVersion,
        final long timeoutNs, final Conversion<T> conversion)
    {
        Arguments.checkKey(key);
        final long deadlineNs = client.deadlineNs(timeoutNs);
        return client.asyncCalls().run(kind, table, key, value, expectedVersion, deadlineNs, conversion);
    }

    @Override
    public String toString()
    {
        return "KvTable{name=" + table.name() + ", id=" + table.id() + '}';
    }
}
