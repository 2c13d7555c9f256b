package io.verbena.memory.checkpoint;

import java.util.Properties;

/** Puts into a store what no checkpoint of one moment has. */
public final class StoreAccess
{
    private StoreAccess()
    {
    }

    /** Puts a record, without a page. */
    public static void putRecord(
        final CheckpointStore store, final long slot, final long checksum, final byte[] wordAndBlock)
    {
        store.putRecord(slot, checksum, wordAndBlock);
    }

    /** The first byte of a record; -1 when there is none. */
    public static int record(final CheckpointStore store, final long slot, final long checksum)
    {
        final byte[] wordAndBlock = store.record(slot, checksum);
        return null == wordAndBlock ? -1 : wordAndBlock[0];
    }

    /** Writes what has gathered; it may be lost with the host. */
    public static void flush(final CheckpointStore store)
    {
        store.flush();
    }

    /** Ends the checkpoint. */
    public static void finish(final CheckpointStore store)
    {
        store.finish(new Properties());
    }
}
