package io.verbena.memory;

import io.verbena.memory.checkpoint.CheckpointStore;
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
    private DurableNodes()
    {
    }

    /** The node of a disk's folder. */
    public static MemoryNode open(
        final Device device,
        final MetaServerLocator metaServer,
        final MemoryNodeConfiguration configuration,
        final SimDisk disk)
    {
        final MemoryFolder folder = disk.open(configuration.regionLengthBytes());
        return MemoryNode.open(device, metaServer, configuration.folder(folder).noCheckpointThread());
    }

    /** Name of the memory of the node that opened the disk last. */
    public static String memoryName(final SimDisk disk)
    {
        return disk.folder().memoryName();
    }

    /** When the last complete checkpoint of a group began, ms; 0: there is none. */
    public static long groupCheckpointStartedMs(final SimDisk disk, final int group)
    {
        try (CheckpointStore store = disk.look(FolderFiles.GROUP_CHECKPOINT + group))
        {
            return Long.parseLong(store.state().getProperty("started_ms", "0"));
        }
    }

    /**
     * Makes a checkpoint; why not, or empty.
     *
     * @param meanwhile done again and again until the node knows its views.
     */
    public static String checkpoint(
        final MemoryNode node, final Function<MemorySegment, RegionLoads> loads, final Runnable meanwhile)
    {
        node.checkpointer().pause(meanwhile);
        node.checkpointer().make(loads);
        return node.checkpointer().failure();
    }

    /** Makes a checkpoint of groups of which the node has become head or primary; whether it did. */
    public static boolean checkpointOfNewGroups(
        final MemoryNode node, final Function<MemorySegment, RegionLoads> loads, final Runnable meanwhile)
    {
        node.checkpointer().pause(meanwhile);
        return node.checkpointer().makeWanted(loads);
    }
}
