package io.verbena.rdma.conformance.remote;

import io.verbena.rdma.verbs.MemoryRegion;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

/** Looks into registered memory and changes it, as its owner would; also where the owner is another process. */
public final class RegionMemory
{
    /** A region whose memory is not mapped here. */
    public interface Elsewhere
    {
        /**
         * @param offset      of the first byte.
         * @param lengthBytes to read.
         * @return the bytes.
         */
        byte[] peek(long offset, int lengthBytes);

        /**
         * @param offset of the first byte.
         * @param bytes  to store.
         */
        void poke(long offset, byte[] bytes);
    }

    private RegionMemory()
    {
    }

    /** @return bytes of a region. */
    public static byte[] bytes(final MemoryRegion region, final long offset, final int lengthBytes)
    {
        return region instanceof final Elsewhere elsewhere ?
            elsewhere.peek(offset, lengthBytes) : region.segment().asSlice(offset, lengthBytes).toArray(JAVA_BYTE);
    }

    /** Stores bytes in a region. */
    public static void put(final MemoryRegion region, final long offset, final byte[] bytes)
    {
        if (region instanceof final Elsewhere elsewhere)
        {
            elsewhere.poke(offset, bytes);
        }
        else
        {
            MemorySegment.copy(bytes, 0, region.segment(), JAVA_BYTE, offset, bytes.length);
        }
    }

    /** @return a native-order word of a region. */
    public static long getLong(final MemoryRegion region, final long offset)
    {
        return ByteBuffer.wrap(bytes(region, offset, Long.BYTES)).order(ByteOrder.nativeOrder()).getLong();
    }

    /** Stores a native-order word in a region. */
    public static void putLong(final MemoryRegion region, final long offset, final long value)
    {
        put(region, offset, ByteBuffer.allocate(Long.BYTES).order(ByteOrder.nativeOrder()).putLong(value).array());
    }
}
