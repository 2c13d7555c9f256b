package io.verbena.memory;

import io.verbena.raas.PeerIdentity;
import io.verbena.table.format.ChunkDescriptor;
import io.verbena.table.format.SuperblockDescriptor;
import org.agrona.concurrent.UnsafeBuffer;

import java.lang.foreign.MemorySegment;

/**
 * Shows the chunk table to clients: one header for each chunk behind the last chunk of the region, and the view version
 * in the superblock's page, which grows after headers have changed. One thread.
 */
final class ChunkHeaders
{
    private final MemorySegment region;
    private final MemorySegment headers;
    private final UnsafeBuffer header = new UnsafeBuffer();
    private long version;
    private boolean hasChanged;

    /**
     * @param region        from its first byte.
     * @param headersOffset of the first header.
     * @param chunkCount    headers.
     */
    ChunkHeaders(final MemorySegment region, final long headersOffset, final int chunkCount)
    {
        this.region = region;
        headers = region.asSlice(headersOffset, (long)chunkCount * ChunkDescriptor.HEADER_BYTES);
        version = SuperblockDescriptor.viewVersion(region);
    }

    /** Writes one header; {@link #publish} tells of it. */
    void write(
        final int index, final int state, final PeerIdentity owner, final PeerIdentity reaper, final long leaseNumber)
    {
        header.wrap(
            headers.address() + (long)index * ChunkDescriptor.HEADER_BYTES, ChunkDescriptor.HEADER_BYTES);
        ChunkDescriptor.write(
            header,
            0,
            state,
            null == owner ? 0 : owner.nodeId(),
            null == owner ? 0 : owner.incarnation(),
            null == reaper ? 0 : reaper.nodeId(),
            null == reaper ? 0 : reaper.incarnation(),
            leaseNumber);
        hasChanged = true;
    }

    /** Raises the view version if a header has changed since the last time; release. */
    void publish()
    {
        if (hasChanged)
        {
            hasChanged = false;
            SuperblockDescriptor.writeViewVersion(region, ++version);
        }
    }
}
