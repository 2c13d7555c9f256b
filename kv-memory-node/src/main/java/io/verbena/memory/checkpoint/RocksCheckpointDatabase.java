package io.verbena.memory.checkpoint;

import io.verbena.protocol.bootstrap.SyncedNames;
import io.verbena.rocksdb.RocksLibrary;

import org.agrona.CloseHelper;
import org.rocksdb.CompressionType;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Status;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

import java.io.IOException;
import java.nio.file.Path;
import java.util.function.Consumer;

/** A checkpoint in RocksDB. */
final class RocksCheckpointDatabase implements CheckpointDatabase
{
    static final String LIBRARY_SUFFIX = ".library";
    private static final long WRITE_BUFFER_BYTES = 8L << 20;

    private final Path path;
    private final Options options;
    private final WriteOptions unsynced = new WriteOptions();
    private final WriteOptions synced = new WriteOptions().setSync(true);
    private final RocksDB database;
    private final WriteBatch batch = new WriteBatch();

    private RocksCheckpointDatabase(final Path path, final Options options, final RocksDB database)
    {
        this.path = path;
        this.options = options;
        this.database = database;
    }

    static CheckpointDatabase open(final Path path)
    {
        RocksLibrary.load(path.resolveSibling(path.getFileName() + LIBRARY_SUFFIX));
        final Options options = new Options().setCreateIfMissing(true).setParanoidChecks(true)
            .setWriteBufferSize(WRITE_BUFFER_BYTES).setKeepLogFileNum(2).setMaxBackgroundJobs(1)
            .setCompressionType(CompressionType.NO_COMPRESSION);
        RocksDB database = null;
        try
        {
            database = RocksDB.open(options, path.toString());
            // RocksDB syncs what it makes in its folder, not the name of the folder.
            SyncedNames.sync(path.toAbsolutePath().getParent());
            return new RocksCheckpointDatabase(path, options, database);
        }
        catch (final RocksDBException | IOException ex)
        {
            CloseHelper.quietClose(database);
            options.close();
            throw failure("checkpoint database in " + path + " does not open: " + ex.getMessage() +
                "; free space there, or give this user the rights; when it is damaged, restore it from a copy, or " +
                "move it away: it may be the only copy of records, and a node with records in memory makes a new one",
                ex);
        }
    }

    @Override
    public byte[] get(final byte[] key)
    {
        try
        {
            return database.get(key);
        }
        catch (final RocksDBException ex)
        {
            throw readFailed(ex);
        }
    }

    @Override
    public void forEachKey(final byte first, final Consumer<byte[]> consumer)
    {
        try (RocksIterator iterator = database.newIterator())
        {
            for (iterator.seek(new byte[]{first}); iterator.isValid() && iterator.key()[0] == first; iterator.next())
            {
                consumer.accept(iterator.key());
            }
            iterator.status();
        }
        catch (final RocksDBException ex)
        {
            throw readFailed(ex);
        }
    }

    @Override
    public void put(final byte[] key, final byte[] value)
    {
        try
        {
            batch.put(key, value);
        }
        catch (final RocksDBException ex)
        {
            throw writeFailed(ex);
        }
    }

    @Override
    public void remove(final byte[] key)
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

    @Override
    public long batchBytes()
    {
        return batch.getDataSize();
    }

    @Override
    public void write(final boolean isSynced)
    {
        try
        {
            database.write(isSynced ? synced : unsynced, batch);
            batch.clear();
        }
        catch (final RocksDBException ex)
        {
            throw writeFailed(ex);
        }
    }

    @Override
    public void clear()
    {
        batch.clear();
    }

    private CheckpointException readFailed(final RocksDBException ex)
    {
        return failure("checkpoint in " + path + " cannot be read: " + ex.getMessage(), ex);
    }

    private static CheckpointException failure(final String message, final Exception ex)
    {
        final boolean isDamaged = ex instanceof final RocksDBException ofDatabase && null != ofDatabase.getStatus() &&
            Status.Code.Corruption == ofDatabase.getStatus().getCode();
        return isDamaged ? new DamagedCheckpointException(message, ex) : new CheckpointException(message, ex);
    }

    private CheckpointException writeFailed(final RocksDBException ex)
    {
        return new CheckpointException("checkpoint cannot be written to " + path + ": " + ex.getMessage() +
            "; free space there; the checkpoint before is still good", ex);
    }

    @Override
    public void close()
    {
        batch.close();
        database.close();
        unsynced.close();
        synced.close();
        options.close();
    }
}
