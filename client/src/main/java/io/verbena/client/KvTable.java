package io.verbena.client;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * A named table of records: byte strings under byte string keys. Thread-safe. All handles of one table, in any client,
 * see the same records.
 *
 * <h2>Guarantees</h2>
 * <ul>
 * <li><b>Linearizable per key.</b> Each operation that returns takes effect at one instant between its call and its
 * return; operations on one key, by whatever client and through whatever compute node, are ordered by these instants.
 * Nothing is said about the order of operations on different keys other than what one thread does one after the other.
 * <li><b>Versions.</b> Each successful write gives the record a version: positive, and unique for this key for ever,
 * also across a delete. While a record is not deleted its version only grows. Across a delete, versions grow only as
 * far as the clocks of the compute nodes agree; compare versions of two lives of a key for equality only.
 * <li><b>Deadlines.</b> Each call ends by its deadline, {@link #timeout()} after its begin: the client's default, or
 * that of a handle from {@link #withTimeout(Duration)}. A node may take up to 5 ms longer to report the outcome.
 * {@link KvTimeoutException} means <em>not applied, and will not be</em>: repeat at will.
 * {@link KvOutcomeUnknownException}, only thrown by operations that write, means that the operation may have been
 * applied, may be applied up to shortly after the call (as the last steps of a compute node that is still at work),
 * or never: read before you repeat. Any other exception means not applied. An interrupt does not end a call early; the
 * interrupt status is kept.
 * <li><b>Compute nodes that come and go</b> are not seen: an operation that a leaving or dead node had not begun is
 * moved to another one; one that it had begun is finished by a node that leaves in order, and has an unknown outcome
 * when the node died (a read is repeated elsewhere).
 * </ul>
 *
 * <h2>Arguments</h2>
 * A key has 1 to {@link KvLimits#MAX_KEY_BYTES} bytes, a value 0 to {@link KvLimits#MAX_VALUE_BYTES}; otherwise
 * {@link KvInvalidRequestException}, before anything is sent. Arrays belong to the caller, who must not change them
 * before the call returns or its future is complete. Arrays that are returned belong to the caller and are not shared.
 *
 * <p>{@link KvTypedTable} is a table of text, numbers, {@link java.nio.ByteBuffer}s, or types of the application.
 *
 * <p>Every operation may throw, besides what it names: {@link KvInvalidRequestException}, {@link KvTimeoutException},
 * {@link KvUnavailableException} (no compute node, or a memory node cannot be reached), {@link KvNoSuchTableException}
 * (dropped meanwhile), {@link KvClosedException}.
 *
 * <h2>Asynchronous forms</h2>
 * Each operation {@code x} has a form {@code xAsync}, with the result in a future, which completes exceptionally with
 * the same exceptions (as the direct cause); arguments are checked, and a closed client refused, by an exception from
 * the call itself. The future is completed by the client's completion executor, see
 * {@link KvClientOptions#completionExecutor(Executor)}: by default on a thread of its own, so that what depends on it
 * may block and delays no other operation. Cancelling it, or completing it, does not stop the operation and affects
 * nobody else. The number in flight is limited by {@link KvClientOptions#maxAsyncInFlight()}.
 */
public interface KvTable extends ExpiringRecords
{
    /** {@return name it was found by} */
    String name();

    /** {@return how long an operation through this handle may take} */
    Duration timeout();

    /**
     * Makes another handle of this table, whose operations have another deadline. It costs one small object, and no
     * message; this handle stays as it is.
     *
     * @param timeout from the begin of each call to its deadline, 1 ns or more; cut to 30 days.
     * @return a handle of the same table.
     * @throws KvInvalidRequestException when the timeout is null, 0 or negative.
     */
    KvTable withTimeout(Duration timeout);

    /**
     * Makes a view of this table with keys and values of some type.
     *
     * @param keys   turns keys into bytes and back.
     * @param values turns values into bytes and back.
     * @param <K>    type of the keys.
     * @param <V>    type of the values.
     * @return the same records, with this handle's deadline.
     */
    default <K, V> KvTypedTable<K, V> as(final KvCodec<K> keys, final KvCodec<V> values)
    {
        return new KvTypedTable<>(this, keys, values);
    }

    /**
     * Reads a record.
     *
     * @param key to read.
     * @return value and version, or empty when there is no such record.
     */
    Optional<KvEntry> get(byte[] key);

    /**
     * As {@link #get(byte[])}, with the result in a future.
     *
     * @param key to read.
     * @return future of value and version, or empty when there is no such record.
     */
    CompletableFuture<Optional<KvEntry>> getAsync(byte[] key);

    /**
     * Looks a record up, without its value.
     *
     * @param key to look up.
     * @return true if there is one.
     */
    boolean exists(byte[] key);

    /**
     * As {@link #exists(byte[])}, with the result in a future.
     *
     * @param key to look up.
     * @return future of true if there is one.
     */
    CompletableFuture<Boolean> existsAsync(byte[] key);

    /**
     * Writes a record, whether there was one or not.
     *
     * @param key   to write.
     * @param value its new value.
     * @return its new version.
     * @throws KvOutcomeUnknownException when it may have been applied.
     * @throws KvTableFullException      when the table has no room for one more key there.
     * @throws KvOutOfMemoryException    when the memory nodes have no room for the value.
     */
    long put(byte[] key, byte[] value);

    /**
     * As {@link #put(byte[], byte[])}, with the result in a future.
     *
     * @param key   to write.
     * @param value its new value.
     * @return future of its new version.
     */
    CompletableFuture<Long> putAsync(byte[] key, byte[] value);

    /**
     * Writes a record if there is none; of several callers at once exactly one has stored.
     *
     * @param key   to write.
     * @param value its value.
     * @return whether it was stored.
     * @throws KvOutcomeUnknownException when it may have been applied.
     * @throws KvTableFullException      when the table has no room for one more key there.
     * @throws KvOutOfMemoryException    when the memory nodes have no room for the value.
     */
    PutResult putIfAbsent(byte[] key, byte[] value);

    /**
     * As {@link #putIfAbsent(byte[], byte[])}, with the result in a future.
     *
     * @param key   to write.
     * @param value its value.
     * @return future of whether it was stored.
     */
    CompletableFuture<PutResult> putIfAbsentAsync(byte[] key, byte[] value);

    /**
     * Writes a record if there is one, whatever its version.
     *
     * @param key   to write.
     * @param value its new value.
     * @return what happened; never a version mismatch.
     * @throws KvOutcomeUnknownException when it may have been applied.
     * @throws KvOutOfMemoryException    when the memory nodes have no room for the value.
     */
    ReplaceResult replace(byte[] key, byte[] value);

    /**
     * As {@link #replace(byte[], byte[])}, with the result in a future.
     *
     * @param key   to write.
     * @param value its new value.
     * @return future of what happened; never a version mismatch.
     */
    CompletableFuture<ReplaceResult> replaceAsync(byte[] key, byte[] value);

    /**
     * Writes a record if its version is the expected one.
     *
     * @param key             to write.
     * @param value           its new value.
     * @param expectedVersion as {@link KvEntry#version()} or a write returned it.
     * @return what happened.
     * @throws KvOutcomeUnknownException when it may have been applied.
     * @throws KvOutOfMemoryException    when the memory nodes have no room for the value.
     */
    ReplaceResult replace(byte[] key, byte[] value, long expectedVersion);

    /**
     * As {@link #replace(byte[], byte[], long)}, with the result in a future.
     *
     * @param key             to write.
     * @param value           its new value.
     * @param expectedVersion as {@link KvEntry#version()} or a write returned it.
     * @return future of what happened.
     */
    CompletableFuture<ReplaceResult> replaceAsync(byte[] key, byte[] value, long expectedVersion);

    /**
     * Puts bytes behind the value there is, or writes them alone if there is no record.
     *
     * @param key    to write.
     * @param suffix what to append.
     * @return its new version.
     * @throws KvOutcomeUnknownException when it may have been applied.
     * @throws KvValueTooLongException   when the value would have more than {@link KvLimits#MAX_VALUE_BYTES} bytes.
     * @throws KvTableFullException      when the table has no room for one more key there.
     * @throws KvOutOfMemoryException    when the memory nodes have no room for the value.
     */
    long append(byte[] key, byte[] suffix);

    /**
     * As {@link #append(byte[], byte[])}, with the result in a future.
     *
     * @param key    to write.
     * @param suffix what to append.
     * @return future of its new version.
     */
    CompletableFuture<Long> appendAsync(byte[] key, byte[] suffix);

    /**
     * Adds to a counter: a record whose value is a number of 64 bits, of exactly 8 bytes, little-endian, two's
     * complement, or of decimal digits without a plus or a zero in front, as clients of Redis write them. The sum has
     * the form of the number before; if there is no record, it counts as 0, and the sum has 8 bytes.
     *
     * @param key    of the counter.
     * @param amount what to add; may be negative.
     * @return the counter's new value.
     * @throws KvOutcomeUnknownException  when it may have been applied.
     * @throws KvNotACounterException     when the value there is no such number.
     * @throws KvCounterOverflowException when the sum does not fit 64 bits; a counter does not wrap.
     * @throws KvTableFullException       when the table has no room for one more key there.
     * @throws KvOutOfMemoryException     when the memory nodes have no room for the value.
     */
    long increment(byte[] key, long amount);

    /**
     * As {@link #increment(byte[], long)}, with the result in a future.
     *
     * @param key    of the counter.
     * @param amount what to add; may be negative.
     * @return future of the counter's new value.
     */
    CompletableFuture<Long> incrementAsync(byte[] key, long amount);

    /**
     * Deletes a record, whatever its version.
     *
     * @param key to delete.
     * @return true if this call deleted it, false if there was none.
     * @throws KvOutcomeUnknownException when it may have been applied.
     */
    boolean delete(byte[] key);

    /**
     * As {@link #delete(byte[])}, with the result in a future.
     *
     * @param key to delete.
     * @return future of true if this call deleted it, false if there was none.
     */
    CompletableFuture<Boolean> deleteAsync(byte[] key);

    /**
     * Deletes a record if its version is the expected one.
     *
     * @param key             to delete.
     * @param expectedVersion as {@link KvEntry#version()} or a write returned it.
     * @return what happened.
     * @throws KvOutcomeUnknownException when it may have been applied.
     */
    DeleteResult delete(byte[] key, long expectedVersion);

    /**
     * As {@link #delete(byte[], long)}, with the result in a future.
     *
     * @param key             to delete.
     * @param expectedVersion as {@link KvEntry#version()} or a write returned it.
     * @return future of what happened.
     */
    CompletableFuture<DeleteResult> deleteAsync(byte[] key, long expectedVersion);

    /**
     * Reads many records at once: up to 512 are under way together, and those of one memory node share doorbells. Each
     * is read at an instant of its own within the call. The call begins further ones as earlier ones end, and waits for
     * room where {@link KvClientOptions#maxAsyncInFlight()} is reached, so any number of keys may be given. The
     * deadline is that of the whole call: what could not be begun before it fails with {@link KvTimeoutException};
     * after {@link KvClient#close()}, with {@link KvClosedException}.
     *
     * @param keys to read, any number; may repeat.
     * @return for each key, in this order, what {@link #get(byte[])} would have returned or thrown.
     */
    List<KvOutcome<Optional<KvEntry>>> getAll(List<byte[]> keys);

    /**
     * As {@link #getAll(List)}, with the result in a future.
     *
     * @param keys to read, any number; may repeat.
     * @return future of for each key, in this order, what {@link #get(byte[])} would have returned or thrown.
     */
    CompletableFuture<List<KvOutcome<Optional<KvEntry>>>> getAllAsync(List<byte[]> keys);

    /**
     * Writes many records at once, as {@link #getAll} reads them. Nothing is atomic over several keys; if a key
     * repeats, any of its values may be the last.
     *
     * @param keys   to write, any number.
     * @param values as many, in the same order.
     * @return for each key, in this order, what {@link #put(byte[], byte[])} would have returned or thrown.
     */
    List<KvOutcome<Long>> putAll(List<byte[]> keys, List<byte[]> values);

    /**
     * As {@link #putAll(List, List)}, with the result in a future.
     *
     * @param keys   to write, any number.
     * @param values as many, in the same order.
     * @return future of for each key, in this order, what {@link #put(byte[], byte[])} would have returned or thrown.
     */
    CompletableFuture<List<KvOutcome<Long>>> putAllAsync(List<byte[]> keys, List<byte[]> values);

    /**
     * Deletes many records at once, as {@link #getAll} reads them.
     *
     * @param keys to delete, any number.
     * @return for each key, in this order, what {@link #delete(byte[])} would have returned or thrown.
     */
    List<KvOutcome<Boolean>> deleteAll(List<byte[]> keys);

    /**
     * As {@link #deleteAll(List)}, with the result in a future.
     *
     * @param keys to delete, any number.
     * @return future of for each key, in this order, what {@link #delete(byte[])} would have returned or thrown.
     */
    CompletableFuture<List<KvOutcome<Boolean>>> deleteAllAsync(List<byte[]> keys);

    /**
     * A scan of all records, to be used in a {@code for} statement. Nothing is sent before it is iterated over.
     *
     * @return the scan, which needs no closing; see there for what it returns while others write.
     */
    KvScan scan();

    /**
     * A scan of the records that another scan of this table has left.
     *
     * @param cursor of that scan, see {@link KvScan.Records#cursor()}.
     * @return the rest of that scan.
     * @throws KvInvalidRequestException when it is no cursor, or one of another table.
     */
    KvScan scanFrom(String cursor);

    /**
     * Counts what is in the table, by reading its slots and no record, in several steps of which each has a deadline of
     * its own.
     *
     * @return the sums.
     */
    TableStat stat();

    /**
     * As {@link #stat()}, with the result in a future.
     *
     * @return future of the sums.
     */
    CompletableFuture<TableStat> statAsync();
}
