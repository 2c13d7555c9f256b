package io.verbena.memory;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.table.format.ChunkDescriptor;
import io.verbena.table.format.FormatException;
import io.verbena.table.format.Superblock;
import io.verbena.table.format.SuperblockDescriptor;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.function.IntPredicate;

/**
 * The memory of a memory node that does not run, as it left it, for tools. Holds the node's folder, so that it cannot
 * be started meanwhile, and has cut off everybody. One thread; closed by its opener, before the fabric.
 */
public final class StoppedMemory implements AutoCloseable
{
    private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final MemoryFolder folder;
    private final Device device;
    private final ProtectionDomain domain;
    private final MemoryRegion region;
    private final Superblock superblock;

    private StoppedMemory(
        final MemoryFolder folder, final Device device, final ProtectionDomain domain, final MemoryRegion region,
        final Superblock superblock)
    {
        this.folder = folder;
        this.device = device;
        this.domain = domain;
        this.region = region;
        this.superblock = superblock;
    }

    /**
     * Opens the memory; what a kill left half done in its superblock and chunk headers is ended, as the node would.
     * Memory is never made and never removed here, however damaged: a copy, or another build, may still read it.
     *
     * @param fabric where the memory is.
     * @param folder of the node; closed with this, or when this fails.
     * @return the memory, or null when there is none: the node never had any, or it is in a checkpoint only.
     * @throws FormatException     when superblock or chunk headers are damaged beyond that.
     * @throws io.verbena.rdma.verbs.RdmaException when somebody has the memory.
     */
    public static StoppedMemory open(final Fabric fabric, final MemoryFolder folder)
    {
        Device device = null;
        ProtectionDomain domain = null;
        MemoryRegion region = null;
        StoppedMemory memory = null;

        try
        {
            if (0 == folder.nodeId() || !fabric.hasNamed(folder.memoryName()))
            {
                return null;
            }

            device = fabric.openDevice("stopped-" + folder.nodeId());
            domain = device.allocateProtectionDomain();
            region = domain.allocateNamed(folder.memoryName(), folder.regionLengthBytes(), AccessFlags.ALL_REMOTE);
            final Superblock superblock = SuperblockDescriptor.recover(region.segment());

            if (null != superblock)
            {
                new ChunkHeaders(region.segment(), superblock.chunkHeadersOffset(), superblock.chunkCount()).redo();
                memory = new StoppedMemory(folder, device, domain, region, superblock);
            }

            return memory;
        }
        finally
        {
            if (null == memory)
            {
                close(folder, device, domain, region);
            }
        }
    }

    /** @return id of the node. */
    public int nodeId()
    {
        return superblock.nodeId();
    }

    /** @return bytes of its region. */
    public long regionLengthBytes()
    {
        return region.lengthBytes();
    }

    /**
     * Reads bytes.
     *
     * @param offset      of the first one in the region.
     * @param target      filled from index 0.
     * @param lengthBytes how many.
     */
    public void read(final long offset, final MutableDirectBuffer target, final int lengthBytes)
    {
        final MemorySegment bytes = region.segment().asSlice(offset, lengthBytes);
        target.putBytes(0, new UnsafeBuffer(bytes.address(), lengthBytes), 0, lengthBytes);
    }

    /**
     * Writes bytes.
     *
     * @param offset      of the first one in the region.
     * @param source      holds them from index 0.
     * @param lengthBytes how many.
     */
    public void write(final long offset, final DirectBuffer source, final int lengthBytes)
    {
        final MemorySegment bytes = region.segment().asSlice(offset, lengthBytes);
        source.getBytes(0, new UnsafeBuffer(bytes.address(), lengthBytes), 0, lengthBytes);
    }

    /**
     * Swaps a word, if it is the expected one.
     *
     * @param offset   of the word in the region.
     * @param expected what it must be.
     * @param desired  what it becomes.
     */
    public void swap(final long offset, final long expected, final long desired)
    {
        if (region.segment().get(WORD, offset) == expected)
        {
            region.segment().set(WORD, offset, desired);
        }
    }

    /**
     * Frees chunks, each as a node frees what a compute node returns. Right only when no compute node lives that could
     * still think it has them.
     *
     * @param isUnused says of each chunk that is not free whether nothing in it is used.
     * @return how many were freed.
     */
    public int freeChunks(final IntPredicate isUnused)
    {
        final ChunkHeaders headers =
            new ChunkHeaders(region.segment(), superblock.chunkHeadersOffset(), superblock.chunkCount());
        int freed = 0;

        for (int i = 0; i < superblock.chunkCount(); i++)
        {
            final UnsafeBuffer header = headers.read(i);

            if (ChunkDescriptor.STATE_FREE != ChunkDescriptor.state(header, 0) && isUnused.test(i))
            {
                headers.write(i, ChunkDescriptor.STATE_FREE, null, null, ChunkDescriptor.leaseNumber(header, 0), 0,
                    0, 0, ChunkDescriptor.count(header, 0));
                freed++;
            }
        }

        headers.publish();
        return freed;
    }

    @Override
    public void close()
    {
        close(folder, device, domain, region);
    }

    private static void close(
        final MemoryFolder folder, final Device device, final ProtectionDomain domain, final MemoryRegion region)
    {
        if (null != region)
        {
            region.close();
        }

        if (null != domain)
        {
            domain.close();
        }

        if (null != device)
        {
            device.close();
        }

        folder.close();
    }
}
