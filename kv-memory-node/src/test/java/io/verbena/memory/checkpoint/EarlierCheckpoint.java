package io.verbena.memory.checkpoint;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;

/** Makes a checkpoint one of format 2, as the build before wrote it. */
public final class EarlierCheckpoint
{
    private EarlierCheckpoint()
    {
    }

    /** Takes its format back; a record that no page names is lost, as that format had none. */
    public static void make(final Path path)
    {
        try (CheckpointDatabase database = RocksCheckpointDatabase.open(path))
        {
            database.forEachKey(CheckpointStore.RECORD, (key) -> onRecord(database, key));
            database.forEachKey(CheckpointStore.PAGE, (key) ->
            {
                final byte[] page = database.get(key);
                database.put(key, Arrays.copyOfRange(page, 2 * Long.BYTES, page.length));
            });
            final byte[] state = {'s'};
            final byte[] text = database.get(state);
            if (null != text)
            {
                database.put(state, new String(text, StandardCharsets.UTF_8)
                    .replace("format_version=3", "format_version=2").getBytes(StandardCharsets.UTF_8));
            }
            database.write(true);
        }
    }

    private static void onRecord(final CheckpointDatabase database, final byte[] key)
    {
        final byte[] wordAndBlock = database.get(key);
        database.remove(key);
        database.put(Arrays.copyOf(key, 1 + Long.BYTES),
            Arrays.copyOfRange(wordAndBlock, Long.BYTES, wordAndBlock.length));
    }

    /** Has the build before remember less than it wrote: a page names a record that is not there. */
    static void loseRecord(final Path path, final long slotOffset)
    {
        try (CheckpointDatabase database = RocksCheckpointDatabase.open(path))
        {
            database.remove(
                ByteBuffer.allocate(1 + Long.BYTES).put(CheckpointStore.RECORD).putLong(slotOffset).array());
            database.write(true);
        }
    }
}
