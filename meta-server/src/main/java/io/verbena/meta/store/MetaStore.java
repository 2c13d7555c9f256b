package io.verbena.meta.store;

/**
 * Durable home of the meta server's state. Used by one thread. A {@link MetaBatch} is applied wholly or not at all, and
 * survives a crash of process and host once {@link #write} has returned.
 */
public interface MetaStore extends AutoCloseable
{
    /**
     * Reads everything and checks every record.
     *
     * @return the whole state; {@link MetaState#isNew()} when nothing was ever written.
     * @throws MetaStoreException naming the first record that is corrupt or of an unknown version.
     */
    MetaState load();

    /**
     * Applies a batch atomically; durable on return.
     *
     * @param batch what changes; may be reused by the caller afterwards.
     * @throws DurableWriteError when it failed. Whether it took effect is known after the store was opened again
     *                           only; until then nothing may be written or read.
     */
    void write(MetaBatch batch);

    /** Releases files and locks; idempotent. */
    @Override
    void close();
}
