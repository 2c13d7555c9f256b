package io.verbena.memory;

import io.verbena.memory.checkpoint.RegionLoads;
import io.verbena.protocol.bootstrap.MetaServerLocator;
import io.verbena.rdma.verbs.Device;

import java.lang.foreign.MemorySegment;
import java.util.function.Function;

/**
 * Memory nodes with a folder on a simulated disk, and their checkpoints, where one thread does everything.
 */
public final class DurableNodes
{
    public static final int SUPERBLOCK_LAST = DurabilityGuard.SUPERBLOCK_LAST;
    public static final int OUTDATED = DurabilityGuard.OUTDATED;
    public static final int ORPHAN_UNLESS = DurabilityGuard.ORPHAN_UNLESS;
    public static final int SUPERBLOCK_FIRST = DurabilityGuard.SUPERBLOCK_FIRST;
    public static final int WALK = DurabilityGuard.WALK;
    public static final int STATE_LAST = DurabilityGuard.STATE_LAST;
    public static final int WHOLE_BLOCK = DurabilityGuard.WHOLE_BLOCK;
    public static final int CLAIM = DurabilityGuard.CLAIM;
    public static final int FOLLOW_FROZEN = DurabilityGuard.FOLLOW_FROZEN;
    public static final int LOOK_AGAIN = DurabilityGuard.LOOK_AGAIN;
    public static final int REMOVE_LAST = DurabilityGuard.REMOVE_LAST;
    public static final int CUT_OFF = FenceGuard.CUT_OFF;

    private DurableNodes()
    {
    }

    /** The node of a disk's folder, with some steps left out. */
    public static MemoryNode open(
        final Device device,
        final MetaServerLocator metaServer,
        final MemoryNodeConfiguration configuration,
        final SimDisk disk,
        final int droppedGuards)
    {
        final MemoryFolder folder = disk.open(configuration.regionLengthBytes());
        return MemoryNode.open(
            device, metaServer, configuration.folder(folder).noCheckpointThread().dropGuards(droppedGuards));
    }

    /** Name of the memory of the node that opened the disk last. */
    public static String memoryName(final SimDisk disk)
    {
        return disk.folder().memoryName();
    }

    /** Makes a checkpoint; why not, or empty. */
    public static String checkpoint(final MemoryNode node, final Function<MemorySegment, RegionLoads> loads)
    {
        node.checkpointer().make(loads);
        return node.checkpointer().failure();
    }
}
