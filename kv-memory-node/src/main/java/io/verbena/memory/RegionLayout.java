package io.verbena.memory;

import io.verbena.raas.RaasContext;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.table.format.ChunkDescriptor;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.Superblock;
import io.verbena.table.format.SuperblockDescriptor;

/** A region, and where what is in it, out of the configuration of its node. Stateless. */
final class RegionLayout
{
    private static final int MIN_CHUNK_LENGTH_BYTES = 64 << 10;
    private static final int MAX_CHUNK_LENGTH_BYTES = 1 << 20;

    private RegionLayout()
    {
    }

    /** What the superblock says of a region of a node with this id and incarnation. */
    static Superblock superblock(final MemoryNodeConfiguration configuration, final int nodeId, final int incarnation)
    {
        return new Superblock(
            nodeId,
            incarnation,
            configuration.regionLengthBytes(),
            SuperblockDescriptor.SPACE_BYTES,
            configuration.chunkLengthBytes(),
            chunkCount(configuration),
            headersOffset(configuration));
    }

    static int chunkCount(final MemoryNodeConfiguration configuration)
    {
        return (int)((configuration.regionLengthBytes() - SuperblockDescriptor.SPACE_BYTES) /
            (configuration.chunkLengthBytes() + ChunkDescriptor.HEADER_BYTES));
    }

    /** Headers follow the last chunk, so that chunks keep to their alignment. */
    static long headersOffset(final MemoryNodeConfiguration configuration)
    {
        return SuperblockDescriptor.SPACE_BYTES +
            (long)chunkCount(configuration) * configuration.chunkLengthBytes();
    }

    /** The table of its chunks, as it was found, or all free. */
    static ChunkTable chunks(
        final MemoryRegion region, final MemoryNodeConfiguration configuration, final boolean isFound)
    {
        final int count = chunkCount(configuration);
        final ChunkHeaders headers = new ChunkHeaders(region.segment(), headersOffset(configuration), count);
        return isFound ?
            ChunkTable.restore(SuperblockDescriptor.SPACE_BYTES, configuration.chunkLengthBytes(), count, headers,
                configuration.acceptsDamage()) :
            new ChunkTable(SuperblockDescriptor.SPACE_BYTES, configuration.chunkLengthBytes(), count, headers);
    }

    static void checkSizes(final MemoryNodeConfiguration configuration)
    {
        final int chunkLengthBytes = configuration.chunkLengthBytes();

        if (chunkLengthBytes < MIN_CHUNK_LENGTH_BYTES || chunkLengthBytes > MAX_CHUNK_LENGTH_BYTES ||
            1 != Integer.bitCount(chunkLengthBytes))
        {
            throw new MemoryNodeException("chunkLengthBytes=" + chunkLengthBytes + " must be a power of two from " +
                MIN_CHUNK_LENGTH_BYTES + " to " + MAX_CHUNK_LENGTH_BYTES, null);
        }

        final long leastBytes = SuperblockDescriptor.SPACE_BYTES + (long)chunkLengthBytes +
            ChunkDescriptor.HEADER_BYTES;

        if (configuration.regionLengthBytes() < leastBytes ||
            configuration.regionLengthBytes() > SlotWord.ADDRESSABLE_BYTES)
        {
            throw new MemoryNodeException("regionLengthBytes=" + configuration.regionLengthBytes() + " must be from " +
                leastBytes + " (superblock and one chunk with its header) to " + SlotWord.ADDRESSABLE_BYTES +
                " (what a slot word can name)", null);
        }
    }

    /**
     * The region, registered: found again under its name where the node has a folder, else new. Its own key is for
     * reading, by nodes that are being connected: what changes it comes under the {@linkplain IdentityKeys keys} of
     * nodes.
     */
    static MemoryRegion allocate(final RaasContext raas, final MemoryNodeConfiguration configuration)
    {
        final long lengthBytes = configuration.regionLengthBytes();
        final int rights = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ;

        try
        {
            return null == configuration.folder() ?
                raas.protectionDomain().allocateRegistered(lengthBytes, rights) :
                raas.protectionDomain().allocateNamed(
                    configuration.folder().memoryName(), lengthBytes, rights);
        }
        catch (final RdmaException ex)
        {
            throw new MemoryNodeException(
                "memory node needs " + lengthBytes + " bytes of registered memory: " + ex.getMessage(), ex);
        }
    }
}
