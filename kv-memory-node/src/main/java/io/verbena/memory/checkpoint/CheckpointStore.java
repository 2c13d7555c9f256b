package io.verbena.memory.checkpoint;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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
 * The database of a memory node's checkpoints, {@code docs/format/checkpoint.md}: one entry for each record, one page
 * for each range of an index that has records, so that the next checkpoint knows them, and what it is a checkpoint
 * of. One thread. Closed by its opener.
 */
public final class CheckpointStore implements AutoCloseable
{
    private static final Logger LOGGER = LoggerFactory.getLogger(CheckpointStore.class);
    /** Of keys and values. */
    public static final int FORMAT_VERSION = 3;
    /** Behind the name of its folder: where its library is unpacked, and removed at once. */
    public static final String LIBRARY_SUFFIX = RocksCheckpointDatabase.LIBRARY_SUFFIX;
    static final int PAGE_BYTES = CheckpointPage.RANGE_BYTES;
    static final byte PAGE = 'p';
    static final byte RECORD = 'r';
    /** Keys of records that go when the checkpoint that found them gone has everything else. */
    private static final byte STALE = 'x';
    private static final byte[] STATE = {'s'};
    private static final int KEY_BYTES = 1 + Long.BYTES;
    private static final int RECORD_KEY_BYTES = KEY_BYTES + Long.BYTES;
    private static final int BATCH_BYTES = 1 << 20;
    private static final byte[] NOTHING = {};

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
     * Opens the database, and makes it when absent. What is of the format before is converted, which takes as long as
     * writing all its records.
     *
     * @param path of its folder.
     * @return the store.
     * @throws CheckpointException when it cannot be opened or converted, or is of a format that is not known.
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
            store.convertEarlier();
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

    private void convertEarlier()
    {
        final Properties state = state();
        final String version = state.getProperty("format_version");
        if (EarlierFormat.VERSION.equals(version) || null == version && EarlierFormat.isIn(database))
        {
            LOGGER.info("checkpoint in {} is of format {}: it is converted", path, EarlierFormat.VERSION);
            EarlierFormat.convert(database, this);
            if (null == version)
            {
                flush();
            }
            else
            {
                finish(state);
            }
        }
        else if (null != version)
        {
            checkVersion(path, version);
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

    /** Says something else of the last complete checkpoint; on disk when this returns. */
    public void restate(final Properties state)
    {
        finish(state);
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

    /** The page of an index at this offset of the region; null when it had no records. */
    CheckpointPage page(final long offset)
    {
        final byte[] bytes = database.get(key(PAGE, offset));
        return null == bytes ? null : CheckpointPage.of(bytes);
    }

    /** Offsets of all pages there are. */
    TreeSet<Long> pages()
    {
        final TreeSet<Long> offsets = new TreeSet<>();
        database.forEachKey(PAGE, (key) -> offsets.add(ByteBuffer.wrap(key).getLong(1)));
        return offsets;
    }

    void putPage(final long offset, final CheckpointPage page)
    {
        put(key(PAGE, offset), page.bytes());
    }

    void removePage(final long offset)
    {
        database.remove(key(PAGE, offset));
    }

    /** Takes records by what they are called here. */
    @FunctionalInterface
    interface RecordConsumer
    {
        /** Takes the slot in which a record was, and the checksum of its block. */
        void accept(long slotOffset, long checksum);
    }

    /** All records there are, by slot; a slot may have several, of several moments. */
    void forEachRecord(final RecordConsumer consumer)
    {
        database.forEachKey(RECORD, (key) ->
        {
            final ByteBuffer fields = ByteBuffer.wrap(key);
            consumer.accept(fields.getLong(1), fields.getLong(KEY_BYTES));
        });
    }

    /** The word of a slot, little-endian, and then the block that it published; null when there is no such record. */
    byte[] record(final long slotOffset, final long checksum)
    {
        return database.get(recordKey(RECORD, slotOffset, checksum));
    }

    /** The block of a slot, in a checkpoint of {@link EarlierFormat}. */
    byte[] earlierRecord(final long slotOffset)
    {
        final byte[] block = database.get(key(RECORD, slotOffset));
        if (null == block)
        {
            throw new DamagedCheckpointException(String.format(
                "checkpoint in %s is damaged: it has no record of slot 0x%x", path, slotOffset), null);
        }
        return block;
    }

    void putRecord(final long slotOffset, final long checksum, final byte[] wordAndBlock)
    {
        put(recordKey(RECORD, slotOffset, checksum), wordAndBlock);
    }

    void removeRecord(final long slotOffset, final long checksum)
    {
        database.remove(recordKey(RECORD, slotOffset, checksum));
    }

    /** Has {@link #removeStale} remove it, of this checkpoint or of the next one that gets that far. */
    void removeLater(final long slotOffset, final long checksum)
    {
        put(recordKey(STALE, slotOffset, checksum), NOTHING);
    }

    /** Removes what was to be removed later, but for what a page names; all is written before. */
    void removeStale()
    {
        flush();
        database.forEachKey(STALE, (key) ->
        {
            final ByteBuffer fields = ByteBuffer.wrap(key);
            final long slotOffset = fields.getLong(1);
            final long checksum = fields.getLong(KEY_BYTES);
            final CheckpointPage page = page(slotOffset & -PAGE_BYTES);
            if (null == page || page.checksum((int)(slotOffset & PAGE_BYTES - 1)) != checksum)
            {
                removeRecord(slotOffset, checksum);
            }
            database.remove(key);
            // As many as keys that moved since the last one; a batch of them all might not fit memory.
            pageEnded();
        });
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

    /** Writes what has gathered, so that it is read again. Between pages only. */
    void flush()
    {
        if (database.batchBytes() > 0)
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

    private static byte[] recordKey(final byte kind, final long slotOffset, final long checksum)
    {
        return ByteBuffer.allocate(RECORD_KEY_BYTES).put(kind).putLong(slotOffset).putLong(checksum).array();
    }

    @Override
    public void close()
    {
        database.close();
    }
}
