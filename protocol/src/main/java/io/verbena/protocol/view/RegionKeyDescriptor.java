package io.verbena.protocol.view;

import io.verbena.raas.RemoteRegion;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;

/**
 * A region with a key for one attempt to make copies equal, in a message behind its header; little-endian.
 *
 * <pre>
 *   0 +-------------------------------+
 *     |            address            |
 *   8 +-------------------------------+
 *     |            length             |
 *  16 +---------------+---------------+
 *     |  remote key   |   reserved    |
 *  24 +---------------+---------------+
 * </pre>
 */
public final class RegionKeyDescriptor
{
    static final int ADDRESS_OFFSET = 0;
    static final int LENGTH_OFFSET = ADDRESS_OFFSET + Long.BYTES;
    static final int REMOTE_KEY_OFFSET = LENGTH_OFFSET + Long.BYTES;
    static final int RESERVED_OFFSET = REMOTE_KEY_OFFSET + Integer.BYTES;
    static final int LENGTH_BYTES = RESERVED_OFFSET + Integer.BYTES;

    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;

    private RegionKeyDescriptor()
    {
    }

    /**
     * Writes a region.
     *
     * @param region any.
     * @param buffer of the message.
     * @param offset where it begins.
     * @return its length.
     */
    public static int encode(final RemoteRegion region, final MutableDirectBuffer buffer, final int offset)
    {
        buffer.putLong(offset + ADDRESS_OFFSET, region.address(), ORDER);
        buffer.putLong(offset + LENGTH_OFFSET, region.lengthBytes(), ORDER);
        buffer.putInt(offset + REMOTE_KEY_OFFSET, region.remoteKey(), ORDER);
        buffer.putInt(offset + RESERVED_OFFSET, 0, ORDER);
        return LENGTH_BYTES;
    }

    /**
     * Reads a region.
     *
     * @param buffer      of the message.
     * @param offset      where it begins.
     * @param lengthBytes of the message from there on.
     * @return the region.
     * @throws io.verbena.protocol.message.ControlException INVALID_REQUEST, when there is none.
     */
    public static RemoteRegion decode(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        ViewDescriptor.require(lengthBytes, LENGTH_BYTES, "a region");
        final RemoteRegion region = new RemoteRegion(buffer.getLong(offset + ADDRESS_OFFSET, ORDER),
            buffer.getLong(offset + LENGTH_OFFSET, ORDER), buffer.getInt(offset + REMOTE_KEY_OFFSET, ORDER));
        if (region.lengthBytes() < 1)
        {
            throw ViewDescriptor.invalid("a region without bytes: " + region);
        }
        return region;
    }
}
