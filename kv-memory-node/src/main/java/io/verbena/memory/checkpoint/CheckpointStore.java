package io.verbena.memory.checkpoint;

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
    public static final int FORMAT_VERSION = 2;
    /** Behind the name of its folder: where its library is unpacked, and removed at once. */
    public static final String LIBRARY_SUFFIX = ".library";
    static final int PAGE_BYTES = 4096;
    static final int PAGE_WORDS = PAGE_BYTES / Long.BYTES;
    private static final byte PAGE = 'p';
    private static final byte RECORD = 'r';
    private static final byte[] STATE = {'s'};
    private static final int KEY_BYTES = 1 + Long.BYTES;
    private static final int BATCH_BYTES = 1 << 20;

    private final Path path;
    private final CheckpointDatabase database;
    private final int batchBytes;
    private long writtenBytes;

    private CheckpointStore(final Path path, final CheckpointDatabase database, final int batchBytes)
    {
        this.path = path;
        this.database = database;
        this.batchBytes = batchBytes;
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
        return open(path, RocksCheckpointDatabase::open, BATCH_BYTES);
    }

    /**
     * As {@link #open(Path)}, in another database.
     *
     * @param path       of its folder.
     * @param opener     opens it.
     * @param batchBytes a batch is written when it is that long, and a page is complete.
     * @return the store.
     */
    static CheckpointStore open(final Path path, final CheckpointDatabase.Opener opener, final int batchBytes)
    {
        final CheckpointStore store = new CheckpointStore(path, opener.open(path), batchBytes);
        try
        {
            checkVersion(path, store.state().getProperty("format_version", "" + FORMAT_VERSION));
            return store;
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
        catch (final IOException ex)
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
        }
        catch (final IOException ex)
        {
            throw new UncheckedIOException(ex);
        }
        database.put(STATE, text.toString().getBytes(StandardCharsets.UTF_8));
        database.write(true);
    }

    /** The page of an index at this offset of the region, words and then checksums; null when it had no records. */
    byte[] page(final long offset)
    {
        return database.get(key(PAGE, offset));
    }

    /** The record whose slot is at this offset of the region. */
    byte[] record(final long slotOffset)
    {
        return database.get(key(RECORD, slotOffset));
    }

    /** Offsets of all pages there are. */
    TreeSet<Long> pages()
    {
        final TreeSet<Long> offsets = new TreeSet<>();
        database.forEachKey(PAGE, (key) -> offsets.add(ByteBuffer.wrap(key).getLong(1)));
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
        database.remove(key(RECORD, slotOffset));
    }

    void removePage(final long offset)
    {
        database.remove(key(PAGE, offset));
    }

    private void put(final byte[] key, final byte[] value)
    {
        database.put(key, value);
        writtenBytes += key.length + value.length;
    }

    /** A page and its records go together: called after each page, writes when much has gathered. */
    void pageEnded()
    {
        if (database.batchBytes() >= batchBytes)
        {
            database.write(false);
        }
    }

    /** Forgets what was not written, after a failure. */
    void abandon()
    {
        database.clear();
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
        database.close();
    }
}
