package io.verbena.client;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * A table whose keys and values are of some type, text for example:
 *
 * <pre>{@code
 * KvTypedTable<String, String> table = client.table("users").as(KvCodec.UTF_8, KvCodec.UTF_8);
 * table.put("ada", "Lovelace");
 * }</pre>
 *
 * <p>Guarantees, deadlines and exceptions are those of {@link KvTable}, on which each method calls the one of the same
 * name. A read of bytes that are none of the type's fails with {@link KvInvalidRequestException}. Thread-safe; needs no
 * closing.
 *
 * @param <K> type of the keys.
 * @param <V> type of the values.
 */
public final class KvTypedTable<K, V>
{
    /**
     * A value as a read found it.
     *
     * @param value   of the record.
     * @param version of the write that made it, positive, unique for its key.
     * @param <V>     type of the value.
     */
    public record Entry<V>(V value, long version)
    {
    }

    private final KvTable table;
    private final KvCodec<K> keys;
    private final KvCodec<V> values;

    /**
     * As {@link KvTable#as(KvCodec, KvCodec)}.
     *
     * @param table  of bytes.
     * @param keys   of the table.
     * @param values of the table.
     */
    KvTypedTable(final KvTable table, final KvCodec<K> keys, final KvCodec<V> values)
    {
        this.table = table;
        this.keys = Objects.requireNonNull(keys);
        this.values = Objects.requireNonNull(values);
    }

    /** {@return the same table as bytes} */
    public KvTable bytes()
    {
        return table;
    }

    /**
     * As {@link KvTable#withTimeout(Duration)}.
     *
     * @param timeout from the begin of each call to its deadline.
     * @return a handle of the same table.
     */
    public KvTypedTable<K, V> withTimeout(final Duration timeout)
    {
        return new KvTypedTable<>(table.withTimeout(timeout), keys, values);
    }

    /**
     * Reads a value.
     *
     * @param key of the record.
     * @return the value, or empty when there is no such record.
     */
    public Optional<V> get(final K key)
    {
        return table.get(keys.encode(key)).map(this::value);
    }

    /**
     * As {@code get}, with the result in a future.
     *
     * @param key of the record.
     * @return future of the value, or empty when there is no such record.
     */
    public CompletableFuture<Optional<V>> getAsync(final K key)
    {
        return converted(table.getAsync(keys.encode(key)), (found) -> found.map(this::value));
    }

    /**
     * Reads a value with its version.
     *
     * @param key of the record.
     * @return value and version, or empty when there is no such record.
     */
    public Optional<Entry<V>> getEntry(final K key)
    {
        return table.get(keys.encode(key)).map(this::entry);
    }

    /**
     * As {@code getEntry}, with the result in a future.
     *
     * @param key of the record.
     * @return future of value and version, or empty when there is no such record.
     */
    public CompletableFuture<Optional<Entry<V>>> getEntryAsync(final K key)
    {
        return converted(table.getAsync(keys.encode(key)), (found) -> found.map(this::entry));
    }

    /**
     * Looks a record up, without its value.
     *
     * @param key of the record.
     * @return true if there is one.
     */
    public boolean exists(final K key)
    {
        return table.exists(keys.encode(key));
    }

    /**
     * As {@code exists}, with the result in a future.
     *
     * @param key of the record.
     * @return future of true if there is one.
     */
    public CompletableFuture<Boolean> existsAsync(final K key)
    {
        return table.existsAsync(keys.encode(key));
    }

    /**
     * Writes a record, whether there was one or not.
     *
     * @param key   of the record.
     * @param value to write.
     * @return its new version.
     */
    public long put(final K key, final V value)
    {
        return table.put(keys.encode(key), values.encode(value));
    }

    /**
     * As {@code put}, with the result in a future.
     *
     * @param key   of the record.
     * @param value to write.
     * @return future of its new version.
     */
    public CompletableFuture<Long> putAsync(final K key, final V value)
    {
        return table.putAsync(keys.encode(key), values.encode(value));
    }

    /**
     * Writes a record if there is none.
     *
     * @param key   of the record.
     * @param value to write.
     * @return whether it was stored.
     */
    public PutResult putIfAbsent(final K key, final V value)
    {
        return table.putIfAbsent(keys.encode(key), values.encode(value));
    }

    /**
     * As {@code putIfAbsent}, with the result in a future.
     *
     * @param key   of the record.
     * @param value to write.
     * @return future of whether it was stored.
     */
    public CompletableFuture<PutResult> putIfAbsentAsync(final K key, final V value)
    {
        return table.putIfAbsentAsync(keys.encode(key), values.encode(value));
    }

    /**
     * Writes a record if there is one.
     *
     * @param key   of the record.
     * @param value to write.
     * @return what happened.
     */
    public ReplaceResult replace(final K key, final V value)
    {
        return table.replace(keys.encode(key), values.encode(value));
    }

    /**
     * As {@code replace}, with the result in a future.
     *
     * @param key   of the record.
     * @param value to write.
     * @return future of what happened.
     */
    public CompletableFuture<ReplaceResult> replaceAsync(final K key, final V value)
    {
        return table.replaceAsync(keys.encode(key), values.encode(value));
    }

    /**
     * Writes a record if its version is the expected one.
     *
     * @param key             of the record.
     * @param value           to write.
     * @param expectedVersion that the record must have.
     * @return what happened.
     */
    public ReplaceResult replace(final K key, final V value, final long expectedVersion)
    {
        return table.replace(keys.encode(key), values.encode(value), expectedVersion);
    }

