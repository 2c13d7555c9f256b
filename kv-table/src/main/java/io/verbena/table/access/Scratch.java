package io.verbena.table.access;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.SizeClasses;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * Registered memory of all operation slots, one range each. Only the owner thread and the device touch it; the device
 * only between posting and completion.
 *
 * <pre>
 *  +-----------+-------+----------------------+------------------------+------------+-------------+---------+
 *  | CAS words | slot  | two combined buckets | those they come from   | own block  | blocks read | stagger |
 *  +-----------+-------+----------------------+------------------------+------------+-------------+---------+
 *     256         64       2 * 128                2 * 128                98,304       98,304        320
 * </pre>
 */
public final class Scratch implements AutoCloseable
{
    /** Results of compare-and-swaps, 8 bytes each; more than a pair of combined buckets has slots. */
    public static final int SWAPS_OFFSET = 0;
    public static final int MAX_SWAPS = 32;
    public static final int SLOT_OFFSET = SWAPS_OFFSET + MAX_SWAPS * Long.BYTES;
    public static final int BUCKETS_OFFSET = SLOT_OFFSET + 64;
    /** The same buckets of the subtable that is split into the one of the others. */
    public static final int OLD_BUCKETS_OFFSET = BUCKETS_OFFSET + 2 * BucketDescriptor.COMBINED_BYTES;
    public static final int OWN_BLOCK_OFFSET = OLD_BUCKETS_OFFSET + 2 * BucketDescriptor.COMBINED_BYTES;
    public static final int BLOCKS_OFFSET = OWN_BLOCK_OFFSET + SizeClasses.MAX_BLOCK_BYTES;
    public static final int BLOCKS_CAPACITY = SizeClasses.MAX_BLOCK_BYTES;
    // Odd in lines, so that the same field of many slots does not fall into the same set of the CPU's caches.
    private static final int STAGGER_BYTES = 4 * 64;
    public static final int SLOT_STRIDE = BLOCKS_OFFSET + BLOCKS_CAPACITY + STAGGER_BYTES;

    private static final int MAX_LOOP_BYTES = 256;
    private static final long ARRAY_BASE = UnsafeApi.arrayBaseOffset(byte[].class);
    private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG_UNALIGNED;
    private static final ValueLayout.OfInt HALF_WORD = ValueLayout.JAVA_INT_UNALIGNED;

    public final MemoryRegion region;
    public final UnsafeBuffer buffer;
    public final MemorySegment segment;
    public final long address;

    public Scratch(final ProtectionDomain protectionDomain, final long lengthBytes)
    {
        region = protectionDomain.allocateRegistered(lengthBytes, AccessFlags.LOCAL_WRITE);
        segment = region.segment();
        address = segment.address();
        buffer = new UnsafeBuffer(address, Math.toIntExact(lengthBytes));
    }

    /** Copies in, word by word while that is faster than a call of the JDK's copy. */
    public void copyFrom(final MemorySegment source, final long sourceOffset, final int offset, final int lengthBytes)
    {
        if (lengthBytes > MAX_LOOP_BYTES)
        {
            MemorySegment.copy(source, sourceOffset, segment, offset, lengthBytes);
            return;
        }
        Objects.checkFromIndexSize(offset, lengthBytes, buffer.capacity());
        final long target = address + offset;
        int i = 0;
        for (; i <= lengthBytes - Long.BYTES; i += Long.BYTES)
        {
            UnsafeApi.putLong(target + i, source.get(WORD, sourceOffset + i));
        }
        if (i <= lengthBytes - Integer.BYTES)
        {
            UnsafeApi.putInt(target + i, source.get(HALF_WORD, sourceOffset + i));
            i += Integer.BYTES;
        }
        for (; i < lengthBytes; i++)
        {
            UnsafeApi.putByte(target + i, source.get(ValueLayout.JAVA_BYTE, sourceOffset + i));
        }
    }

    /** As {@link #copyFrom(MemorySegment, long, int, int)}, the first bytes of an array. */
    public void copyFrom(final byte[] source, final int offset, final int lengthBytes)
    {
        Objects.checkFromIndexSize(0, lengthBytes, source.length);
        if (lengthBytes > MAX_LOOP_BYTES)
        {
            MemorySegment.copy(source, 0, segment, ValueLayout.JAVA_BYTE, offset, lengthBytes);
            return;
        }
        Objects.checkFromIndexSize(offset, lengthBytes, buffer.capacity());
        final long target = address + offset;
        int i = 0;
        for (; i <= lengthBytes - Long.BYTES; i += Long.BYTES)
        {
            UnsafeApi.putLong(target + i, UnsafeApi.getLong(source, ARRAY_BASE + i));
        }
        if (i <= lengthBytes - Integer.BYTES)
        {
            UnsafeApi.putInt(target + i, UnsafeApi.getInt(source, ARRAY_BASE + i));
            i += Integer.BYTES;
        }
        for (; i < lengthBytes; i++)
        {
            UnsafeApi.putByte(target + i, source[i]);
        }
    }

    /**
     * Copies out, word by word: what a READ has just stored word by word can be loaded in wider pieces only when it has
     * left the processor's store buffer.
     */
    public void copyTo(final int offset, final MemorySegment target, final long targetOffset, final int lengthBytes)
    {
        if (lengthBytes > MAX_LOOP_BYTES)
        {
            MemorySegment.copy(segment, offset, target, targetOffset, lengthBytes);
            return;
        }
        Objects.checkFromIndexSize(offset, lengthBytes, buffer.capacity());
        final long source = address + offset;
        int i = 0;
        for (; i <= lengthBytes - Long.BYTES; i += Long.BYTES)
        {
            target.set(WORD, targetOffset + i, UnsafeApi.getLong(source + i));
        }
        if (i <= lengthBytes - Integer.BYTES)
        {
            target.set(HALF_WORD, targetOffset + i, UnsafeApi.getInt(source + i));
            i += Integer.BYTES;
        }
        for (; i < lengthBytes; i++)
        {
            target.set(ValueLayout.JAVA_BYTE, targetOffset + i, UnsafeApi.getByte(source + i));
        }
    }

    /** As {@link #copyTo(int, MemorySegment, long, int)}, to the beginning of an array, of which no segment is made. */
    public void copyTo(final int offset, final byte[] target, final int lengthBytes)
    {
        Objects.checkFromIndexSize(0, lengthBytes, target.length);
        if (lengthBytes > MAX_LOOP_BYTES)
        {
            MemorySegment.copy(segment, ValueLayout.JAVA_BYTE, offset, target, 0, lengthBytes);
            return;
        }
        Objects.checkFromIndexSize(offset, lengthBytes, buffer.capacity());
        final long source = address + offset;
        int i = 0;
        for (; i <= lengthBytes - Long.BYTES; i += Long.BYTES)
        {
            UnsafeApi.putLong(target, ARRAY_BASE + i, UnsafeApi.getLong(source + i));
        }
        if (i <= lengthBytes - Integer.BYTES)
        {
            UnsafeApi.putInt(target, ARRAY_BASE + i, UnsafeApi.getInt(source + i));
            i += Integer.BYTES;
        }
        for (; i < lengthBytes; i++)
        {
            target[i] = UnsafeApi.getByte(source + i);
        }
    }

    public long word(final int offset)
    {
        return buffer.getLong(offset, LITTLE_ENDIAN);
    }

    public void word(final int offset, final long word)
    {
        buffer.putLong(offset, word, LITTLE_ENDIAN);
    }

    @Override
    public void close()
    {
        region.close();
    }
}
