package io.verbena.rdma.roce.udp;

import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * An array of {@code mmsghdr} in native memory, each with its name and its control messages; on machines of 64 bits.
 *
 * <pre>
 *  mmsghdr: name 8 | name bytes 4 | 4 | vectors 8 | count 8 | control 8 | control bytes 8 | flags 4 | 4 | length 4 | 4
 *  cmsghdr: length 8 | level 4 | type 4 | data, padded to 8
 * </pre>
 */
final class MessageHeaders
{
    /** Bytes of the header of a control message. */
    static final int CONTROL_HEADER_BYTES = 16;

    private static final int HEADER_BYTES = 64;
    private static final int LINE_BYTES = 64;
    private static final int NAME_BYTES_OFFSET = 8;
    private static final int VECTORS_OFFSET = 16;
    private static final int VECTOR_COUNT_OFFSET = 24;
    private static final int CONTROL_OFFSET = 32;
    private static final int CONTROL_BYTES_OFFSET = 40;
    private static final int LENGTH_OFFSET = 56;
    private static final int LEVEL_OFFSET = 8;
    private static final int TYPE_OFFSET = 12;
    private static final int LONG_MASK = Long.BYTES - 1;

    private final UnsafeBuffer headers;
    private final UnsafeBuffer names;
    private final UnsafeBuffer controls;
    private final int controlBytes;

    /** Makes headers of so many messages with so much room for control messages each, a multiple of 8. */
    MessageHeaders(final int count, final int controlBytes)
    {
        this.controlBytes = controlBytes;
        headers = new UnsafeBuffer(BufferUtil.allocateDirectAligned(count * HEADER_BYTES, LINE_BYTES));
        names = new UnsafeBuffer(BufferUtil.allocateDirectAligned(count * SocketName.MAX_BYTES, LINE_BYTES));
        controls = new UnsafeBuffer(BufferUtil.allocateDirectAligned(count * controlBytes, LINE_BYTES));
        for (int i = 0; i < count; i++)
        {
            headers.putLong(i * HEADER_BYTES, names.addressOffset() + nameOffset(i));
            headers.putLong(i * HEADER_BYTES + CONTROL_OFFSET, controls.addressOffset() + controlOffset(i));
        }
    }

    /** Where the kernel reads from message {@code index} on. */
    long address(final int index)
    {
        return headers.addressOffset() + (long)index * HEADER_BYTES;
    }

    /** Sets the pieces of memory of a message: {@code iovec}s. */
    void vectors(final int index, final long address, final int count)
    {
        headers.putLong(index * HEADER_BYTES + VECTORS_OFFSET, address);
        headers.putLong(index * HEADER_BYTES + VECTOR_COUNT_OFFSET, count);
    }

    void nameBytes(final int index, final int nameBytes)
    {
        headers.putInt(index * HEADER_BYTES + NAME_BYTES_OFFSET, nameBytes);
    }

    void controlBytes(final int index, final int lengthBytes)
    {
        headers.putLong(index * HEADER_BYTES + CONTROL_BYTES_OFFSET, lengthBytes);
    }

    /** Makes a message ready for the kernel to fill in. */
    void resetForReceive(final int index)
    {
        nameBytes(index, SocketName.MAX_BYTES);
        controlBytes(index, controlBytes);
    }

    /** Bytes received into a message. */
    int lengthBytes(final int index)
    {
        return headers.getInt(index * HEADER_BYTES + LENGTH_OFFSET);
    }

    UnsafeBuffer names()
    {
        return names;
    }

    int nameOffset(final int index)
    {
        return index * SocketName.MAX_BYTES;
    }

    UnsafeBuffer controls()
    {
        return controls;
    }

    int controlOffset(final int index)
    {
        return index * controlBytes;
    }

    /** The end of what the kernel filled in. */
    int controlEnd(final int index)
    {
        return controlOffset(index) + (int)headers.getLong(index * HEADER_BYTES + CONTROL_BYTES_OFFSET);
    }

    /** Writes the header of a control message and returns where its data is to go. */
    static int encodeControl(
        final UnsafeBuffer buffer, final int offset, final int level, final int type, final int dataBytes)
    {
        buffer.putLong(offset, CONTROL_HEADER_BYTES + dataBytes);
        buffer.putInt(offset + LEVEL_OFFSET, level);
        buffer.putInt(offset + TYPE_OFFSET, type);
        return offset + CONTROL_HEADER_BYTES;
    }

    static int level(final UnsafeBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + LEVEL_OFFSET);
    }

    static int type(final UnsafeBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + TYPE_OFFSET);
    }

    /** Where the control message after one begins. */
    static int next(final UnsafeBuffer buffer, final int offset)
    {
        return offset + ((int)buffer.getLong(offset) + LONG_MASK & ~LONG_MASK);
    }
}
