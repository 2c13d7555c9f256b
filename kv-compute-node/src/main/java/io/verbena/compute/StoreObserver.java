package io.verbena.compute;

import io.verbena.compute.catalog.TableLister;
import io.verbena.compute.growth.GrowthScheduler;
import io.verbena.compute.memory.MemoryLink;
import io.verbena.protocol.bootstrap.MetaServerLocator;
import io.verbena.protocol.view.View;
import io.verbena.raas.OneSidedPort;
import io.verbena.rdma.verbs.Device;
import io.verbena.table.TableEngine;
import io.verbena.table.access.RegionAccess;
import io.verbena.table.check.RepairableStore;
import io.verbena.table.format.TableDescriptor;

import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.NanoClock;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A compute node that runs no operations, only looks: reads the memory of a live cluster by one-sided verbs, and takes
 * part in its epochs, so that what it has read belongs together while it {@link #hold holds}. It serves no clients and
 * leaves the chunks of ended nodes to others. The calling thread is the node's: it keeps the lease, so calls must not
 * be further apart than that lasts; when the lease is lost, each call throws. Closed by its opener, before the device.
 */
public final class StoreObserver implements RepairableStore, AutoCloseable
{
    private static final long JOIN_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);
    private static final long OTHERS_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);
    private static final long FINISH_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(60);
    private static final long CLOSE_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(5);
    /** Writers that fill their quarantine in less, 256 MiB, wait for the rest of it: a fifth of a client's timeout. */
    private static final long HOLD_NS = TimeUnit.SECONDS.toNanos(1);
    private static final long PAUSE_NS = TimeUnit.MICROSECONDS.toNanos(50);

    private final ComputeNode node;
    private final NanoClock clock;
    private final long timeoutNs;
    private NodeSession session;
    private ObservedGroups groups;
    private long heldSinceNs;

    private StoreObserver(final ComputeNode node, final NanoClock clock, final long timeoutNs)
    {
        this.node = node;
        this.clock = clock;
        this.timeoutNs = timeoutNs;
    }

    /**
     * Joins a cluster; blocks.
     *
     * @param device     to work on.
     * @param metaServer of the cluster.
     * @param timeoutNs  longest wait for one answer.
     * @return the observer.
     * @throws ComputeNodeException when it could not join in 10 s.
     */
    public static StoreObserver open(
        final Device device, final MetaServerLocator metaServer, final long timeoutNs)
    {
        final NanoClock clock = device.clock();
        final ComputeNode node = new ComputeNode(device, metaServer, new ComputeNodeConfiguration()
            .name("check").operationSlots(1).queueCapacity(2).locationCacheEntries(0).reclaims(false)
            .splitsSubtables(false).joinTimeoutNs(JOIN_TIMEOUT_NS), clock.nanoTime());
        final StoreObserver observer = new StoreObserver(node, clock, timeoutNs);
        final long deadlineNs = clock.nanoTime() + 2 * JOIN_TIMEOUT_NS;
        while (ComputeNode.State.SERVING != node.state())
        {
            if (0 == node.doWork())
            {
                LockSupport.parkNanos(PAUSE_NS);
            }
            if (ComputeNode.State.FAILED == node.state() || clock.nanoTime() - deadlineNs >= 0)
            {
                node.onClose();
                throw new ComputeNodeException("cannot join the cluster to read it: " + node.failure());
            }
        }
        observer.session = node.session();
        observer.groups = new ObservedGroups(
            observer.session.groups(), observer.session.parts().views(), observer::work, clock, timeoutNs);
        return observer;
    }

    /**
     * Waits until memory nodes that have ended have no lease any more, or can be reached again.
     *
     * @return ids of the memory nodes that there are, ascending.
     */
    public List<Integer> memoryNodeIds()
    {
        final long deadlineNs = clock.nanoTime() + timeoutNs;
        while (session.memoryLinks().all().stream().anyMatch(
            (link) -> !link.isReady() && !link.isUnregistered()) && clock.nanoTime() - deadlineNs < 0)
        {
            work(deadlineNs + timeoutNs, "memory nodes");
        }
        return session.memoryLinks().all().stream().filter((link) -> !link.isUnregistered())
            .map(MemoryLink::memoryNodeId).sorted().toList();
    }

    @Override
    public void read(
        final int memoryNodeId, final long offset, final MutableDirectBuffer target, final int lengthBytes)
    {
        if (isGroup(memoryNodeId))
        {
            readCopy(memoryNodeId, copyCount(memoryNodeId) - 1, offset, target, lengthBytes);
            return;
        }
        final MemoryLink link = link(memoryNodeId);
        final RegionAccess access = link.observerAccess();
        access.read(link.port(), offset, lengthBytes, (piece, pieceBytes, at) ->
            target.putBytes((int)(at - offset), piece, 0, pieceBytes));
        await(access, memoryNodeId);
    }

    @Override
    public void swap(final int memoryNodeId, final long offset, final long expected, final long desired)
    {
        if (isGroup(memoryNodeId))
        {
            groups.swap(memoryNodeId, offset, expected, desired);
            return;
        }
        final MemoryLink link = link(memoryNodeId);
        final OneSidedPort port = link.port();
        final long deadlineNs = clock.nanoTime() + timeoutNs;
        while (port.space() < 1)
        {
            work(deadlineNs, "room for a request to memory node " + memoryNodeId);
        }
        link.observerAccess().swap(port, offset, expected, desired);
        await(link.observerAccess(), memoryNodeId);
    }

    /** An id of a memory node is never that of a group. */
    private boolean isGroup(final int id)
    {
        return !session.memoryLinks().byId().containsKey(id) && groups.isGroup(id);
    }

    @Override
    public List<Integer> groupIds()
    {
        return groups.of(tables());
    }

    /** @return the newest view that is known of a group; null when there is none of this number. */
    public View view(final int group)
    {
        return groups.isGroup(group) ? session.parts().views().views().view(group) : null;
    }

    @Override
    public int copyCount(final int memoryNodeId)
    {
        return isGroup(memoryNodeId) ? groups.copyCount(memoryNodeId) : 1;
    }

    @Override
    public boolean isOfGroup(final int memoryNodeId)
    {
        return isGroup(memoryNodeId);
    }

    @Override
    public boolean hasChunksOf(final int memoryNodeId, final int group)
    {
        return group == (isGroup(memoryNodeId) ? memoryNodeId : 0);
    }

    @Override
    public void readCopy(
        final int memoryNodeId, final int copy, final long offset, final MutableDirectBuffer target,
        final int lengthBytes)
    {
        if (isGroup(memoryNodeId))
        {
            groups.read(memoryNodeId, copy, offset, target, lengthBytes);
        }
        else
        {
            read(memoryNodeId, offset, target, lengthBytes);
        }
    }

    private MemoryLink link(final int memoryNodeId)
    {
        final long deadlineNs = clock.nanoTime() + timeoutNs;
        for (final MemoryLink link : session.memoryLinks().all())
        {
            if (link.memoryNodeId() == memoryNodeId)
            {
                while (!link.isReady())
                {
                    work(deadlineNs, "memory node " + memoryNodeId + ", which cannot be reached: " + link.failure());
                }
                return link;
            }
        }
        throw new ComputeNodeException("there is no memory node " + memoryNodeId + ": there are " +
            session.memoryLinks().byId().keySet().stream().sorted().toList());
    }

    private void await(final RegionAccess access, final int memoryNodeId)
    {
        final long deadlineNs = clock.nanoTime() + timeoutNs;
        while (access.isBusy())
        {
            work(deadlineNs, "an answer of memory node " + memoryNodeId);
            access.poll();
        }
        if (access.hasFailed())
        {
            throw new ComputeNodeException("memory node " + memoryNodeId + " was lost while it was read");
        }
    }

    @Override
    public List<TableDescriptor> tables()
    {
        final TableLister lister = new TableLister(session.parts().metaLink(), timeoutNs, clock);
        final long deadlineNs = clock.nanoTime() + timeoutNs;
        lister.start();
        while (!lister.isDone())
        {
            lister.poll();
            work(deadlineNs, "the list of tables");
        }
        return lister.tables();
    }

    @Override
    public boolean isLive()
    {
        return true;
    }

    @Override
    public void hold()
    {
        session.engine().epochs().hold();
        heldSinceNs = clock.nanoTime();
    }

    @Override
    public boolean mayHoldOn()
    {
        return clock.nanoTime() - heldSinceNs < HOLD_NS;
    }

    @Override
    public void release()
    {
        session.engine().epochs().release();
    }

    @Override
    public boolean awaitOthers()
    {
        final TableEngine engine = session.engine();
        final long epoch = engine.epoch();
        final long deadlineNs = clock.nanoTime() + OTHERS_TIMEOUT_NS;
        engine.epochs().await(true);
        try
        {
            while (!engine.isReusable(epoch) && clock.nanoTime() - deadlineNs < 0)
            {
                work(deadlineNs + timeoutNs, "epochs");
            }
            return engine.isReusable(epoch);
        }
        finally
        {
            engine.epochs().await(false);
        }
    }

    @Override
    public void keepLease()
    {
        work(clock.nanoTime() + timeoutNs, "its heartbeat");
    }

    @Override
    public int finishSplits(final List<String> problems)
    {
        final GrowthScheduler growth = session.growth();
        final int before = growth.finishedCount();
        final long deadlineNs = clock.nanoTime() + FINISH_TIMEOUT_NS;
        growth.finishAll();
        while (growth.isFinishingAll() || session.isReturningIndex())
        {
            final String why = growth.finishFailure();
            work(deadlineNs, why.isEmpty() ? "splits to end" : "splits to end; last failure: " + why);
        }
        return growth.finishedCount() - before;
    }

    private void work(final long deadlineNs, final String what)
    {
        if (0 == node.doWork())
        {
            LockSupport.parkNanos(PAUSE_NS);
        }
        if (node.session() != session || ComputeNode.State.SERVING != node.state())
        {
            throw new ComputeNodeException("lost its lease while it looked, so what it saw counts for nothing: " +
                node.failure() + "; look again");
        }
        if (clock.nanoTime() - deadlineNs >= 0)
        {
            throw new ComputeNodeException("waited too long for " + what);
        }
    }

    /** Leaves the cluster, within 5 s or without being heard. */
    @Override
    public void close()
    {
        node.leave();
        final long deadlineNs = clock.nanoTime() + CLOSE_TIMEOUT_NS;
        while (ComputeNode.State.LEFT != node.state() && ComputeNode.State.FAILED != node.state() &&
            clock.nanoTime() - deadlineNs < 0)
        {
            if (0 == node.doWork())
            {
                LockSupport.parkNanos(PAUSE_NS);
            }
        }
        node.onClose();
    }

    @Override
    public String toString()
    {
        return "StoreObserver{" + node + '}';
    }
}
