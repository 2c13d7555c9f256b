package io.verbena.memory.checkpoint;

import java.util.function.Consumer;

/** A database that is told before each batch how long it is, bytes; what that throws is as if the process ended. */
record WatchedDatabase(CheckpointDatabase database, Consumer<Long> onWrite) implements CheckpointDatabase
{
    @Override
    public byte[] get(final byte[] key)
    {
        return database.get(key);
    }

    @Override
    public void forEachKey(final byte first, final Consumer<byte[]> consumer)
    {
        database.forEachKey(first, consumer);
    }

    @Override
    public void put(final byte[] key, final byte[] value)
    {
        database.put(key, value);
    }

    @Override
    public void remove(final byte[] key)
    {
        database.remove(key);
    }

    @Override
    public long batchBytes()
    {
        return database.batchBytes();
    }

    @Override
    public void write(final boolean isSynced)
    {
        onWrite.accept(database.batchBytes());
        database.write(isSynced);
    }

    @Override
    public void clear()
    {
        database.clear();
    }

    @Override
    public void close()
    {
        database.close();
    }
}
