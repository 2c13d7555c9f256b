package io.verbena.compute.memory;

import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.message.ChunkLease;
import io.verbena.protocol.message.ChunkPurpose;
import io.verbena.protocol.message.ChunkRun;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.raas.failure.Backoff;
import io.verbena.table.TableEngine;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.List;

/**
 * Index chunks of one memory node on their way back: of a table that this node dropped, of subtables whose split or
 * merge it made known, or leased for what came to nothing. Those that others may have used go when no node begins
 * anything on them any more and everything begun on them has ended; a lease whose answer was lost is asked for again
 * first.
 *
 * <p>Calls are made until they are answered. That is safe since a return says which leases it means: what was leased
 * later to somebody else is left alone. Owned by the node's thread.
 */
final class IndexReturn
{
    private static final Logger LOGGER = LoggerFactory.getLogger(IndexReturn.class);
    /** Before any epoch: nobody but this node ever knew of the chunks. */
    private static final long NEVER_USED = Long.MIN_VALUE / 2;

    private final String tableName;
    private final int memoryNodeId;
    private final long unusedEpoch;
    private final long requestId;
    private final int chunkCount;
    private final Backoff backoff;
    private List<ChunkRun> runs;
    private long newestLease;
    private ControlCall<ChunkLease> asking;
    private ControlCall<Void> returning;
    private boolean isPausing;
    private long pauseUntilNs;
    private boolean isDone;

    private IndexReturn(
        final String tableName, final int memoryNodeId, final List<ChunkRun> runs, final long newestLease,
        final long unusedEpoch, final long requestId, final int chunkCount, final Backoff backoff)
    {
        this.tableName = tableName;
        this.memoryNodeId = memoryNodeId;
        this.runs = runs;
        this.newestLease = newestLease;
        this.unusedEpoch = unusedEpoch;
        this.requestId = requestId;
        this.chunkCount = chunkCount;
        this.backoff = backoff;
    }

    /**
     * @param newestLease older than any by which somebody else can have the chunks; they stay taken until they are
     *                    swept where it is older than those by which they were had, too.
     * @return of chunks that others may use until they have passed the epoch that is known now.
     */
    static IndexReturn ofUsed(
        final String tableName, final int memoryNodeId, final List<ChunkRun> runs, final long newestLease,
        final long epoch, final Backoff backoff)
    {
        return new IndexReturn(tableName, memoryNodeId, runs, newestLease, epoch, 0, 0, backoff);
    }

    /** @return of chunks that nobody else knows of, and that nothing of this node reaches any more. */
    static IndexReturn ofLeased(
        final String tableName, final int memoryNodeId, final ChunkLease lease, final Backoff backoff)
    {
        return new IndexReturn(
            tableName, memoryNodeId, lease.runs(), lease.newestLease(), NEVER_USED, 0, 0, backoff);
    }

    /** @return of chunks that may have been leased by a request whose answer was lost. */
    static IndexReturn ofRequest(
        final String tableName, final int memoryNodeId, final long requestId, final int chunkCount,
        final Backoff backoff)
    {
        return new IndexReturn(tableName, memoryNodeId, null, 0, NEVER_USED, requestId, chunkCount, backoff);
    }

    int memoryNodeId()
    {
        return memoryNodeId;
    }

    /** @return number of the request whose answer was lost, or 0. */
    long requestId()
    {
        return requestId;
    }

    /** @return whether epochs are what it waits for, and not a memory node that is away. */
    boolean wantsEpochs(final TableEngine engine)
    {
        return !engine.isReusable(unusedEpoch);
    }

    boolean isDone()
    {
        return isDone;
    }

    /** @return when it asks again, or {@link Long#MAX_VALUE}. */
    long nextAtNs()
    {
        return isPausing ? pauseUntilNs : Long.MAX_VALUE;
    }

    /**
     * Goes on.
     *
     * @param link to the memory node, or null.
     * @return work done.
     */
    int poll(final TableEngine engine, final MemoryLink link, final long timeoutNs, final long nowNs)
    {
        if (null != asking)
        {
            return asking.isDone() ? onLease(nowNs) : 0;
        }
        if (null != returning)
        {
            return returning.isDone() ? onReturned(nowNs) : 0;
        }
        if (null == link || !link.isReady() || !engine.isReusable(unusedEpoch) ||
            isPausing && pauseUntilNs - nowNs > 0)
        {
            return 0;
        }
        isPausing = false;
        if (null == runs)
        {
            asking = link.client().leaseChunks(requestId, ChunkPurpose.INDEX, chunkCount, false, timeoutNs);
            return 1;
        }
        returning = link.client().returnChunks(runs, newestLease, timeoutNs);
        return 1;
    }

    private int onLease(final long nowNs)
    {
        final ControlCall<ChunkLease> ended = asking;
        asking = null;
        if (ControlStatus.OK == ended.status())
        {
            runs = ended.result().runs();
            newestLease = ended.result().newestLease();
        }
        else
        {
            // Refused: nothing had been leased.
            isDone = !mayAskAgain(ended, nowNs);
        }
        return 1;
    }

    private int onReturned(final long nowNs)
    {
        final ControlCall<Void> ended = returning;
        returning = null;
        isDone = ControlStatus.OK == ended.status() || !mayAskAgain(ended, nowNs);
        if (isDone && ControlStatus.OK != ended.status())
        {
            LOGGER.warn("index chunks of table {} stay taken at memory node {}, {} runs, until they are swept: {} {}",
                tableName, memoryNodeId, null == runs ? 0 : runs.size(), ended.status(), ended.failure());
        }
        return 1;
    }

    private boolean mayAskAgain(final ControlCall<?> ended, final long nowNs)
    {
        isPausing = true;
        pauseUntilNs = nowNs + backoff.nextPauseNs();
        return ended.status().isUnknown() || ControlStatus.UNAVAILABLE == ended.status();
    }
}
