package io.verbena.client;

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
 * <li><b>Deadlines.</b> Each call has one ({@code timeoutNs} from the call, or the client's default) and does not
 * outlast it, except by up to 5 ms in which a node may still say what became of the operation.
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
 * <p>Every operation may throw, besides what it names: {@link KvInvalidRequestException}, {@link KvTimeoutException},
 * {@link KvUnavailableException} (no compute node, or a memory node cannot be reached), {@link KvNoSuchTableException}
 * (dropped meanwhile), {@link KvClosedException}.
 *
 * <h2>Asynchronous forms</h2>
 * {@code xAsync} is {@code x} with the result in a future, which completes exceptionally with the same exceptions (as
 * the direct cause); arguments are checked, and a closed client refused, by an exception from the call itself. The
 * future is completed by the client's completion executor, see {@link KvClientOptions#completionExecutor(Executor)}: by
 * default on a thread of its own, so that what depends on it may block and delays no other operation. Cancelling it
 * does not stop the operation. The number in flight is limited by {@link KvClientOptions#maxAsyncInFlight()}.
 */
public interface KvTable
{
    /** {@return name it was found by} */
    String name();

    /**
     * Reads a record.
     *
     * @param key to read.
     * @return value and version, or empty when there is no such record.
     */
    Optional<KvEntry> get(byte[] key);

    /**
     * As {@link #get(byte[])}.
     *
     * @param key       to read.
     * @param timeoutNs until the deadline, 1 or more.
     * @return value and version, or empty when there is no such record.
     */
    Optional<KvEntry> get(byte[] key, long timeoutNs);

    /**
     * As {@link #get(byte[])}, later.
     *
     * @param key to read.
     * @return future of value and version, or empty when there is no such record.
     */
    CompletableFuture<Optional<KvEntry>> getAsync(byte[] key);

    /**
     * As {@link #get(byte[], long)}, later.
     *
     * @param key       to read.
     * @param timeoutNs until the deadline, 1 or more.
     * @return future of value and version, or empty when there is no such record.
     */
    CompletableFuture<Optional<KvEntry>> getAsync(byte[] key, long timeoutNs);

    /**
     * Tells whether a record exists, without its value.
     *
     * @param key to look up.
     * @return true if there is one.
     */
    boolean exists(byte[] key);

    /**
     * As {@link #exists(byte[])}.
     *
     * @param key       to look up.
     * @param timeoutNs until the deadline, 1 or more.
     * @return true if there is one.
     */
    boolean exists(byte[] key, long timeoutNs);

    /**
     * As {@link #exists(byte[])}, later.
     *
     * @param key to look up.
     * @return future of true if there is one.
     */
    CompletableFuture<Boolean> existsAsync(byte[] key);

    /**
     * As {@link #exists(byte[], long)}, later.
     *
     * @param key       to look up.
     * @param timeoutNs until the deadline, 1 or more.
     * @return future of true if there is one.
     */
    CompletableFuture<Boolean> existsAsync(byte[] key, long timeoutNs);

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
     * As {@link #put(byte[], byte[])}.
     *
     * @param key       to write.
     * @param value     its new value.
     * @param timeoutNs until the deadline, 1 or more.
     * @return its new version.
     */
    long put(byte[] key, byte[] value, long timeoutNs);

    /**
     * As {@link #put(byte[], byte[])}, later.
     *
     * @param key   to write.
     * @param value its new value.
     * @return future of its new version.
     */
    CompletableFuture<Long> putAsync(byte[] key, byte[] value);

    /**
     * As {@link #put(byte[], byte[], long)}, later.
     *
     * @param key       to write.
     * @param value     its new value.
     * @param timeoutNs until the deadline, 1 or more.
     * @return future of its new version.
     */
    CompletableFuture<Long> putAsync(byte[] key, byte[] value, long timeoutNs);

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
     * As {@link #putIfAbsent(byte[], byte[])}.
     *
     * @param key       to write.
     * @param value     its value.
     * @param timeoutNs until the deadline, 1 or more.
     * @return whether it was stored.
     */
    PutResult putIfAbsent(byte[] key, byte[] value, long timeoutNs);

    /**
     * As {@link #putIfAbsent(byte[], byte[])}, later.
     *
     * @param key   to write.
     * @param value its value.
     * @return future of whether it was stored.
     */
    CompletableFuture<PutResult> putIfAbsentAsync(byte[] key, byte[] value);

    /**
     * As {@link #putIfAbsent(byte[], byte[], long)}, later.
     *
     * @param key       to write.
     * @param value     its value.
     * @param timeoutNs until the deadline, 1 or more.
     * @return future of whether it was stored.
     */
    CompletableFuture<PutResult> putIfAbsentAsync(byte[] key, byte[] value, long timeoutNs);

    /**
     * Writes a record if there is one, whatever its version.
     *
     * @param key   to write.
     * @param value its new value.
     * @return what happened; never a version mismatch.
     * @throws KvOutcomeUnknownException when it may have been applied.
     * @throws KvOutOfMemoryException    when the memory nodes have no room for the value.
     */
    ReplaceResult putIfPresent(byte[] key, byte[] value);

    /**
     * As {@link #putIfPresent(byte[], byte[])}.
     *
     * @param key       to write.
     * @param value     its new value.
     * @param timeoutNs until the deadline, 1 or more.
     * @return what happened; never a version mismatch.
     */
    ReplaceResult putIfPresent(byte[] key, byte[] value, long timeoutNs);

    /**
     * As {@link #putIfPresent(byte[], byte[], long)}, later.
     *
     * @param key       to write.
     * @param value     its new value.
     * @param timeoutNs until the deadline, 1 or more.
     * @return future of what happened.
     */
    CompletableFuture<ReplaceResult> putIfPresentAsync(byte[] key, byte[] value, long timeoutNs);

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
     * As {@link #append(byte[], byte[])}.
     *
     * @param key       to write.
     * @param suffix    what to append.
     * @param timeoutNs until the deadline, 1 or more.
     * @return its new version.
     */
    long append(byte[] key, byte[] suffix, long timeoutNs);

    /**
     * As {@link #append(byte[], byte[], long)}, later.
     *
     * @param key       to write.
     * @param suffix    what to append.
     * @param timeoutNs until the deadline, 1 or more.
     * @return future of its new version.
     */
    CompletableFuture<Long> appendAsync(byte[] key, byte[] suffix, long timeoutNs);

    /**
     * Adds to a counter. A counter is a record whose value has exactly 8 bytes, a little-endian two's complement
     * number; it can be read and written as any other record. If there is no record, it counts as 0.
     *
     * @param key    of the counter.
     * @param amount what to add; may be negative.
     * @return the counter's new value.
     * @throws KvOutcomeUnknownException  when it may have been applied.
     * @throws KvNotACounterException     when the value there has not 8 bytes.
     * @throws KvCounterOverflowException when the sum does not fit 64 bits; a counter does not wrap.
     * @throws KvTableFullException       when the table has no room for one more key there.
     * @throws KvOutOfMemoryException     when the memory nodes have no room for the value.
     */
    long increment(byte[] key, long amount);

    /**
     * As {@link #increment(byte[], long)}.
     *
     * @param key       of the counter.
     * @param amount    what to add; may be negative.
     * @param timeoutNs until the deadline, 1 or more.
     * @return the counter's new value.
     */
    long increment(byte[] key, long amount, long timeoutNs);

    /**
     * As {@link #increment(byte[], long, long)}, later.
     *
     * @param key       of the counter.
     * @param amount    what to add; may be negative.
     * @param timeoutNs until the deadline, 1 or more.
     * @return future of the counter's new value.
     */
    CompletableFuture<Long> incrementAsync(byte[] key, long amount, long timeoutNs);

    /**
     * Reads many records at once: up to 512 are under way together, and those of one memory node share doorbells. Each
     * is read at an instant of its own within the call. The call begins further ones as earlier ones end, and waits for
     * room where {@link KvClientOptions#maxAsyncInFlight()} is reached, so any number of keys may be given. What could
     * not be begun before the deadline fails with {@link KvTimeoutException}; after {@link KvClient#close()}, with
     * {@link KvClosedException}.
     *
     * @param keys      to read, any number; may repeat.
     * @param timeoutNs until the deadline of the whole call, 1 or more.
     * @return for each key, in this order, what {@link #get(byte[], long)} would have returned or thrown.
     */
    List<KvOutcome<Optional<KvEntry>>> getAll(List<byte[]> keys, long timeoutNs);

    /**
     * Writes many records at once, as {@link #getAll} reads them. Nothing is atomic over several keys; if a key
     * repeats, any of its values may be the last.
     *
     * @param keys      to write, any number.
     * @param values    as many, in the same order.
     * @param timeoutNs until the deadline of the whole call, 1 or more.
     * @return for each key, in this order, what {@link #put(byte[], byte[], long)} would have returned or thrown.
     */
    List<KvOutcome<Long>> putAll(List<byte[]> keys, List<byte[]> values, long timeoutNs);

    /**
     * Deletes many records at once, as {@link #getAll} reads them.
     *
     * @param keys      to delete, any number.
     * @param timeoutNs until the deadline of the whole call, 1 or more.
     * @return for each key, in this order, what {@link #delete(byte[])} would have returned or thrown.
     */
    List<KvOutcome<Boolean>> deleteAll(List<byte[]> keys, long timeoutNs);

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
     * As {@link #replace(byte[], byte[], long)}.
     *
     * @param key             to write.
     * @param value           its new value.
     * @param expectedVersion as {@link KvEntry#version()} or a write returned it.
     * @param timeoutNs       until the deadline, 1 or more.
     * @return what happened.
     */
    ReplaceResult replace(byte[] key, byte[] value, long expectedVersion, long timeoutNs);

    /**
     * As {@link #replace(byte[], byte[], long)}, later.
     *
     * @param key             to write.
     * @param value           its new value.
     * @param expectedVersion as {@link KvEntry#version()} or a write returned it.
     * @return future of what happened.
     */
    CompletableFuture<ReplaceResult> replaceAsync(byte[] key, byte[] value, long expectedVersion);

    /**
     * As {@link #replace(byte[], byte[], long, long)}, later.
     *
     * @param key             to write.
     * @param value           its new value.
     * @param expectedVersion as {@link KvEntry#version()} or a write returned it.
     * @param timeoutNs       until the deadline, 1 or more.
     * @return future of what happened.
     */
    CompletableFuture<ReplaceResult> replaceAsync(byte[] key, byte[] value, long expectedVersion, long timeoutNs);

    /**
     * Deletes a record, whatever its version.
     *
     * @param key to delete.
     * @return true if this call deleted it, false if there was none.
     * @throws KvOutcomeUnknownException when it may have been applied.
     */
    boolean delete(byte[] key);

    /**
     * Deletes a record if its version is the expected one. (A deadline of its own: {@link #delete(byte[], long, long)}
     * with {@link #ANY_VERSION}.)
     *
     * @param key             to delete.
     * @param expectedVersion as {@link KvEntry#version()} or a write returned it, or {@link #ANY_VERSION}.
     * @return what happened.
     * @throws KvOutcomeUnknownException when it may have been applied.
     */
    DeleteResult delete(byte[] key, long expectedVersion);

    /**
     * As {@link #delete(byte[], long)}.
     *
     * @param key             to delete.
     * @param expectedVersion as {@link KvEntry#version()} or a write returned it, or {@link #ANY_VERSION}.
     * @param timeoutNs       until the deadline, 1 or more.
     * @return what happened.
     */
    DeleteResult delete(byte[] key, long expectedVersion, long timeoutNs);

    /**
     * As {@link #delete(byte[])}, later.
     *
     * @param key to delete.
     * @return future of true if this call deleted it.
     */
    CompletableFuture<Boolean> deleteAsync(byte[] key);

    /**
     * As {@link #delete(byte[], long)}, later.
     *
     * @param key             to delete.
     * @param expectedVersion as {@link KvEntry#version()} or a write returned it, or {@link #ANY_VERSION}.
     * @return future of what happened.
     */
    CompletableFuture<DeleteResult> deleteAsync(byte[] key, long expectedVersion);

    /**
     * As {@link #delete(byte[], long, long)}, later.
     *
     * @param key             to delete.
     * @param expectedVersion as {@link KvEntry#version()} or a write returned it, or {@link #ANY_VERSION}.
     * @param timeoutNs       until the deadline, 1 or more.
     * @return future of what happened.
     */
    CompletableFuture<DeleteResult> deleteAsync(byte[] key, long expectedVersion, long timeoutNs);

    /** Stands for "whatever its version"; never a version of a record. */
    long ANY_VERSION = 0;

    /**
     * Scans all records, each page with the client's default timeout.
     *
     * @return the scan; see there for what it returns while others write.
     */
    KvScan scan();

    /**
     * Scans all records.
     *
     * @param timeoutNs of each page, 1 or more.
     * @return the scan; see there for what it returns while others write.
     */
    KvScan scan(long timeoutNs);

    /**
     * Goes on with a scan of all records, each page with the client's default timeout.
     *
     * @param cursor of another scan of this table, see {@link KvScan#cursor()}.
     * @return the rest of that scan.
     * @throws KvInvalidRequestException when it is no cursor, or one of another table.
     */
    KvScan scanFrom(String cursor);

    /**
     * Goes on with a scan of all records.
     *
     * @param cursor    of another scan of this table, see {@link KvScan#cursor()}.
     * @param timeoutNs of each page, 1 or more.
     * @return the rest of that scan.
     * @throws KvInvalidRequestException when it is no cursor, or one of another table.
     */
    KvScan scanFrom(String cursor, long timeoutNs);

    /**
     * Counts what is in the table, by reading its slots and no record.
     *
     * @return the sums.
     * @throws KvException as for a read.
     */
    TableStat stat();
}
