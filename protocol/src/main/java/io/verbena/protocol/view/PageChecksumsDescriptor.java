package io.verbena.protocol.view;

import io.verbena.raas.RpcClient;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;

/**
 * Checksums of pages of a memory node's memory, behind the headers of request and reply; little-endian.
 *
 * <pre>
 *  request                              reply, for each page
 *   0 +-------------------------------+  0 +-------------------------------+
 *     |            offset             |    |           low half            |
 *   8 +---------------+---------------+  8 +-------------------------------+
 *     |    length     |   reserved    |    |           high half           |
 *  16 +---------------+---------------+ 16 +-------------------------------+
 *     |             seed              |
 *  24 +-------------------------------+
 * </pre>
 */
public final class PageChecksumsDescriptor
{
    /** Bytes of a page, but for the last one of a range. */
    public static final int PAGE_BYTES = 4096;
    /** Most bytes of a range: the thread that calculates, for 0.1 to 0.2 ms then, has other work to do, too. */
    public static final int MAX_LENGTH_BYTES = 512 << 10;
    /** Most pages of a range. */
    public static final int MAX_PAGES = MAX_LENGTH_BYTES / PAGE_BYTES;
    static final int RANGE_OFFSET = 0;
    static final int RANGE_LENGTH_OFFSET = RANGE_OFFSET + Long.BYTES;
    static final int RESERVED_OFFSET = RANGE_LENGTH_OFFSET + Integer.BYTES;
    static final int SEED_OFFSET = RESERVED_OFFSET + Integer.BYTES;
    static final int REQUEST_LENGTH_BYTES = SEED_OFFSET + Long.BYTES;
    static final int LOW_OFFSET = 0;
    static final int HIGH_OFFSET = LOW_OFFSET + Long.BYTES;
    static final int CHECKSUM_LENGTH_BYTES = HIGH_OFFSET + Long.BYTES;

    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;

    static
    {
        if (Long.BYTES + MAX_PAGES * CHECKSUM_LENGTH_BYTES > RpcClient.MAX_MESSAGE_BYTES)
        {
            throw new IllegalStateException("checksums of " + MAX_PAGES + " pages are longer than a message");
        }
    }

    private PageChecksumsDescriptor()
    {
    }

    /**
     * @param lengthBytes of a range.
     * @return how many pages it has, a short one included.
     */
    public static int pages(final int lengthBytes)
    {
        return Math.ceilDiv(lengthBytes, PAGE_BYTES);
    }

    /**
     * Writes a request.
     *
     * @param rangeOffset      where the range begins in the memory.
     * @param rangeLengthBytes of the range.
     * @param seed             of the function.
     * @param buffer           of the message.
     * @param offset           where the request begins there.
     * @return its length.
     * @throws io.verbena.protocol.message.ControlException INVALID_REQUEST, when no memory node has such a range.
     */
    public static int encodeRequest(
        final long rangeOffset, final int rangeLengthBytes, final long seed, final MutableDirectBuffer buffer,
        final int offset)
    {
        requireRange(rangeOffset, rangeLengthBytes);
        buffer.putLong(offset + RANGE_OFFSET, rangeOffset, ORDER);
        buffer.putInt(offset + RANGE_LENGTH_OFFSET, rangeLengthBytes, ORDER);
        buffer.putInt(offset + RESERVED_OFFSET, 0, ORDER);
        buffer.putLong(offset + SEED_OFFSET, seed, ORDER);
        return REQUEST_LENGTH_BYTES;
    }

    private static void requireRange(final long rangeOffset, final int rangeLengthBytes)
    {
        if (rangeOffset < 0 || rangeOffset % PAGE_BYTES != 0)
        {
            throw ViewDescriptor.invalid(
                "pages begin at multiples of " + PAGE_BYTES + ", 0 or more, not at offset=" + rangeOffset);
        }
        if (rangeLengthBytes < 1 || rangeLengthBytes > MAX_LENGTH_BYTES)
        {
            throw ViewDescriptor.invalid("checksums are asked for of 1 to " + MAX_LENGTH_BYTES +
                " bytes at a time, not of lengthBytes=" + rangeLengthBytes);
        }
    }

    /**
     * Checks a request, but for what depends on the memory node: where its memory ends.
     *
     * @param buffer      of the message.
     * @param offset      where it begins.
     * @param lengthBytes of the message from there on.
     * @throws io.verbena.protocol.message.ControlException INVALID_REQUEST, when there is none, or no memory node has
     *     such a range.
     */
    public static void require(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        ViewDescriptor.require(lengthBytes, REQUEST_LENGTH_BYTES, "a range of pages");
        requireRange(rangeOffset(buffer, offset), rangeLengthBytes(buffer, offset));
    }

    /**
     * @param buffer of the message, that was {@linkplain #require checked}.
     * @param offset where it begins.
     * @return where the range begins in the memory, a multiple of {@link #PAGE_BYTES}.
     */
    public static long rangeOffset(final DirectBuffer buffer, final int offset)
    {
        return buffer.getLong(offset + RANGE_OFFSET, ORDER);
    }

    /**
     * @param buffer of the message, that was {@linkplain #require checked}.
     * @param offset where it begins.
     * @return length of the range, 1 to {@link #MAX_LENGTH_BYTES}.
     */
    public static int rangeLengthBytes(final DirectBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + RANGE_LENGTH_OFFSET, ORDER);
    }

    /**
     * @param buffer of the message, that was {@linkplain #require checked}.
     * @param offset where it begins.
     * @return seed of the function.
     */
    public static long seed(final DirectBuffer buffer, final int offset)
    {
        return buffer.getLong(offset + SEED_OFFSET, ORDER);
    }

    /**
     * Writes a reply.
     *
     * @param checksums two words for each page: low half, high half.
     * @param pages     so many of them are written, 1 to {@link #MAX_PAGES}.
     * @param buffer    of the message.
     * @param offset    where it begins.
     * @return its length.
     */
    public static int encodeReply(
        final long[] checksums, final int pages, final MutableDirectBuffer buffer, final int offset)
    {
        for (int page = 0; page < pages; page++)
        {
            final int at = offset + page * CHECKSUM_LENGTH_BYTES;
            buffer.putLong(at + LOW_OFFSET, checksums[2 * page], ORDER);
            buffer.putLong(at + HIGH_OFFSET, checksums[2 * page + 1], ORDER);
        }
        return pages * CHECKSUM_LENGTH_BYTES;
    }

    /**
     * Reads a reply.
     *
     * @param pages       of the range that was asked for.
     * @param buffer      of the message.
     * @param offset      where it begins.
     * @param lengthBytes of the message from there on.
     * @return two words for each page: low half, high half; a new array.
     * @throws io.verbena.protocol.message.ControlException INVALID_REQUEST, when it is not of so many pages.
     */
    public static long[] decodeReply(
        final int pages, final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        if (lengthBytes != pages * CHECKSUM_LENGTH_BYTES)
        {
            throw ViewDescriptor.invalid("checksums of " + lengthBytes + " bytes, but " + pages + " pages have " +
                pages * CHECKSUM_LENGTH_BYTES);
        }
        final long[] checksums = new long[2 * pages];
        for (int page = 0; page < pages; page++)
        {
            final int at = offset + page * CHECKSUM_LENGTH_BYTES;
            checksums[2 * page] = buffer.getLong(at + LOW_OFFSET, ORDER);
            checksums[2 * page + 1] = buffer.getLong(at + HIGH_OFFSET, ORDER);
        }
        return checksums;
    }
}
