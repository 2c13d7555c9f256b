package io.verbena.compute.control;

import io.verbena.compute.memory.IndexReturns;
import io.verbena.compute.session.RequestNumbers;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.control.MemoryNodeClient;
import io.verbena.protocol.message.ChunkLease;
import io.verbena.protocol.message.ChunkPurpose;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.raas.failure.Backoff;
import io.verbena.table.TableEngine;
import io.verbena.table.allocation.EpochTracker;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntConsumer;
import java.util.function.IntPredicate;

/**
 * The memory of a table that is being created: leases its chunks, gives them back when it comes to nothing, and says
 * whether it is worth waiting where there were too few. Owned by the node's thread; time comes in.
 */
final class CreationMemory
{
    /** Most runs that one lease call may bring. */
    private static final int MAX_LEASE = ChunkLease.MAX_RUNS;

    /**
     * A request for chunks.
     *
     * @param memoryNodeId of the memory node that was asked.
     * @param requestId    number of the request, for one that comes again.
     * @param chunkCount   asked for.
     * @param call         made.
     */
    record Leasing(int memoryNodeId, long requestId, int chunkCount, ControlCall<ChunkLease> call)
    {
    }

    private final TableEngine engine;
    private final RequestNumbers numbers;
    private final IndexReturns returns;
    private final IntPredicate mayFindMemory;
    private final String tableName;
    private final Backoff backoff;
    private final List<Leasing> leases = new ArrayList<>();
    private int refusals;
    private long shortageEpoch;
    private String shortage;
    private long triesAtNs;

    /** @param mayFindMemory whether memory of a memory node is being returned or reclaimed, as far as is known here. */
    CreationMemory(
        final TableEngine engine, final RequestNumbers numbers, final IndexReturns returns,
        final IntPredicate mayFindMemory, final String tableName, final Backoff backoff,
        final long nowNs)
    {
        this.engine = engine;
        this.numbers = numbers;
        this.returns = returns;
        this.mayFindMemory = mayFindMemory;
        this.tableName = tableName;
        this.backoff = backoff;
        triesAtNs = nowNs;
    }

    /** @return whether the pause after the last attempt is over. */
    boolean isDue(final long nowNs)
    {
        return triesAtNs - nowNs <= 0;
    }

    /** Asks a memory node for so many chunks. */
    void lease(final int memoryNodeId, final MemoryNodeClient client, final int chunkCount, final long timeoutNs)
    {
        int wanted = chunkCount;
        while (wanted > 0)
        {
            final int count = Math.min(wanted, MAX_LEASE);
            final long requestId = numbers.begin();
            leases.add(new Leasing(memoryNodeId, requestId, count,
                client.leaseChunks(requestId, ChunkPurpose.INDEX, count, false, timeoutNs)));
            wanted -= count;
        }
    }

    /** @return whether every request was answered. */
    boolean isAnswered()
    {
        return leases.stream().allMatch((lease) -> lease.call.isDone());
    }

    /** @return what was leased at a memory node. */
    List<ChunkLease> leased(final int memoryNodeId)
    {
        return leases.stream().filter((lease) -> lease.memoryNodeId == memoryNodeId)
            .map((lease) -> lease.call.result()).toList();
    }

    /** @return null when all chunks are leased; else a lease that failed, for want of memory only if all others did. */
    Leasing worst()
    {
        Leasing worst = null;
        for (final Leasing lease : leases)
        {
            if (ControlStatus.OK != lease.call.status() && (null == worst || mayComeLater(worst)))
            {
                worst = lease;
            }
        }
        return worst;
    }

    /** Memory that somebody returns; and a connection that broke, as when a view is closed, is back soon. */
    private static boolean mayComeLater(final Leasing lease)
    {
        return ControlStatus.EXHAUSTED == lease.call.status() || MetaRead.mayBeAskedAgain(lease.call.status());
    }

    /**
     * Says whether chunks that were refused may be had later; before what was leased goes back.
     *
     * @param refused        a request that failed.
     * @param onFirstRefusal takes the memory node after the first, second, fourth, ... refusal.
     * @return whether to try later.
     */
    boolean isWorthWaiting(final Leasing refused, final IntConsumer onFirstRefusal)
    {
        return mayComeLater(refused) && (ControlStatus.EXHAUSTED != refused.call.status() ||
            mayFindMemory(refused.memoryNodeId, onFirstRefusal));
    }

    private boolean mayFindMemory(final int memoryNodeId, final IntConsumer onFirstRefusal)
    {
        if (1 == Integer.bitCount(++refusals))
        {
            onFirstRefusal.accept(memoryNodeId);
        }
        if (1 == refusals)
        {
            shortageEpoch = engine.epoch() + EpochTracker.REPEAT_EPOCHS;
        }
        return !engine.isReusable(shortageEpoch) || mayFindMemory.test(memoryNodeId);
    }

    /** It is {@link #isDue} again after a pause. */
    void tryLater(final String why, final long nowNs)
    {
        shortage = why;
        triesAtNs = nowNs + backoff.nextPauseNs();
    }

    /** @return whether a memory node ever had too few chunks. */
    boolean wasRefused()
    {
        return refusals > 0;
    }

    /** @return why it has to try later; null when it had not to. */
    String shortage()
    {
        return shortage;
    }

    /** @return whether it waits for epochs in which others return what they have. */
    boolean wantsEpochs()
    {
        return refusals > 0 && !engine.isReusable(shortageEpoch);
    }

    /** The table is there: its chunks are its own. */
    void keep()
    {
        leases.forEach((lease) -> numbers.end(lease.requestId));
    }

    /** Gives back what was leased, or may have been, when this came to nothing. */
    void giveBack()
    {
        while (!leases.isEmpty())
        {
            final Leasing lease = leases.removeLast();
            final ControlStatus status = lease.call.status();
            if (ControlStatus.OK == status)
            {
                returns.addLeased(tableName, lease.memoryNodeId, lease.call.result());
                numbers.end(lease.requestId);
            }
            else if (status.isUnknown())
            {
                returns.addRequest(tableName, lease.memoryNodeId, lease.requestId, lease.chunkCount);
            }
            else
            {
                numbers.end(lease.requestId); // refused: nothing was leased
            }
        }
    }
}
