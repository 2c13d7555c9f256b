package io.verbena.compute.maintenance;

import io.verbena.compute.session.RequestNumbers;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.control.MemoryNodeClient;
import io.verbena.protocol.message.ChunkLease;
import io.verbena.protocol.message.ChunkPurpose;
import io.verbena.raas.failure.Backoff;
import io.verbena.table.TableEngine;

/**
 * Leases chunks for the engine at one memory node, one call at a time. A call whose answer was lost is made again with
 * the same number and gets the same chunks. Owned by the node's thread.
 */
final class ChunkLeaser
{
    /**
     * Most bytes of chunks asked for at a time: 1 MiB. Each lease asks for twice as much as the one before: a node with
     * many writes makes few calls, and one with few does not sit on memory that others need.
     */
    private static final long MAX_LEASE_BYTES = 1 << 20;

    private final TableEngine engine;
    private final int memoryNodeId;
    private final RequestNumbers numbers;
    private final long timeoutNs;
    private final Backoff backoff;
    private ControlCall<ChunkLease> call;
    private boolean isWanted;
    private boolean isPausing;
    private long againAtNs;
    private long requestNumber;
    private int chunkCount = 1;
    private int askedCount;
    private long refusals;

    ChunkLeaser(
        final TableEngine engine, final int memoryNodeId, final RequestNumbers numbers, final long timeoutNs,
        final Backoff backoff)
    {
        this.engine = engine;
        this.memoryNodeId = memoryNodeId;
        this.numbers = numbers;
        this.timeoutNs = timeoutNs;
        this.backoff = backoff;
    }

    /** Leases memory for blocks as soon as the connection allows; see {@code ChunkSource}. */
    void request()
    {
        isWanted = true;
    }

    /** @return true while a call is under way. */
    boolean isWaiting()
    {
        return null != call;
    }

    /** @return how often there was no chunk to be had. */
    long refusals()
    {
        return refusals;
    }

    /**
     * Goes on.
     *
     * @param client to the memory node, or null while it cannot be reached.
     * @param nowNs  time now, by the clock of the device.
     * @return work done.
     */
    int poll(final MemoryNodeClient client, final long nowNs)
    {
        if (null != call)
        {
            return call.isDone() ? onAnswer(nowNs) : 0;
        }
        isPausing &= againAtNs - nowNs > 0;
        if (isWanted && !isPausing && null != client)
        {
            if (0 == requestNumber)
            {
                requestNumber = numbers.next();
                askedCount = chunkCount;
            }
            call = client.leaseChunks(requestNumber, ChunkPurpose.BLOCKS, askedCount, false, timeoutNs);
            isWanted = false;
            return 1;
        }
        return 0;
    }

    private int onAnswer(final long nowNs)
    {
        final ControlCall<ChunkLease> ended = call;
        call = null;
        switch (ended.status())
        {
            case OK -> onLeased(ended.result());
            case EXHAUSTED -> onExhausted();
            case TIMED_OUT, PEER_FAILED, MALFORMED_REPLY, UNAVAILABLE -> tryLater(nowNs); // the same request again
            default ->
            {
                requestNumber = 0;
                chunkCount = 1;
                tryLater(nowNs);
            }
        }
        return 1;
    }

    private void tryLater(final long nowNs)
    {
        isWanted = true;
        isPausing = true;
        againAtNs = nowNs + backoff.nextPauseNs();
    }

    private void onLeased(final ChunkLease leased)
    {
        backoff.reset();
        requestNumber = 0;
        chunkCount = (int)Math.clamp(MAX_LEASE_BYTES / leased.chunkLengthBytes(), 1, askedCount * 2L);
        // One by one: chunks are reclaimed one by one, so no block may reach over the end of one.
        leased.forEachChunk((offset) -> engine.chunkLeased(memoryNodeId, offset, leased.chunkLengthBytes()));
    }

    private void onExhausted()
    {
        requestNumber = 0;
        chunkCount = 1;
        if (1 == askedCount)
        {
            refusals++;
            engine.chunkRefused(memoryNodeId);
        }
        else
        {
            isWanted = true; // fewer may be had
        }
    }

    @Override
    public String toString()
    {
        return "ChunkLeaser{memoryNodeId=" + memoryNodeId + ", refusals=" + refusals + '}';
    }
}
