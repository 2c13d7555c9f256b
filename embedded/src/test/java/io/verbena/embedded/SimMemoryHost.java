package io.verbena.embedded;

import io.verbena.memory.DurableNodes;
import io.verbena.memory.MemoryNode;
import io.verbena.memory.MemoryNodeConfiguration;
import io.verbena.memory.MemoryNodeState;
import io.verbena.memory.SimCrash;
import io.verbena.memory.SimDisk;
import io.verbena.memory.checkpoint.RegionLoads;
import io.verbena.protocol.bootstrap.MetaServerLocator;
import io.verbena.rdma.sim.SimNode;
import io.verbena.rdma.sim.SimWorld;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.DirectoryEntry;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.TableDescriptor;

import org.agrona.concurrent.Agent;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * A simulated host with a memory node. With a disk, the node can end at any step, and the next process of the host is
 * the same node again; the host can end too, with its memory and what the disk had not synced.
 */
final class SimMemoryHost
{
    private static final long PAUSE_NS = 20_000;

    private final SimWorld world;
    private final String name;
    private final Supplier<MetaServerLocator> metaServer;
    private final Supplier<MemoryNodeConfiguration> configuration;
    private final SimDisk disk;
    private Consumer<MemoryNode> onReady = (ready) -> { };
    private SimNode machine;
    private MemoryNode node;
    private String memoryName;
    private int nodeId;
    private int lives;

    /** @param disk null for a node without a folder. */
    SimMemoryHost(
        final SimWorld world,
        final String name,
        final Supplier<MetaServerLocator> metaServer,
        final Supplier<MemoryNodeConfiguration> configuration,
        final SimDisk disk)
    {
        this.world = world;
        this.name = name;
        this.metaServer = metaServer;
        this.configuration = configuration;
        this.disk = disk;
    }

    SimNode machine()
    {
        return machine;
    }

    MemoryNode node()
    {
        return node;
    }

    SimDisk disk()
    {
        return disk;
    }

    /** @return of its node, 0 before it has joined. */
    int nodeId()
    {
        return nodeId;
    }

    boolean isReady()
    {
        return machine.isRunning() && node != null && node.isReady();
    }

    boolean isDead()
    {
        return machine.device().isKilled();
    }

    /** Called once for each life, when the node is ready and nobody can have reached it yet. */
    void onReady(final Consumer<MemoryNode> newOnReady)
    {
        onReady = newOnReady;
    }

    /** Starts a process; the one before has ended. It may end at once, when the disk says so. */
    void start()
    {
        lives++;
        machine = world.addNode(1 == lives ? name : name + "-" + lives);
        node = null;
        try
        {
            node = null == disk ?
                MemoryNode.open(machine.device(), metaServer.get(), configuration.get()) :
                DurableNodes.open(machine.device(), metaServer.get(), configuration.get(), disk);
            memoryName = null == disk ? null : DurableNodes.memoryName(disk);
            machine.addAgent(new Watched(node, machine));
        }
        catch (final SimCrash ex)
        {
            killProcess();
        }
    }

    void killProcess()
    {
        machine.kill();
        if (null != disk)
        {
            disk.calm();
            disk.endProcess();
        }
    }

    /** The process ends at its so manieth step on the disk. */
    void killInDiskSteps(final long steps)
    {
        disk.crashIn(steps, () -> machine.kill());
    }

    void loseHost()
    {
        killProcess();
        disk.loseHost();
        world.fabric().discardNamed(memoryName);
    }

    /** Makes the first slot of a table name a block where none can be; while no process has the memory. */
    void damage(final TableDescriptor table)
    {
        final SimNode vandal = world.addNode("vandal");
        final MemoryRegion region = vandal.device().allocateProtectionDomain().allocateNamed(
            memoryName, node.stat().regionLengthBytes(), AccessFlags.ALL_REMOTE);
        final long slot = DirectoryEntry.subtableOffset(table.entry(0)) + SubtableDescriptor.GROUPS_OFFSET +
            BucketDescriptor.SLOTS_OFFSET;
        region.segment().set(ValueLayout.JAVA_LONG, slot, SlotWord.committed(1, 0, 0, 0, 64));
        vandal.kill();
    }

    /** Makes a checkpoint; false when the node ended over it. */
    boolean checkpoint(final Function<MemorySegment, RegionLoads> loads)
    {
        try
        {
            final String failure = DurableNodes.checkpoint(node, loads, () -> world.runFor(PAUSE_NS));
            if (!failure.isEmpty() && !isDead())
            {
                throw world.failure("no checkpoint: " + failure, null);
            }
        }
        catch (final SimCrash ex)
        {
            killProcess();
        }
        return !isDead();
    }

    /** Makes a checkpoint where the node has become head or primary; whether it did. */
    boolean checkpointNewGroups(final Function<MemorySegment, RegionLoads> loads)
    {
        return DurableNodes.checkpointOfNewGroups(node, loads, () -> world.runFor(PAUSE_NS));
    }

    /** Ends with its machine, and tells when it is ready. */
    private final class Watched implements Agent
    {
        private final MemoryNode watched;
        private final SimNode on;
        private boolean wasReady;

        private Watched(final MemoryNode watched, final SimNode on)
        {
            this.watched = watched;
            this.on = on;
        }

        @Override
        public int doWork()
        {
            int workCount = 0;
            try
            {
                workCount = watched.doWork();
            }
            catch (final SimCrash ex)
            {
                on.kill();
            }
            if (!wasReady && watched.isReady() && !on.device().isKilled())
            {
                wasReady = true;
                if (0 != nodeId && nodeId != watched.nodeId())
                {
                    throw world.failure("node " + nodeId + " has become node " + watched.nodeId(), null);
                }
                nodeId = watched.nodeId();
                onReady.accept(watched);
            }
            if (MemoryNodeState.FAILED == watched.state() && !on.device().isKilled())
            {
                throw world.failure("memory node failed: " + watched.failure(), null);
            }
            return workCount;
        }

        @Override
        public void onClose()
        {
            watched.onClose();
        }

        @Override
        public String roleName()
        {
            return watched.roleName();
        }
    }
}
