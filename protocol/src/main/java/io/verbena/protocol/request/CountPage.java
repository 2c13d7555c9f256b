package io.verbena.protocol.request;

import org.agrona.concurrent.UnsafeBuffer;

import java.nio.ByteOrder;

/**
 * What is in a range of a table, as the value of the answer FOUND to {@link RequestKind#COUNT}; the answer's version
 * is the position at which the next range begins, or {@link RecordPage#END}. Little-endian, 8 bytes each.
 *
 * @param records       present.
 * @param tentative     inserts that are not decided, and remains of deletes.
 * @param blockBytes    memory that the records take, rounded up to their size classes.
 * @param slots         of the whole table.
 * @param subtables     of the whole table.
 * @param depth         of the deepest subtable of the whole table.
 * @param splits        and merges under way, of which the first slots are in the range.
 * @param frozen        slots whose content belongs elsewhere by now.
 * @param uninitialised slots that wait for their content.
 * @param falseMatches  blocks of this table that the node read in vain for a fingerprint, since it opened it.
 * @param pairsHelped   pairs of buckets of this table that operations of the node moved in splits and merges.
 */
public record CountPage(
    long records, long tentative, long blockBytes, long slots, long subtables, long depth, long splits, long frozen,
    long uninitialised, long falseMatches, long pairsHelped)
{
    private static final int FIGURES = 11;
    /** Length of a page. */
    public static final int LENGTH_BYTES = FIGURES * Long.BYTES;
    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;

    /** @return as bytes. */
    public byte[] toByteArray()
    {
        final long[] figures = {records, tentative, blockBytes, slots, subtables, depth, splits, frozen, uninitialised,
            falseMatches, pairsHelped};
        final UnsafeBuffer buffer = new UnsafeBuffer(new byte[LENGTH_BYTES]);
        for (int i = 0; i < figures.length; i++)
        {
            buffer.putLong(i * Long.BYTES, figures[i], ORDER);
        }
        return buffer.byteArray();
    }

    /**
     * Reads a page.
     *
     * @param bytes from elsewhere.
     * @return the page, or null when it is none.
     */
    public static CountPage of(final byte[] bytes)
    {
        if (null == bytes || LENGTH_BYTES != bytes.length)
        {
            return null;
        }
        final UnsafeBuffer buffer = new UnsafeBuffer(bytes);
        final long[] figures = new long[FIGURES];
        for (int i = 0; i < FIGURES; i++)
        {
            figures[i] = buffer.getLong(i * Long.BYTES, ORDER);
        }
        return new CountPage(figures[0], figures[1], figures[2], figures[3], figures[4], figures[5], figures[6],
            figures[7], figures[8], figures[9], figures[10]);
    }
}
