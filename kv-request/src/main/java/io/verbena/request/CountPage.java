package io.verbena.request;

import org.agrona.concurrent.UnsafeBuffer;

import java.nio.ByteOrder;

/**
 * What is in a stretch of a table, as the value of the answer FOUND to {@link RequestKind#COUNT}; the answer's version
 * is the position at which the next stretch begins, or {@link RecordPage#END}. Little-endian, 8 bytes each.
 *
 * @param records    present.
 * @param tentative  inserts that are not decided, and remains of deletes.
 * @param blockBytes memory that the records take, rounded up to their size classes.
 * @param slots      of the whole table.
 * @param subtables  of the whole table.
 */
public record CountPage(long records, long tentative, long blockBytes, long slots, long subtables)
{
    /** Length of a page. */
    public static final int LENGTH_BYTES = 5 * Long.BYTES;
    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;

    /** @return as bytes. */
    public byte[] toByteArray()
    {
        final long[] figures = {records, tentative, blockBytes, slots, subtables};
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
        int at = 0;
        return new CountPage(buffer.getLong(at, ORDER), buffer.getLong(at += Long.BYTES, ORDER),
            buffer.getLong(at += Long.BYTES, ORDER), buffer.getLong(at += Long.BYTES, ORDER),
            buffer.getLong(at + Long.BYTES, ORDER));
    }
}
