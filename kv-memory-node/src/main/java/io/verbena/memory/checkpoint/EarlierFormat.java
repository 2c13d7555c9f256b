package io.verbena.memory.checkpoint;

import java.nio.ByteBuffer;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * Makes a checkpoint of format 2 one of format 3, {@code docs/format/checkpoint.md}, in the database in which it is: it
 * may be the only copy of records. May end anywhere, and is gone on with when the store is opened again. Stateless.
 */
final class EarlierFormat
{
    static final String VERSION = "2";
    /** Words, and then checksums. */
    static final int PAGE_LENGTH_BYTES = 2 * CheckpointPage.RANGE_BYTES;
    private static final int KEY_BYTES = 1 + Long.BYTES;

    private EarlierFormat()
    {
    }

    /** Whether a checkpoint that was never completed, and so does not say of which format it is, is of this one. */
    static boolean isIn(final CheckpointDatabase database)
    {
        final boolean[] isFound = new boolean[1];
        database.forEachKey(CheckpointStore.RECORD, (key) -> isFound[0] |= KEY_BYTES == key.length);
        return isFound[0];
    }

    /** Everything but what says of which format it is. Not all is written when this returns. */
    static void convert(final CheckpointDatabase database, final CheckpointStore store)
    {
        database.forEachKey(CheckpointStore.PAGE, (key) ->
        {
            final byte[] page = database.get(key);
            if (PAGE_LENGTH_BYTES == page.length)
            {
                convertPage(ByteBuffer.wrap(key).getLong(1), ByteBuffer.wrap(page).order(LITTLE_ENDIAN), store);
                store.pageEnded();
            }
        });
        store.flush();
        database.forEachKey(CheckpointStore.RECORD, (key) ->
        {
            if (KEY_BYTES == key.length)
            {
                database.remove(key);
                store.pageEnded();
            }
        });
    }

    private static void convertPage(final long offset, final ByteBuffer page, final CheckpointStore store)
    {
        // No chunk has lease number 0: nobody takes the page for one of the same use of its memory.
        final CheckpointPage converted = CheckpointPage.empty(0, 0);
        for (int at = 0; at < CheckpointPage.RANGE_BYTES; at += Long.BYTES)
        {
            final long word = page.getLong(at);
            if (0 != word)
            {
                final long checksum = page.getLong(CheckpointPage.RANGE_BYTES + at);
                final byte[] block = store.earlierRecord(offset + at);
                store.putRecord(offset + at, checksum, ByteBuffer.allocate(Long.BYTES + block.length)
                    .order(LITTLE_ENDIAN).putLong(word).put(block).array());
                converted.put(at, word, checksum);
            }
        }
        store.putPage(offset, converted);
    }
}
