package io.verbena.client.routing;

import io.verbena.client.KvInvalidRequestException;
import io.verbena.protocol.request.RecordPage;

import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;

/**
 * Where a walk over a table stands, as text that any process can go on from: version, number of the table, position,
 * and a checksum of these, as hex digits. Positions are those of {@code docs/protocol/scans.md}: they hold at every
 * compute node, and after splits and merges. Stateless.
 */
final class ScanCursor
{
    private static final String VERSION = "1";
    private static final String SEPARATOR = "-";
    private static final int FIELDS = 4;
    private static final int RADIX = 16;

    private ScanCursor()
    {
    }

    static String encode(final int tableId, final long position)
    {
        final String fields =
            VERSION + SEPARATOR + Integer.toHexString(tableId) + SEPARATOR + Long.toHexString(position);
        return fields + SEPARATOR + checksum(fields);
    }

    /**
     * Reads a cursor.
     *
     * @param cursor  from {@link #encode}.
     * @param tableId of the table that is to be walked over.
     * @return the position.
     * @throws KvInvalidRequestException when it is none, was damaged, or is one of another table.
     */
    static long decode(final String cursor, final int tableId)
    {
        final String[] fields = null == cursor ? new String[0] : cursor.split(SEPARATOR, -1);
        if (FIELDS != fields.length || !VERSION.equals(fields[0]) ||
            !fields[FIELDS - 1].equals(checksum(cursor.substring(0, cursor.lastIndexOf(SEPARATOR)))))
        {
            throw new KvInvalidRequestException("cursor=" + cursor + ": not a cursor of a scan, or not whole; " +
                "give it as a scan returned it");
        }
        final int ofTable = Integer.parseUnsignedInt(fields[1], RADIX);
        if (ofTable != tableId)
        {
            throw new KvInvalidRequestException("cursor=" + cursor + ": of another table, or of one of this name " +
                "that was dropped (tableId=" + ofTable + ", not " + tableId + "); begin a new scan");
        }
        final long position = Long.parseUnsignedLong(fields[2], RADIX);
        return position < 0 ? RecordPage.END : position;
    }

    private static String checksum(final String fields)
    {
        final CRC32C checksum = new CRC32C();
        checksum.update(fields.getBytes(StandardCharsets.UTF_8));
        return Long.toHexString(checksum.getValue());
    }
}
