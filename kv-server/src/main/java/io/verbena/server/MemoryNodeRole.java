package io.verbena.server;

import io.verbena.control.bootstrap.MetaServerLocator;
import io.verbena.memory.MemoryFolder;
import io.verbena.memory.MemoryNode;
import io.verbena.memory.MemoryNodeConfiguration;
import io.verbena.memory.MemoryNodeState;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Fabric;

import java.util.LinkedHashMap;
import java.util.Map;

/** A memory node. */
public final class MemoryNodeRole implements Role
{
    private final Device device;
    private final MemoryNode node;
    private final MemoryFolder folder;
    private final long regionLengthBytes;
    private volatile int nodeId;
    private volatile int incarnation;
    private volatile MemoryNodeState state;
    private boolean draining;

    private MemoryNodeRole(
        final Device device, final MemoryNode node, final MemoryFolder folder, final long regionLengthBytes)
    {
        this.folder = folder;
        this.device = device;
        this.node = node;
        this.regionLengthBytes = regionLengthBytes;
        state = node.state();
    }

    /**
     * Starts a memory node; it joins while it is run.
     *
     * @param fabric      open; closed by the caller after the role.
     * @param metaServer  to join.
     * @param lengthBytes registered memory.
     * @return the role.
     */
    public static MemoryNodeRole open(final Fabric fabric, final MetaServerLocator metaServer, final long lengthBytes)
    {
        return open(fabric, metaServer, new MemoryNodeConfiguration().regionLengthBytes(lengthBytes), null);
    }

    /**
     * Starts a memory node whose memory outlives its process.
     *
     * @param fabric     open; closed by the caller after the role.
     * @param metaServer to join.
     * @param folder     says who the node is; closed by the role, also when this throws.
     * @return the role.
     * @throws io.verbena.memory.MemoryNodeException when its memory is gone, or damaged.
     */
    public static MemoryNodeRole open(
        final Fabric fabric, final MetaServerLocator metaServer, final MemoryFolder folder)
    {
        return open(fabric, metaServer, new MemoryNodeConfiguration().folder(folder), folder);
    }

    private static MemoryNodeRole open(
        final Fabric fabric, final MetaServerLocator metaServer, final MemoryNodeConfiguration configuration,
        final MemoryFolder folder)
    {
        final Device device = fabric.openDevice("memory-" + ProcessHandle.current().pid());
        try
        {
            return new MemoryNodeRole(
                device, MemoryNode.open(device, metaServer, configuration), folder, configuration.regionLengthBytes());
        }
        catch (final RuntimeException ex)
        {
            new Closing().step(device::close).step(() -> close(folder));
            throw ex;
        }
    }

    @Override
    public String name()
    {
        return "memory-node";
    }

    @Override
    public Device device()
    {
        return device;
    }

    @Override
    public int doWork()
    {
        final int work = node.doWork();
        nodeId = node.nodeId();
        incarnation = node.incarnation();
        state = node.state();
        return work;
    }

    @Override
    public boolean isReady()
    {
        return node.isReady();
    }

    @Override
    public String failure()
    {
        return MemoryNodeState.FAILED == state ? "memory node failed: " + node.failure() : "";
    }

    /** One-sided requests go on until the memory is closed: there is nothing to finish. */
    @Override
    public void drain()
    {
        draining = true;
    }

    @Override
    public boolean isDrained()
    {
        return draining;
    }

    @Override
    public Map<String, Object> health()
    {
        final Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("node_id", nodeId);
        figures.put("incarnation", incarnation);
        figures.put("meta_server", node.isMetaServerAway() ? "away" : "reached");
        figures.put("state", state.name());
        figures.put("memory_bytes", regionLengthBytes);
        return figures;
    }

    @Override
    public void close()
    {
        new Closing().step(node::close).step(device::close).step(() -> close(folder)).throwIfFailed();
    }

    private static void close(final MemoryFolder folder)
    {
        if (null != folder)
        {
            folder.close();
        }
    }
}
