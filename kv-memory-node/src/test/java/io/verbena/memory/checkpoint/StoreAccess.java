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

    /** Ends the checkpoint. */
    public static void finish(final CheckpointStore store)
    {
        store.finish(new Properties());
    }
}
