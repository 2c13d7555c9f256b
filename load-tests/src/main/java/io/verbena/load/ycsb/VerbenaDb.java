package io.verbena.load.ycsb;

import io.verbena.client.KvClient;
import io.verbena.client.KvEntry;
import io.verbena.client.KvException;
import io.verbena.client.KvTable;
import io.verbena.client.KvTimeoutException;
import io.verbena.client.ReplaceResult;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.Client;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;
import site.ycsb.WorkloadException;
import site.ycsb.workloads.CoreWorkload;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * YCSB's view of a table: {@code site.ycsb.Client -db io.verbena.load.ycsb.VerbenaDb}. One instance per thread, as YCSB
 * makes them, not safe for more. A record is one value ({@link RecordCodec}) under the UTF-8 bytes of its YCSB key.
 *
 * <ul>
 * <li>read: one get, then the wanted fields are picked from the value;
 * <li>insert: put of all fields;
 * <li>update: get, change the fields, replace by the version that was read; begun again when another writer came in
 * between, at most {@link #MAX_UPDATE_ATTEMPTS} times and for {@link #UPDATE_TIMEOUT_NS};
 * <li>delete: delete; scan: {@link Status#NOT_IMPLEMENTED}, the table has no order.
 * </ul>
 *
 * <p>Started by YCSB's own client, all instances share one cluster in this process, see {@link SharedCluster}.
 */
public final class VerbenaDb extends DB
{
    /** Most rounds of read and conditional write in one update. */
    public static final int MAX_UPDATE_ATTEMPTS = 1000;

    /** After this time an update begins no further round. */
    public static final long UPDATE_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);

    private static final NanoClock CLOCK = SystemNanoClock.INSTANCE;
    private static final AtomicInteger NEXT_WRITER = new AtomicInteger(1);

    private final int writer;
    private final RecordListener listener;
    private final Map<String, KvTable> tables = new HashMap<>();
    private KvClient client;
    private long sequence;
    private long updateConflicts;
    private RuntimeException lastFailure;

    /**
     * For YCSB's client, which calls {@link #init()} next.
     */
    public VerbenaDb()
    {
        this(null, NEXT_WRITER.getAndIncrement(), RecordListener.NONE);
    }

    /**
     * On a client that the caller owns and closes.
     *
     * @param client   to work on.
     * @param writer   number stamped on each record written, the caller's own for this instance.
     * @param listener receives each read and write of a record.
     */
    public VerbenaDb(final KvClient client, final int writer, final RecordListener listener)
    {
        this.client = client;
        this.writer = writer;
        this.listener = listener;
    }

    @Override
    public void init() throws DBException
    {
        if (client == null)
        {
            client = SharedCluster.client(getProperties(), VerbenaDb::load);
        }
    }

    private static void load(final KvClient client, final Properties properties, final long records)
        throws WorkloadException, DBException
    {
        final Properties loading = new Properties();
        loading.putAll(properties);
        loading.setProperty(CoreWorkload.INSERT_START_PROPERTY, "0");
        loading.setProperty(CoreWorkload.INSERT_COUNT_PROPERTY, Long.toString(records));
        loading.putIfAbsent(Client.OPERATION_COUNT_PROPERTY, "0");
        final CoreWorkload workload = new CoreWorkload();
        workload.init(loading);
        final VerbenaDb db = new VerbenaDb(client, 0, RecordListener.NONE);
        for (long i = 0; i < records; i++)
        {
            if (!workload.doInsert(db, null))
            {
                throw new DBException("record " + i + " of " + records + " could not be loaded", db.lastFailure());
            }
        }
        workload.cleanup();
    }

    /**
     * Updates begun again so far because another writer came in between.
     *
     * @return count over the life of this instance.
     */
    public long updateConflicts()
    {
        return updateConflicts;
    }

    /**
     * Why the last operation that did not succeed failed.
     *
     * @return what was thrown, or null when nothing was.
     */
    public RuntimeException lastFailure()
    {
        return lastFailure;
    }

    @Override
    public Status read(
        final String table, final String key, final Set<String> fields, final Map<String, ByteIterator> result)
    {
        try
        {
            final Optional<KvEntry> entry = get(table(table), key, bytes(key));
            if (entry.isEmpty())
            {
                return Status.NOT_FOUND;
            }
            RecordCodec.fields(entry.get().value()).forEach((name, value) ->
            {
                if (fields == null || fields.contains(name))
                {
                    result.put(name, new ByteArrayByteIterator(value));
                }
            });
            return Status.OK;
        }
        catch (final KvException | RecordFormatException ex)
        {
            return failed(ex);
        }
    }

    @Override
    public Status insert(final String table, final String key, final Map<String, ByteIterator> values)
    {
        final long stamp = ++sequence;
        RecordListener.Outcome outcome = RecordListener.Outcome.NOT_APPLIED;
        listener.onWriteStart(key, stamp);
        try
        {
            table(table).put(bytes(key), RecordCodec.encode(writer, stamp, arrays(values)));
            outcome = RecordListener.Outcome.ACKNOWLEDGED;
            return Status.OK;
        }
        catch (final KvException ex)
        {
            outcome = outcomeOf(ex);
            return failed(ex);
        }
        finally
        {
            listener.onWriteEnd(key, stamp, outcome);
        }
    }

    @Override
    public Status update(final String table, final String key, final Map<String, ByteIterator> values)
    {
        final long stamp = ++sequence;
        final Map<String, byte[]> changes = arrays(values);
        RecordListener.Outcome outcome = RecordListener.Outcome.NOT_APPLIED;
        listener.onWriteStart(key, stamp);
        try
        {
            final Status status = readAndReplace(table(table), key, stamp, changes);
            outcome = status.isOk() ? RecordListener.Outcome.ACKNOWLEDGED : RecordListener.Outcome.NOT_APPLIED;
            return status;
        }
        catch (final KvException ex)
        {
            outcome = outcomeOf(ex);
            return failed(ex);
        }
        catch (final RecordFormatException ex)
        {
            return failed(ex);
        }
        finally
        {
            listener.onWriteEnd(key, stamp, outcome);
        }
    }

    @Override
    public Status delete(final String table, final String key)
    {
        try
        {
            return table(table).delete(bytes(key)) ? Status.OK : Status.NOT_FOUND;
        }
        catch (final KvException ex)
        {
            return failed(ex);
        }
    }

    @Override
    public Status scan(
        final String table,
        final String startKey,
        final int recordCount,
        final Set<String> fields,
        final Vector<HashMap<String, ByteIterator>> result)
    {
        return Status.NOT_IMPLEMENTED;
    }

    private Status readAndReplace(
        final KvTable table, final String key, final long stamp, final Map<String, byte[]> changes)
    {
        final byte[] keyBytes = bytes(key);
        final long deadlineNs = CLOCK.nanoTime() + UPDATE_TIMEOUT_NS;
        int attempts = 0;
        do
        {
            final Optional<KvEntry> current = get(table, key, keyBytes);
            if (current.isEmpty())
            {
                return Status.NOT_FOUND;
            }
            final Map<String, byte[]> fields = RecordCodec.fields(current.get().value());
            fields.putAll(changes);
            final ReplaceResult result =
                table.replace(keyBytes, RecordCodec.encode(writer, stamp, fields), current.get().version());
            switch (result.outcome())
            {
                case REPLACED ->
                {
                    return Status.OK;
                }
                case NOT_FOUND ->
                {
                    return Status.NOT_FOUND;
                }
                case VERSION_MISMATCH -> updateConflicts++;
            }
            attempts++;
        }
        while (attempts < MAX_UPDATE_ATTEMPTS && CLOCK.nanoTime() - deadlineNs < 0);
        throw new KvTimeoutException("update gave up: in each of " + attempts +
            " rounds another writer came between read and write");
    }

    private Optional<KvEntry> get(final KvTable table, final String key, final byte[] keyBytes)
    {
        byte[] record = null;
        listener.onReadStart(key);
        try
        {
            final Optional<KvEntry> entry = table.get(keyBytes);
            record = entry.isPresent() ? entry.get().value() : null;
            return entry;
        }
        finally
        {
            listener.onReadEnd(record);
        }
    }

    private KvTable table(final String name)
    {
        KvTable table = tables.get(name);
        if (table == null)
        {
            table = client.table(name);
            tables.put(name, table);
        }
        return table;
    }

    private Status failed(final RuntimeException failure)
    {
        lastFailure = failure;
        if (failure instanceof final KvException ex)
        {
            return switch (ex.category())
            {
                case INVALID_REQUEST -> Status.BAD_REQUEST;
                case PERMISSION_DENIED -> Status.FORBIDDEN;
                case UNAVAILABLE, CLOSED, QUOTA_EXCEEDED -> Status.SERVICE_UNAVAILABLE;
                case NOT_APPLIED, OUTCOME_UNKNOWN, NO_SPACE, CORRUPT -> Status.ERROR;
            };
        }
        return Status.UNEXPECTED_STATE;
    }

    private static RecordListener.Outcome outcomeOf(final KvException ex)
    {
        return ex.category() == KvException.Category.OUTCOME_UNKNOWN ?
            RecordListener.Outcome.UNKNOWN : RecordListener.Outcome.NOT_APPLIED;
    }

    private static byte[] bytes(final String key)
    {
        return key.getBytes(StandardCharsets.UTF_8);
    }

    private static Map<String, byte[]> arrays(final Map<String, ByteIterator> values)
    {
        final Map<String, byte[]> arrays = LinkedHashMap.newLinkedHashMap(values.size());
        values.forEach((name, value) -> arrays.put(name, value.toArray()));
        return arrays;
    }
}
