package io.verbena.compute.maintenance;

import io.verbena.compute.session.SessionParts;
import io.verbena.protocol.control.MemoryNodeClient;
import io.verbena.protocol.message.ChunkLease;
import io.verbena.raas.OneSidedPort;
import io.verbena.table.access.RegionAccess;
import io.verbena.table.allocation.ChunkWatch;

/**
 * What a node does at one memory node beside operations: leases chunks for the engine, reclaims those of nodes that
 * ended and its own, returns indexes that nobody uses. It needs a connection that carries changes; leasing needs only
 * one that carries calls. Owned by the node's thread.
 */
public final class MemoryMaintenance implements AutoCloseable
{
    /** Cookie of the reclaimer's batches. */
    public static final int RECLAIM_COOKIE = ChunkWatch.COOKIE | 2;
    /** Cookie of the batches of the sweep of indexes. */
    public static final int SWEEP_COOKIE = ChunkWatch.COOKIE | 16;

    private final SessionParts session;
    private final ChunkWatch watch;
    private final ChunkLeaser leaser;
    private final RegionAccess reclaimAccess;
    private final Reclaimer reclaimer;
    private final IndexSweep indexSweep;
    private RegionAccess sweepAccess;
    /** Whether changes can be made: what is read over DC goes on by itself, whatever is needed for them begins then. */
    private boolean isConnected;
    private long newestOwnLease;
    private long indexRefusals;

    /**
     * @param session      that it is of.
     * @param memoryNodeId of the memory node.
     * @param watch        of its chunk headers; the caller polls and closes it.
     */
    public MemoryMaintenance(final SessionParts session, final int memoryNodeId, final ChunkWatch watch)
    {
        this.session = session;
        this.watch = watch;
        leaser = new ChunkLeaser(session.engine(), memoryNodeId, session.numbers(), session.timeoutNs(),
            session.metaLink().retryBackoff());
        reclaimAccess = access(RECLAIM_COOKIE);
        indexSweep = new IndexSweep(session, memoryNodeId, watch, this::sweepAccess);
        reclaimer = new Reclaimer(session, memoryNodeId, watch, reclaimAccess, indexSweep::ask);
    }

    private RegionAccess access(final int cookie)
    {
        return new RegionAccess(session.raas().protectionDomain(), cookie);
    }

    /** Made when it is first needed, which mostly is never. */
    private RegionAccess sweepAccess()
    {
        if (null == sweepAccess)
        {
            sweepAccess = access(SWEEP_COOKIE);
        }
        return sweepAccess;
    }

    /** There is a connection that carries changes. */
    public void connect(final MemoryNodeClient client, final OneSidedPort port)
    {
        isConnected = true;
        reclaimer.connect(session.reclaims() ? client : null, port);
        indexSweep.connect(session.reclaims() ? client : null, port);
    }

    /** The connection is lost. */
    public void disconnect()
    {
        isConnected = false;
        reclaimer.connect(null, null);
        indexSweep.connect(null, null);
    }

    /** @return whether there is a connection that carries changes. */
    public boolean isConnected()
    {
        return isConnected;
    }

    /** Goes on with leases; the client is null while the memory node cannot be reached. */
    public int pollLeases(final MemoryNodeClient client, final long nowNs)
    {
        return leaser.poll(client, nowNs);
    }

    /**
     * Goes on with reclamation and sweeps.
     *
     * @return work done.
     */
    public int poll()
    {
        return isConnected ? reclaimer.poll(leaser.refusals() + indexRefusals) + indexSweep.poll() : 0;
    }

    /** A batch of one of the cookies of this has ended. */
    public void onComplete(final int cookie, final int status)
    {
        (RECLAIM_COOKIE == cookie ? reclaimAccess : sweepAccess).onComplete(status);
    }

    /** @return true while something is under way, or waits for a connection that carries changes. */
    public boolean isBusy()
    {
        return !isConnected || leaser.isWaiting() || reclaimer.isBusy() || indexSweep.isBusy();
    }

    /** @return true while a claim of chunks is not answered. */
    public boolean isClaiming()
    {
        return Reclaimer.Step.CLAIMING == reclaimer.step();
    }

    /** @return true while a sweep of all own chunks has not ended, also when the memory node cannot be reached. */
    public boolean isSweeping()
    {
        return reclaimer.isSweeping();
    }

    /** @return true while chunks are being reclaimed, or should be. */
    public boolean isReclaiming()
    {
        return isConnected && (reclaimer.isDue() || indexSweep.isDue());
    }

    /** @return whether memory may be found by what is under way, here or at other nodes, or will be at once. */
    public boolean mayFindMemory()
    {
        return isReclaiming() || isConnected &&
            (reclaimer.isShort(leaser.refusals() + indexRefusals) || watch.view().hasOrphans());
    }

    /** @return which epoch may be passed: none in which memory may go to somebody else where a word is killed. */
    public long passableEpoch()
    {
        return reclaimer.passableEpoch();
    }

    /**
     * @return a lease that is not older than those by which all chunks were had that had been leased when the latest
     *     look began, and than those that this node has; 0 when no look was done yet.
     */
    public long newestLease()
    {
        return null == watch.view() ? 0 : Math.max(newestOwnLease, watch.view().newestLease());
    }

    /** Takes the number of a lease over; see {@link #newestLease}. */
    public void onLeased(final ChunkLease lease)
    {
        newestOwnLease = Math.max(newestOwnLease, lease.newestLease());
    }

    /** @return requests posted for this: reads of chunk headers, and reclamation. */
    public RegionAccess[] accesses()
    {
        return null == sweepAccess ? new RegionAccess[]{watch.access(), reclaimAccess} :
            new RegionAccess[]{watch.access(), reclaimAccess, sweepAccess};
    }

    /** Reclaims what is unnamed in this node's own chunks, and indexes that nobody uses. */
    public void sweepOwn()
    {
        reclaimer.sweepOwn();
    }

    /** There was no memory for an index. */
    public void onIndexRefused()
    {
        indexRefusals++;
    }

    /** Returns index chunks that nobody uses; see {@link IndexSweep}. */
    public void sweepIndexes()
    {
        indexSweep.ask();
    }

    /** Leases memory for blocks as soon as the connection allows; see {@code ChunkSource}. */
    public void requestChunk()
    {
        leaser.request();
    }

    @Override
    public void close()
    {
        reclaimAccess.close();
        if (null != sweepAccess)
        {
            sweepAccess.close();
        }
    }
}
