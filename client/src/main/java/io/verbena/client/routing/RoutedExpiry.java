package io.verbena.client.routing;

import io.verbena.client.ExpiringRecords;
import io.verbena.client.Expiry;
import io.verbena.client.KvInvalidRequestException;
import io.verbena.client.PutResult;
import io.verbena.client.ReplaceResult;
import io.verbena.protocol.request.RequestExpiry;
import io.verbena.protocol.request.RequestKind;
import io.verbena.protocol.request.TableReference;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** What a table of a client does with deadlines of records. Thread-safe. */
abstract class RoutedExpiry implements ExpiringRecords
{
    final TableCalls clientCalls;
    final TableReference table;
    final long timeoutNs;

    RoutedExpiry(final TableCalls clientCalls, final TableReference table, final long timeoutNs)
    {
        this.clientCalls = clientCalls;
        this.table = table;
        this.timeoutNs = timeoutNs;
    }

    @Override
    public final long put(final byte[] key, final byte[] value, final Expiry expiry)
    {
        Arguments.checkValue(value);
        final SyncCall call = answered(RequestKind.PUT, key, value, 0, Arguments.expiry(expiry));
        final long version = call.version(); // not through run(), which would box it
        call.forget();
        return version;
    }

    @Override
    public final CompletableFuture<Long> putAsync(final byte[] key, final byte[] value, final Expiry expiry)
    {
        Arguments.checkValue(value);
        return runAsync(RequestKind.PUT, key, value, 0, Arguments.expiry(expiry), Conversion::version);
    }

    @Override
    public final PutResult putIfAbsent(final byte[] key, final byte[] value, final Expiry expiry)
    {
        Arguments.checkValue(value);
        return run(RequestKind.PUT_IF_ABSENT, key, value, 0, Arguments.expiry(expiry), Conversion::putResult);
    }

    @Override
    public final CompletableFuture<PutResult> putIfAbsentAsync(
        final byte[] key, final byte[] value, final Expiry expiry)
    {
        Arguments.checkValue(value);
        return runAsync(RequestKind.PUT_IF_ABSENT, key, value, 0, Arguments.expiry(expiry), Conversion::putResult);
    }

    @Override
    public final ReplaceResult replace(final byte[] key, final byte[] value, final Expiry expiry)
    {
        Arguments.checkValue(value);
        return run(RequestKind.PUT_IF_PRESENT, key, value, 0, Arguments.expiry(expiry), Conversion::replaceResult);
    }

    @Override
    public final CompletableFuture<ReplaceResult> replaceAsync(
        final byte[] key, final byte[] value, final Expiry expiry)
    {
        Arguments.checkValue(value);
        return runAsync(
            RequestKind.PUT_IF_PRESENT, key, value, 0, Arguments.expiry(expiry), Conversion::replaceResult);
    }

    @Override
    public final ReplaceResult replace(
        final byte[] key, final byte[] value, final long expectedVersion, final Expiry expiry)
    {
        Arguments.checkValue(value);
        Arguments.checkVersion(expectedVersion);
        return run(
            RequestKind.REPLACE, key, value, expectedVersion, Arguments.expiry(expiry), Conversion::replaceResult);
    }

    @Override
    public final CompletableFuture<ReplaceResult> replaceAsync(
        final byte[] key, final byte[] value, final long expectedVersion, final Expiry expiry)
    {
        Arguments.checkValue(value);
        Arguments.checkVersion(expectedVersion);
        return runAsync(
            RequestKind.REPLACE, key, value, expectedVersion, Arguments.expiry(expiry), Conversion::replaceResult);
    }

    @Override
    public final ExpireResult expire(final byte[] key, final Expiry expiry, final Expiry.Condition condition)
    {
        return run(
            RequestKind.EXPIRE, key, null, operand(condition), Arguments.expiry(expiry), Conversion::expireResult);
    }

    @Override
    public final CompletableFuture<ExpireResult> expireAsync(
        final byte[] key, final Expiry expiry, final Expiry.Condition condition)
    {
        return runAsync(
            RequestKind.EXPIRE, key, null, operand(condition), Arguments.expiry(expiry), Conversion::expireResult);
    }

    @Override
    public final boolean persist(final byte[] key)
    {
        return run(
            RequestKind.EXPIRE, key, null, RequestExpiry.IF_SOME, RequestExpiry.NONE, Conversion::stored);
    }

    @Override
    public final CompletableFuture<Boolean> persistAsync(final byte[] key)
    {
        return runAsync(
            RequestKind.EXPIRE, key, null, RequestExpiry.IF_SOME, RequestExpiry.NONE, Conversion::stored);
    }

    @Override
    public final Optional<Expiry.TimeToLive> timeToLive(final byte[] key)
    {
        return run(RequestKind.EXISTS, key, null, 0, RequestExpiry.NONE, Conversion::timeToLive);
    }

    @Override
    public final CompletableFuture<Optional<Expiry.TimeToLive>> timeToLiveAsync(final byte[] key)
    {
        return runAsync(RequestKind.EXISTS, key, null, 0, RequestExpiry.NONE, Conversion::timeToLive);
    }

    private static long operand(final Expiry.Condition condition)
    {
        return switch (condition)
        {
            case null -> throw new KvInvalidRequestException("condition is null; for none, Expiry.Condition.ALWAYS");
            case ALWAYS -> RequestExpiry.ALWAYS;
            case IF_NONE -> RequestExpiry.IF_NONE;
            case IF_SOME -> RequestExpiry.IF_SOME;
            case IF_LATER -> RequestExpiry.IF_LATER;
            case IF_EARLIER -> RequestExpiry.IF_EARLIER;
        };
    }

    private <T> T run(
        final RequestKind kind, final byte[] key, final byte[] value, final long operand, final long expiry,
        final Conversion<T> conversion)
    {
        final SyncCall call = answered(kind, key, value, operand, expiry);
        final T result = conversion.of(call);
        call.forget();
        return result;
    }

    private SyncCall answered(
        final RequestKind kind, final byte[] key, final byte[] value, final long operand, final long expiry)
    {
        Arguments.checkKey(key);
        return clientCalls.syncCalls().run(
            kind, table, key, value, operand, expiry, clientCalls.clock().nanoTime() + timeoutNs);
    }

    private <T> CompletableFuture<T> runAsync(
        final RequestKind kind, final byte[] key, final byte[] value, final long operand, final long expiry,
        final Conversion<T> conversion)
    {
        Arguments.checkKey(key);
        final AsyncCalls calls = clientCalls.asyncCalls();
        return calls.run(kind, table, key, value, operand, expiry,
            clientCalls.clock().nanoTime() + timeoutNs, conversion, calls.completionExecutor());
    }
}
