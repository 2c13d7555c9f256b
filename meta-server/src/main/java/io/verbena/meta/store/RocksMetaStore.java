package io.verbena.meta.store;

import io.verbena.rocksdb.RocksLibrary;

import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.WALRecoveryMode;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

import static io.verbena.meta.store.MetaStoreException.Category.CORRUPT;
import static io.verbena.meta.store.MetaStoreException.Category.WRITE_FAILED;

/**
 * The state in a RocksDB database inside a data folder, every write synchronous. The folder is locked for this process
 * while the store is open. Used by one thread; a write blocks it for the time of one fsync.
 */
public final class RocksMetaStore implements MetaStore
{
    private static final long WRITE_BUFFER_BYTES = 1L << 20;
    private static final int MAX_LOG_FILES = 2;

    private final MetaDataFolder folder;
    private final Options options;
    private final WriteOptions synced;
    private final RocksDB database;
    private boolean closed;

    private RocksMetaStore(
        final MetaDataFolder folder, final Options options, final WriteOptions synced, final RocksDB database)
    {
        this.folder = folder;
        this.options = options;
        this.synced = synced;
        this.database = database;
    }

    /**
     * Opens a data folder, or makes one of an empty or missing folder.
     *
     * @param path of the folder.
     * @return the store, closed by the caller.
     * @throws MetaStoreException when the folder is read-only, foreign, locked or corrupt; nothing is left open then.
     */
    public static RocksMetaStore open(final Path path)
    {
        final MetaDataFolder folder = MetaDataFolder.lock(path);

        try
        {
            RocksLibrary.load(folder.library());
            return folder.hasDatabase() ? openExisting(folder) : create(folder);
        }
        catch (final RuntimeException ex)
        {
            folder.close();
            throw ex;
        }
    }

    @Override
    public MetaState load()
    {
        final MetaStateReader reader = new MetaStateReader(folder.path().toString());

        try (RocksIterator iterator = database.newIterator())
        {
            for (iterator.seekToFirst(); iterator.isValid(); iterator.next())
            {
                reader.accept(new String(iterator.key(), StandardCharsets.UTF_8), iterator.value());
            }

            iterator.status();
        }
        catch (final RocksDBException ex)
        {
            throw corrupt(folder.path(), ex);
        }

        return reader.state();
    }

    @Override
    public void write(final MetaBatch batch)
    {
        try (WriteBatch writes = new WriteBatch())
        {
            stage(batch, writes);
            database.write(synced, writes);
        }
        catch (final RocksDBException ex)
        {
            throw new DurableWriteError(
                "cannot write to " + folder.path() + " (" + ex.getMessage() + "), so the meta server halts: free " +
                "space or repair the disk, then start it again with the same data folder; whether the last change " +
                "was made is known then", ex);
        }
    }

    @Override
    public void close()
    {
        if (!closed)
        {
            closed = true;
            database.close();
            synced.close();
            options.close();
            folder.close();
        }
    }

    private static void stage(final MetaBatch batch, final WriteBatch writes) throws RocksDBException
    {
        for (final RecordChange change : batch.changes())
        {
            if (null == change.record())
            {
                writes.delete(bytes(change.key()));
            }
            else
            {
                writes.put(bytes(change.key()), change.record());
            }
        }
    }

    /** The database is made under another name and renamed when complete: a crash in between leaves no half of one. */
    private static RocksMetaStore create(final MetaDataFolder folder)
    {
        folder.discardUnfinishedDatabase();

        try (Options options = options(true); RocksDB database = RocksDB.open(options, folder.unfinishedDatabase()))
        {
            database.flushWal(true);
        }
        catch (final RocksDBException ex)
        {
            throw new MetaStoreException(
                WRITE_FAILED, "cannot make a database in " + folder.path() + ": " + ex.getMessage(), ex);
        }

        folder.publishDatabase();
        return openExisting(folder);
    }

    private static RocksMetaStore openExisting(final MetaDataFolder folder)
    {
        final Options options = options(false);
        final WriteOptions synced = new WriteOptions().setSync(true);

        try
        {
            return new RocksMetaStore(folder, options, synced, RocksDB.open(options, folder.database()));
        }
        catch (final RocksDBException ex)
        {
            synced.close();
            options.close();
            throw corrupt(folder.path(), ex);
        }
    }

    private static Options options(final boolean createIfMissing)
    {
        // Every write is synced before it is acknowledged, so the log may only be torn at its very end; recovery up to
        // "some consistent point" would forget acknowledged incarnations, and the server would give them out again.
        return new Options()
            .setCreateIfMissing(createIfMissing)
            .setErrorIfExists(createIfMissing)
            .setParanoidChecks(true)
            .setWalRecoveryMode(WALRecoveryMode.TolerateCorruptedTailRecords)
            .setWriteBufferSize(WRITE_BUFFER_BYTES)
            .setKeepLogFileNum(MAX_LOG_FILES)
            .setMaxBackgroundJobs(1);
    }

    private static MetaStoreException corrupt(final Path path, final RocksDBException ex)
    {
        return new MetaStoreException(
            CORRUPT,
            "the database in " + path + " does not open: " + ex.getMessage() +
            "; restore the folder from a copy, or start a new cluster with an empty one",
            ex);
    }

    private static byte[] bytes(final String key)
    {
        return key.getBytes(StandardCharsets.UTF_8);
    }
}
