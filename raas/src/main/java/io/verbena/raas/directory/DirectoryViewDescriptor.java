package io.verbena.raas.directory;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Layout of the view, {@code docs/format/peer-directory.md}: a {@linkplain DirectoryHeaderDescriptor header}, the list
 * of all nodes, windows of the same records, and named records. READs of header, list and named records, which need not
 * wait for each other, show all of them. In the windows a node has
 * its record at one of {@link #WINDOW} neighbouring places, the first of which follows from its number, so one READ of
 * the window finds it. How many places there are, and how many of the list are in use, is sent at connect, in these 24
 * little-endian bytes of private data; the view is the first region granted.
 *
 * <pre>
 *   0 +---------------+-------+-------+
 *     |     magic     |version|window |
 *   8 +---------------+-------+-------+
 *     |   capacity    | listed places |
 *  16 +---------------+---------------+
 *     |  named bytes  | named room    |
 *  24 +---------------+---------------+
 * </pre>
 */
public final class DirectoryViewDescriptor
{
    /** First 32 bits of the private data: {@code VDIR}. */
    public static final int MAGIC = 0x5249_4456;
    /** Version of this layout. */
    public static final int VERSION = 3;
    /** Places a node's record may have, and the records of one READ. */
    public static final int WINDOW = 8;
    /** Bytes of one READ. */
    public static final int WINDOW_LENGTH_BYTES = WINDOW * PeerRecordDescriptor.RECORD_LENGTH_BYTES;
    /** Offset of the list in the region. */
    public static final int LIST_OFFSET = DirectoryHeaderDescriptor.LENGTH_BYTES;
    /** Offset of the magic. */
    public static final int MAGIC_OFFSET = 0;
    /** Offset of the 16-bit version. */
    public static final int VERSION_OFFSET = MAGIC_OFFSET + Integer.BYTES;
    /** Offset of the 16-bit window. */
    public static final int WINDOW_OFFSET = VERSION_OFFSET + Short.BYTES;
    /** Offset of the 32-bit capacity: places of the list, and first places of windows; a power of two. */
    public static final int CAPACITY_OFFSET = WINDOW_OFFSET + Short.BYTES;
    /** Offset of the 32-bit number of places of the list up to the last one in use, when the peer connected. */
    public static final int LISTED_OFFSET = CAPACITY_OFFSET + Integer.BYTES;
    /** Offset of the 32-bit number of bytes of the named part up to the end of its last record, at connect. */
    public static final int NAMED_BYTES_OFFSET = LISTED_OFFSET + Integer.BYTES;
    /** Offset of the 32-bit length of the named part. */
    public static final int NAMED_ROOM_OFFSET = NAMED_BYTES_OFFSET + Integer.BYTES;
    /** Length of the private data. */
    public static final int PRIVATE_DATA_LENGTH_BYTES = 24;

    private DirectoryViewDescriptor()
    {
    }

    /**
     * @param nodeId   of a node.
     * @param capacity of the view.
     * @return index of the first place of its window.
     */
    public static int firstPlace(final int nodeId, final int capacity)
    {
        // Fibonacci hashing: neighbouring numbers, which are what the owner gives out, spread evenly.
        return (int)(nodeId * 0x9E37_79B9_7F4A_7C15L >>> Integer.SIZE) & capacity - 1;
    }

    /**
     * @param capacity of the view.
     * @return places of windows; the last window reaches beyond the capacity, so none wraps.
     */
    public static int places(final int capacity)
    {
        return capacity + WINDOW - 1;
    }

    /** Offset of a place of the list in the region. */
    static int listOffset(final int place)
    {
        return LIST_OFFSET + place * PeerRecordDescriptor.RECORD_LENGTH_BYTES;
    }

    /** Offset of a place of the windows in the region. */
    static long windowOffset(final int place, final int capacity)
    {
        return LIST_OFFSET + ((long)capacity + place) * PeerRecordDescriptor.RECORD_LENGTH_BYTES;
    }

    /** Offset of the named part in the region. */
    static long namedOffset(final int capacity)
    {
        return windowOffset(places(capacity), capacity);
    }

    /** Length of the region that a view needs. */
    static long regionLengthBytes(final int capacity, final int namedRoomBytes)
    {
        return namedOffset(capacity) + namedRoomBytes;
    }

    static byte[] encodePrivateData(
        final int capacity, final int listed, final int namedBytes, final int namedRoomBytes)
    {
        final byte[] bytes = new byte[PRIVATE_DATA_LENGTH_BYTES];
        ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN)
            .putInt(MAGIC_OFFSET, MAGIC)
            .putShort(VERSION_OFFSET, (short)VERSION)
            .putShort(WINDOW_OFFSET, (short)WINDOW)
            .putInt(CAPACITY_OFFSET, capacity)
            .putInt(LISTED_OFFSET, listed)
            .putInt(NAMED_BYTES_OFFSET, namedBytes)
            .putInt(NAMED_ROOM_OFFSET, namedRoomBytes);
        return bytes;
    }

    /** Why this is not private data of a view that this version can read, or null when it is. */
    static String problem(final byte[] bytes, final long regionLengthBytes)
    {
        final ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        if (bytes.length < CAPACITY_OFFSET || buffer.getInt(MAGIC_OFFSET) != MAGIC)
        {
            return "the peer has no directory (" + bytes.length + " bytes of private data)";
        }
        final int version = buffer.getShort(VERSION_OFFSET) & 0xFFFF;
        final int window = buffer.getShort(WINDOW_OFFSET) & 0xFFFF;
        if (version != VERSION || window != WINDOW)
        {
            return "the directory has version " + version + " and window " + window + ", this node knows version " +
                VERSION + " and window " + WINDOW + ": update the older of the two";
        }
        if (bytes.length < PRIVATE_DATA_LENGTH_BYTES)
        {
            return "the directory describes itself in " + bytes.length + " bytes, not in " + PRIVATE_DATA_LENGTH_BYTES;
        }
        final int capacity = buffer.getInt(CAPACITY_OFFSET);
        final int namedRoom = buffer.getInt(NAMED_ROOM_OFFSET);
        final boolean isPowerOfTwo = capacity > 0 && Integer.bitCount(capacity) == 1;
        return isPowerOfTwo && namedRoom >= 0 && regionLengthBytes >= regionLengthBytes(capacity, namedRoom) ? null :
            "the directory claims " + capacity + " places and " + namedRoom + " bytes of named records in a region " +
            "of " + regionLengthBytes + " bytes";
    }

    static int capacity(final byte[] bytes)
    {
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt(CAPACITY_OFFSET);
    }

    static int listed(final byte[] bytes)
    {
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt(LISTED_OFFSET);
    }

    static int namedBytes(final byte[] bytes)
    {
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt(NAMED_BYTES_OFFSET);
    }

    static int namedRoomBytes(final byte[] bytes)
    {
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt(NAMED_ROOM_OFFSET);
    }
}