    /**
     * As {@code replace}, with the result in a future.
     *
     * @param key             of the record.
     * @param value           to write.
     * @param expectedVersion that the record must have.
     * @return future of what happened.
     */
    public CompletableFuture<ReplaceResult> replaceAsync(final K key, final V value, final long expectedVersion)
    {
        return table.replaceAsync(keys.encode(key), values.encode(value), expectedVersion);
    }

    /**
     * Puts bytes behind the value there is, or writes them alone if there is no record.
     *
     * @param key    of the record.
     * @param suffix what to append.
     * @return its new version.
     */
    public long append(final K key, final V suffix)
    {
        return table.append(keys.encode(key), values.encode(suffix));
    }

    /**
     * As {@code append}, with the result in a future.
     *
     * @param key    of the record.
     * @param suffix what to append.
     * @return future of its new version.
     */
    public CompletableFuture<Long> appendAsync(final K key, final V suffix)
    {
        return table.appendAsync(keys.encode(key), values.encode(suffix));
    }

    /**
     * Adds to a counter, see {@link KvTable#increment(byte[], long)}; a new one has a value of {@link KvCodec#LONG}.
     *
     * @param key    of the record.
     * @param amount what to add; may be negative.
     * @return the counter's new value.
     */
    public long increment(final K key, final long amount)
    {
        return table.increment(keys.encode(key), amount);
    }

    /**
     * As {@code increment}, with the result in a future.
     *
     * @param key    of the record.
     * @param amount what to add; may be negative.
     * @return future of the counter's new value.
     */
    public CompletableFuture<Long> incrementAsync(final K key, final long amount)
    {
        return table.incrementAsync(keys.encode(key), amount);
    }

    /**
     * Deletes a record.
     *
     * @param key of the record.
     * @return true if this call deleted it.
     */
    public boolean delete(final K key)
    {
        return table.delete(keys.encode(key));
    }

    /**
     * As {@code delete}, with the result in a future.
     *
     * @param key of the record.
     * @return future of true if this call deleted it.
     */
    public CompletableFuture<Boolean> deleteAsync(final K key)
    {
        return table.deleteAsync(keys.encode(key));
    }

    /**
     * Deletes a record if its version is the expected one.
     *
     * @param key             of the record.
     * @param expectedVersion that the record must have.
     * @return what happened.
     */
    public DeleteResult delete(final K key, final long expectedVersion)
    {
        return table.delete(keys.encode(key), expectedVersion);
    }

    /**
     * As {@code delete}, with the result in a future.
     *
     * @param key             of the record.
     * @param expectedVersion that the record must have.
     * @return future of what happened.
     */
    public CompletableFuture<DeleteResult> deleteAsync(final K key, final long expectedVersion)
    {
        return table.deleteAsync(keys.encode(key), expectedVersion);
    }

    /**
     * Reads many records at once.
     *
     * @param wanted keys, each once.
     * @return values of the keys that have a record, in the order of the keys.
     * @throws KvException the first failure, if any key has one.
     */
    public Map<K, V> getAll(final List<K> wanted)
    {
        final List<KvOutcome<Optional<KvEntry>>> outcomes = table.getAll(wanted.stream().map(keys::encode).toList());
        final Map<K, V> found = LinkedHashMap.newLinkedHashMap(wanted.size());
        for (int i = 0; i < outcomes.size(); i++)
        {
            final K key = wanted.get(i);
            outcomes.get(i).get().ifPresent((entry) -> found.put(key, value(entry)));
        }
        return found;
    }

    /**
     * Writes many records at once; nothing is atomic over several keys.
     *
     * @param records to write.
     * @throws KvException the first failure, if any key has one; the others are written or have failed, too.
     */
    public void putAll(final Map<K, V> records)
    {
        final List<byte[]> keyBytes = new ArrayList<>(records.size());
        final List<byte[]> valueBytes = new ArrayList<>(records.size());
        records.forEach((key, value) ->
        {
            keyBytes.add(keys.encode(key));
            valueBytes.add(values.encode(value));
        });
        table.putAll(keyBytes, valueBytes).forEach(KvOutcome::get);
    }

    /**
     * A scan of all records, in no order; see {@link KvScan} for what it returns while others write.
     *
     * @return the records as a sequential stream, which needs no closing.
     */
    public Stream<Map.Entry<K, V>> stream()
    {
        return table.scan().stream().map(
            (record) -> Map.entry(keys.decode(record.key()), values.decode(record.value())));
    }

    private V value(final KvEntry entry)
    {
        return values.decode(entry.value());
    }

    private Entry<V> entry(final KvEntry entry)
    {
        return new Entry<>(value(entry), entry.version());
    }

    /** Not thenApply, which would wrap the exception of a failure. */
    private static <A, B> CompletableFuture<B> converted(
        final CompletableFuture<A> future, final Function<A, B> conversion)
    {
        final CompletableFuture<B> result = new CompletableFuture<>();
        future.whenComplete((found, failure) ->
        {
            try
            {
                if (null != failure)
                {
                    result.completeExceptionally(failure);
                }
                else
                {
                    result.complete(conversion.apply(found));
                }
            }
            catch (final RuntimeException ex)
            {
                result.completeExceptionally(ex);
            }
        });
        return result;
    }

    @Override
    public String toString()
    {
        return "KvTypedTable{" + table + '}';
    }
}
