package io.verbena.memory.checkpoint;

import org.rocksdb.CompressionType;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

import java.io.IOException;
import java.io.StringReader;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Properties;
import java.util.TreeSet;

/**
 * The database of a memory node's checkpoints, {@code docs/format/checkpoint.md}: one page for each stretch of an index
 * that has records, one entry for each record, and what it is a checkpoint of. One thread. Closed by its opener.
 */
public final class CheckpointStore implements AutoCloseable
{
    /** Of keys and values. */
    public static final int FORMAT_VERSION = 1;
    static final int PAGE_BYTES = 4096;
    static final int PAGE_WORDS = PAGE_BYTES / Long.BYTES;
    private static final byte PAGE = 'p';
    private static final byte RECORD = 'r';
    private static final byte[] STATE = {'s'};
    private static final int KEY_BYTES = 1 + Long.BYTES;
    private static final long WRITE_BUFFER_BYTES = 8L << 20;
    private static final int BATCH_BYTES = 1 << 20;

    private final Path path;
    private final Options options;
    private final WriteOptions writeOptions = new WriteOptions();
    private final WriteOptions synced = new WriteOptions().setSync(true);
    private final RocksDB database;
    private WriteBatch batch = new WriteBatch();
    private long writtenBytes;

    private CheckpointStore(final Path path, final Options options, final RocksDB database)
    {
        this.path = path;
        this.options = options;
        this.database = database;
    }

    /**
     * Opens the database, and makes it when absent.
     *
     * @param path of its folder.
     * @return the store.
     * @throws CheckpointException when it cannot be opened, or is of another format.
     */
    public static CheckpointStore open(final Path path)
    {
        final Options options = new Options().setCreateIfMissing(true).setParanoidChecks(true)
            .setWriteBufferSize(WRITE_BUFFER_BYTES).setKeepLogFileNum(2).setMaxBackgroundJobs(1)
            .setCompressionType(CompressionType.NO_COMPRESSION);
        try
        {
            final CheckpointStore store = new CheckpointStore(path, options, RocksDB.open(options, path.toString()));
            checkVersion(store);
            return store;
        }
        catch (final RocksDBException ex)
        {
            options.close();
            throw new CheckpointException("checkpoint database in " + path + " does not open: " + ex.getMessage() +
                "; free space, or delete the folder to begin with a new one", ex);
        }
    }

    private static void checkVersion(final CheckpointStore store)
    {
        try
        {
            checkVersion(store.path, store.state().getProperty("format_version", "" + FORMAT_VERSION));
        }
        catch (final CheckpointException ex)
        {
            store.close();
            throw ex;
        }
    }

    static void checkVersion(final Path path, final String version)
    {
        if (!version.equals("" + FORMAT_VERSION))
        {
            throw new CheckpointException("checkpoint in " + path + " has format version " + version +
                ", this build knows version " + FORMAT_VERSION + ": use the build that wrote it", null);
        }
    }

    /** @return what the last complete checkpoint was of; empty when there is none. */
    public Properties state()
    {
        final Properties properties = new Properties();
        try
        {
            final byte[] bytes = database.get(STATE);
            if (bytes != null)
            {
                properties.load(new StringReader(new String(bytes, StandardCharsets.UTF_8)));
            }
            return properties;
        }
        catch (final RocksDBException | IOException ex)
        {
            throw new CheckpointException("checkpoint in " + path + " cannot be read: " + ex.getMessage(), ex);
        }
    }

    /** Ends a checkpoint: everything before is on disk when this returns. */
    void finish(final Properties state)
    {
        final StringWriter text = new StringWriter();
        try
        {
            state.setProperty("format_version", "" + FORMAT_VERSION);
            state.store(text, null);
            batch.put(STATE, text.toString().getBytes(StandardCharsets.UTF_8));
        }
        catch (final RocksDBException ex)
        {
            throw writeFailed(ex);
        }
        catch (final IOException ex)
        {
            throw new UncheckedIOException(ex);
        }
        write(synced);
    }

    /** The page of an index at this offset of the region, words and then checksums; null when it had no records. */
    byte[] page(final long offset)
    {
        return get(key(PAGE, offset));
    }

    /** The record whose slot is at this offset of the region. */
    byte[] record(final long slotOffset)
    {
        return get(key(RECORD, slotOffset));
    }

    private byte[] get(final byte[] key)
    {
        try
        {
            return database.get(key);
        }
        catch (final RocksDBException ex)
        {
            throw new CheckpointException("checkpoint in " + path + " cannot be read: " + ex.getMessage(), ex);
        }
    }

    /** Offsets of all pages there are. */
    TreeSet<Long> pages()
    {
        final TreeSet<Long> offsets = new TreeSet<>();
        try (RocksIterator iterator = database.newIterator())
        {
            for (iterator.seek(new byte[]{PAGE}); iterator.isValid() && iterator.key()[0] == PAGE; iterator.next())
            {
                offsets.add(ByteBuffer.wrap(iterator.key()).getLong(1));
            }
            iterator.status();
        }
        catch (final RocksDBException ex)
        {
            throw new CheckpointException("checkpoint in " + path + " cannot be read: " + ex.getMessage(), ex);
        }
        return offsets;
    }

    void putPage(final long offset, final byte[] page)
    {
        put(key(PAGE, offset), page);
    }

    void putRecord(final long slotOffset, final byte[] block)
    {
        put(key(RECORD, slotOffset), block);
    }

    void removeRecord(final long slotOffset)
    {
        remove(key(RECORD, slotOffset));
    }

    void removePage(final long offset)
    {
        remove(key(PAGE, offset));
    }

    private void put(final byte[] key, final byte[] value)
    {
        try
        {
            batch.put(key, value);
            writtenBytes += key.length + value.length;
        }
        catch (final RocksDBException ex)
        {
            throw writeFailed(ex);
        }
    }

    private void remove(final byte[] key)
    {
        try
        {
            batch.delete(key);
        }
        catch (final RocksDBException ex)
        {
            throw writeFailed(ex);
        }
    }

    /** A page and its records go together: called after each page, writes when much has gathered. */
    void pageEnded()
    {
        if (batch.getDataSize() >= BATCH_BYTES)
        {
            write(writeOptions);
        }
    }

    /** Forgets what was not written, after a failure. */
    void abandon()
    {
        batch.clear();
    }

    private void write(final WriteOptions how)
    {
        try
        {
            database.write(how, batch);
            batch.clear();
        }
        catch (final RocksDBException ex)
        {
            throw writeFailed(ex);
        }
    }

    private CheckpointException writeFailed(final RocksDBException ex)
    {
        return new CheckpointException("checkpoint cannot be written to " + path + ": " + ex.getMessage() +
            "; free space there; the checkpoint before is still good", ex);
    }

    /** @return bytes given to the database since it was opened. */
    long writtenBytes()
    {
        return writtenBytes;
    }

    private static byte[] key(final byte kind, final long offset)
    {
        return ByteBuffer.allocate(KEY_BYTES).put(kind).putLong(offset).array();
    }

    @Override
    public void close()
    {
        batch.close();
        database.close();
        writeOptions.close();
        synced.close();
        options.close();
    }
}
