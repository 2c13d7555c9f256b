package io.verbena.rdma.spi;

import io.verbena.rdma.verbs.RdmaException;

import org.agrona.UnsafeApi;

import java.nio.ByteOrder;
import java.util.function.LongConsumer;

/**
 * The places that the payload of one request lies in, in order, those without bytes left out. Belongs to a slot of a
 * send queue and is filled anew by each of its requests that has several; used as the slot is.
 */
public final class SegmentList
{
    /** Most places that a request of a software provider has. */
    public static final int MAX_SEGMENTS = 16;

    private static final boolean IS_LITTLE_ENDIAN = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;

    private final long[] addresses;
    private final int[] lengths;
    private final int[] keys;
    private int count;

    /** @param capacity places, 1 or more. */
    public SegmentList(final int capacity)
    {
        addresses = new long[capacity];
        lengths = new int[capacity];
        keys = new int[capacity];
    }

    /**
     * Refuses a place that a request cannot have.
     *
     * @param request         staged.
     * @param lengthBytes     of the place.
     * @param maxSendSegments places that a request of the queue pair has.
     * @param maxMessageBytes longest message.
     * @throws RdmaException that says which limit it exceeds.
     */
    public static void check(
        final WorkRequest request, final int lengthBytes, final int maxSendSegments, final int maxMessageBytes)
    {
        if (!OperationRules.takesSegments(request.operation))
        {
            throw new RdmaException(OperationRules.segmentsRefusal(request.operation));
        }
        if (request.segmentCount >= maxSendSegments)
        {
            throw new RdmaException("request has as many segments as its queue pair takes: maxSendSegments=" +
                maxSendSegments + ", wrId=" + request.wrId +
                "; create the queue pair with more, up to DeviceAttributes.maxSendSegments()");
        }
        if (lengthBytes < 0 || lengthBytes > maxMessageBytes - request.lengthBytes)
        {
            throw new RdmaException("bad segment: lengthBytes=" + lengthBytes + " behind " + request.lengthBytes +
                " of at most " + maxMessageBytes + ", wrId=" + request.wrId);
        }
    }

    /**
     * Adds a place; with the second one the first, which the request itself names, comes too.
     *
     * @param request      it is of, as it was before.
     * @param localAddress first byte.
     * @param lengthBytes  0 or more.
     * @param localKey     of its region.
     */
    void add(final WorkRequest request, final long localAddress, final int lengthBytes, final int localKey)
    {
        if (request.segmentCount == 1)
        {
            count = 0;
            add(request.localAddress, request.lengthBytes, request.localKey);
        }
        add(localAddress, lengthBytes, localKey);
    }

    private void add(final long localAddress, final int lengthBytes, final int localKey)
    {
        if (lengthBytes != 0)
        {
            addresses[count] = localAddress;
            lengths[count] = lengthBytes;
            keys[count] = localKey;
            count++;
        }
    }

    /** @return places that have bytes. */
    public int count()
    {
        return count;
    }

    /**
     * @param index of the place.
     * @return its first byte, in the user's terms.
     */
    public long address(final int index)
    {
        return addresses[index];
    }

    /**
     * @param index of the place.
     * @return its bytes, 1 or more.
     */
    public int lengthBytes(final int index)
    {
        return lengths[index];
    }

    /**
     * @param index of the place.
     * @return key of its region.
     */
    public int key(final int index)
    {
        return keys[index];
    }

    /** @return the same places, which stay when the slot is used again. */
    public SegmentList copy()
    {
        final SegmentList copy = new SegmentList(Math.max(1, count));
        for (int i = 0; i < count; i++)
        {
            copy.add(addresses[i], lengths[i], keys[i]);
        }
        return copy;
    }

    /**
     * Tells all of it.
     *
     * @param words takes it.
     */
    public void describe(final LongConsumer words)
    {
        words.accept(count);
        for (int i = 0; i < count; i++)
        {
            words.accept(addresses[i]);
            words.accept((long)keys[i] << 32 | lengths[i]);
        }
    }

    /**
     * Executes a WRITE, or fills a receive; as {@link RawMemory#write}, also for a remote word that several places
     * share.
     *
     * @param remoteAddress target.
     */
    public void gather(final long remoteAddress)
    {
        move(remoteAddress, false);
    }

    /**
     * Executes a READ; as {@link RawMemory#read}, also for a remote word that several places share.
     *
     * @param remoteAddress source.
     */
    public void scatter(final long remoteAddress)
    {
        move(remoteAddress, true);
    }

    private void move(final long remoteAddress, final boolean isRead)
    {
        long remote = remoteAddress;
        int index = 0;
        int offset = 0;
        while (index < count)
        {
            final int restBytes = lengths[index] - offset;
            // A word at the end of this place that the next one shares is moved by itself, in one access.
            final int sharedBytes = index + 1 < count ? (int)(remote + restBytes & 7) : 0;
            final int wholeBytes = restBytes - sharedBytes;
            if (wholeBytes > 0)
            {
                moveWhole(remote, addresses[index] + offset, wholeBytes, isRead);
                remote += wholeBytes;
                offset += wholeBytes;
            }
            else
            {
                final int bytes = wordBytes(remote, index, offset);
                moveShared(remote, index, offset, bytes, isRead);
                remote += bytes;
                offset += bytes;
            }
            while (index < count && offset >= lengths[index])
            {
                offset -= lengths[index];
                index++;
            }
        }
    }

    private static void moveWhole(final long remote, final long local, final int lengthBytes, final boolean isRead)
    {
        if (isRead)
        {
            RawMemory.read(remote, local, lengthBytes);
        }
        else
        {
            RawMemory.write(local, remote, lengthBytes);
        }
    }

    /** Bytes from a remote address to the end of its word, as far as the payload goes. */
    private int wordBytes(final long remote, final int index, final int offset)
    {
        final int toEnd = 8 - (int)(remote & 7);
        int left = -offset;
        for (int i = index; i < count && left < toEnd; i++)
        {
            left += lengths[i];
        }
        return Math.min(toEnd, left);
    }

    private void moveShared(
        final long remote, final int firstIndex, final int firstOffset, final int bytes, final boolean isRead)
    {
        final boolean isWord = bytes == Long.BYTES;
        long word = isRead && isWord ? UnsafeApi.getLong(remote) : 0;
        int index = firstIndex;
        int offset = firstOffset;
        for (int i = 0; i < bytes; i++)
        {
            while (offset == lengths[index])
            {
                index++;
                offset = 0;
            }
            final long local = addresses[index] + offset;
            final int shift = 8 * (IS_LITTLE_ENDIAN ? i : 7 - i);
            if (isRead)
            {
                UnsafeApi.putByte(local, isWord ? (byte)(word >>> shift) : UnsafeApi.getByte(remote + i));
            }
            else if (isWord)
            {
                word |= (UnsafeApi.getByte(local) & 0xFFL) << shift;
            }
            else
            {
                UnsafeApi.putByte(remote + i, UnsafeApi.getByte(local));
            }
            offset++;
        }
        if (!isRead && isWord)
        {
            UnsafeApi.putLong(remote, word);
        }
    }
}
