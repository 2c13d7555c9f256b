package io.verbena.memory.checkpoint;

import org.rocksdb.RocksDB;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Random;

/** A process that writes a checkpoint until its files may not grow any more. */
public final class CheckpointFiller
{
    private CheckpointFiller()
    {
    }

    /** @param args folder of the database; begins when a line comes. */
    public static void main(final String[] args) throws IOException
    {
        RocksDB.loadLibrary();
        System.out.println("ready");
        System.in.read();
        final Random random = new Random(1);
        try (CheckpointStore store = CheckpointStore.open(Path.of(args[0])))
        {
            final byte[] record = new byte[8192];
            for (long slot = 0; ; slot += Long.BYTES)
            {
                random.nextBytes(record);
                store.putRecord(slot, 1, record);
                store.pageEnded();
            }
        }
        catch (final CheckpointException ex)
        {
            System.out.println(ex.getMessage());
        }
    }
}
