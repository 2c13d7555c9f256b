package io.verbena.memory;

import io.verbena.memory.checkpoint.CheckpointException;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.table.format.FormatException;
import io.verbena.table.format.Superblock;
import io.verbena.table.format.SuperblockDescriptor;

import org.agrona.concurrent.SystemEpochClock;

/** Makes a checkpoint of a memory node that does not run, out of the memory that it left. Stateless. */
public final class OfflineCheckpoint
{
    private OfflineCheckpoint()
    {
    }

    /**
     * @param fabric where the memory is.
     * @param folder of the node.
     * @return whether its memory has chunks of a group of memory nodes: a checkpoint has no leases of these, and brings
     *     records back at other offsets than the other members have them.
     */
    public static boolean hasCopies(final Fabric fabric, final MemoryFolder folder)
    {
        if (0 == folder.nodeId() || !fabric.hasNamed(folder.memoryName()))
        {
            return false;
        }

        try (Device device = fabric.openDevice("copies");
            ProtectionDomain domain = device.allocateProtectionDomain();
            MemoryRegion region =
                domain.allocateNamed(folder.memoryName(), folder.regionLengthBytes(), AccessFlags.ALL_REMOTE))
        {
            final Superblock superblock = SuperblockDescriptor.recover(region.segment());
            return null != superblock && new ChunkHeaders(
                region.segment(), superblock.chunkHeadersOffset(), superblock.chunkCount()).hasGroups();
        }
    }

    /**
     * Makes the checkpoint; blocks.
     *
     * @param fabric where the memory is.
     * @param folder of the node.
     * @return false when there is nothing to make one of: the node was never a member.
     * @throws CheckpointException when it cannot be made.
     * @throws MemoryNodeException when its result cannot be written down.
     */
    public static boolean make(final Fabric fabric, final MemoryFolder folder)
    {
        if (0 == folder.nodeId())
        {
            return false;
        }

        if (!fabric.hasNamed(folder.memoryName()))
        {
            // The host was restarted, say: what there is, is in the checkpoint before. No memory is made to look at.
            return true;
        }

        try (Device device = fabric.openDevice("checkpoint");
            ProtectionDomain domain = device.allocateProtectionDomain();
            MemoryRegion region =
                domain.allocateNamed(folder.memoryName(), folder.regionLengthBytes(), AccessFlags.ALL_REMOTE))
        {
            final Superblock superblock = SuperblockDescriptor.recover(region.segment());

            if (null == superblock || RegionAdoption.isOutdated(superblock, folder))
            {
                // A start that was killed before it let anybody in: what there is, is in the checkpoint before.
                return true;
            }

            new ChunkHeaders(region.segment(), superblock.chunkHeadersOffset(), superblock.chunkCount()).redo();
            final Checkpointer checkpointer =
                new Checkpointer(folder, region.segment(), 0, device.clock(), SystemEpochClock.INSTANCE);
            checkpointer.make();

            if (!checkpointer.failure().isEmpty())
            {
                throw new CheckpointException(checkpointer.failure(), null);
            }

            return true;
        }
        catch (final FormatException ex)
        {
            throw new CheckpointException("no checkpoint of " + folder.path() + ": " + ex.getMessage(), ex);
        }
    }
}
