package io.verbena.rdma.ibverbs.library;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Memory of a region that was allocated with it: pages of zeros, whose segment is closed with them. */
public final class RegionPages implements AutoCloseable
{
    private final Arena arena = Arena.ofShared();
    private final MemorySegment segment;

    @SuppressWarnings("restricted")
    private RegionPages(final long address, final long lengthBytes)
    {
        segment = MemorySegment.ofAddress(address)
            .reinterpret(lengthBytes, arena, pages -> CLibrary.unmapPages(address, lengthBytes));
    }

    /** Null when there is no memory. */
    public static RegionPages map(final long lengthBytes)
    {
        final long address = CLibrary.mapPages(lengthBytes);
        return address == 0 ? null : new RegionPages(address, lengthBytes);
    }

    public MemorySegment segment()
    {
        return segment;
    }

    /** From now on access by the segment throws; nobody may use the address. */
    @Override
    public void close()
    {
        arena.close();
    }
}
