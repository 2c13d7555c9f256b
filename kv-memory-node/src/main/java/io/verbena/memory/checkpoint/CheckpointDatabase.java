package io.verbena.memory.checkpoint;

import java.nio.file.Path;
import java.util.function.Consumer;

/**
 * What a checkpoint is kept in: ordered keys with values, changed by batches. A batch is there whole or not at all,
 * however the process or the host ends, and never without those written before it. One thread. Closed by its opener.
 */
public interface CheckpointDatabase extends AutoCloseable
{
    /** Opens what is at a path, and makes it when absent. */
    @FunctionalInterface
    interface Opener
    {
        /**
         * @param path of its folder.
         * @return the database, closed by the caller.
         * @throws CheckpointException when it cannot be opened; one line that says why.
         */
        CheckpointDatabase open(Path path);
    }

    /**
     * @param key of a value that was written.
     * @return a copy of the value, or null.
     * @throws CheckpointException when it cannot be read.
     */
    byte[] get(byte[] key);

    /**
     * @param first    byte of the keys wanted.
     * @param consumer gets each such key that was written when this was called, ascending; may write meanwhile.
     * @throws CheckpointException when they cannot be read.
     */
    void forEachKey(byte first, Consumer<byte[]> consumer);

    /** Adds a pair to the batch under way. */
    void put(byte[] key, byte[] value);

    /** Adds the removal of a key to the batch under way. */
    void remove(byte[] key);

    /** @return bytes gathered in the batch under way. */
    long batchBytes();

    /**
     * Writes the batch under way, and begins another.
     *
     * @param isSynced whether it is on disk when this returns, with everything before; if not, it may be lost with
     *                 the host.
     * @throws CheckpointException when it cannot be written; it is still under way then.
     */
    void write(boolean isSynced);

    /** Forgets the batch under way. */
    void clear();

    @Override
    void close();
}
