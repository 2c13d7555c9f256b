package io.verbena.compute.growth;

import io.verbena.compute.memory.IndexReturns;
import io.verbena.compute.memory.MemoryLink;
import io.verbena.compute.session.SessionParts;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.message.ChunkLease;
import io.verbena.protocol.message.ChunkPurpose;
import io.verbena.raas.failure.Backoff;

import org.agrona.collections.Int2ObjectHashMap;

import java.util.ArrayList;
import java.util.List;

/**
 * Chunks for new subtables of a table, leased from a memory node: asked for until there is an answer, since one that
 * was lost may have brought them. Owned by the node's thread.
 */
final class IndexLease
{
    /** What came of it. */
    enum Outcome
    {
        RUNNING, LEASED,
        /** The memory node has no memory. */
        REFUSED,
        /** It is away; what the request may have brought is returned when it is back. */
        AWAY
    }

    /** What a merge makes is one subtable; a split makes two, and inserts wait for it. */
    private static final int CHUNKS_OF_A_MERGE = 1;

    private final Int2ObjectHashMap<MemoryLink> links;
    private final IndexReturns returns;
    private final MergeRefusals mergeRefusals = new MergeRefusals();
    private SessionParts session;
    private String tableName;
    private int memoryNodeId;
    private int chunks;
    private long requestNumber;
    private Backoff backoff;
    private long pauseUntilNs;
    private ControlCall<ChunkLease> leasing;
    private ChunkLease lease;
    private Outcome outcome = Outcome.AWAY;

    IndexLease(final Int2ObjectHashMap<MemoryLink> links, final IndexReturns returns)
    {
        this.links = links;
        this.returns = returns;
    }

    void begin(final SessionParts parts, final String forTable, final int onNode, final int chunkCount)
    {
        session = parts;
        tableName = forTable;
        memoryNodeId = onNode;
        chunks = chunkCount;
        requestNumber = parts.numbers().begin();
        backoff = parts.metaLink().retryBackoff();
        outcome = Outcome.RUNNING;
        lease = null;
        ask(true);
    }

    Outcome outcome()
    {
        return outcome;
    }

    /** @return what was leased; after LEASED, until it was given back. */
    ChunkLease lease()
    {
        return lease;
    }

    private void ask(final boolean isFirst)
    {
        final MemoryLink link = links.get(memoryNodeId);
        if (null == link || !link.isReady())
        {
            if (!isFirst)
            {
                returns.addRequest(tableName, memoryNodeId, requestNumber, chunks);
                requestNumber = 0; // it ends when that is answered
            }
            outcome = Outcome.AWAY;
            return;
        }
        leasing = link.client().leaseChunks(requestNumber, ChunkPurpose.INDEX, chunks, false, session.timeoutNs());
    }

    int poll(final long nowNs)
    {
        if (Outcome.RUNNING != outcome || pauseUntilNs - nowNs > 0 || null != leasing && !leasing.isDone())
        {
            return 0;
        }
        if (null == leasing)
        {
            ask(false); // the same request again, for the same chunks
            return 1;
        }
        switch (leasing.status())
        {
            case OK ->
            {
                lease = leasing.result();
                mergeRefusals.onLeased(memoryNodeId);
                outcome = Outcome.LEASED;
            }
            case TIMED_OUT, PEER_FAILED, MALFORMED_REPLY, UNAVAILABLE ->
            {
                pauseUntilNs = nowNs + backoff.nextPauseNs();
                leasing = null;
            }
            default ->
            {
                outcome = Outcome.REFUSED;
                if (CHUNKS_OF_A_MERGE != chunks || mergeRefusals.onRefused(memoryNodeId))
                {
                    links.get(memoryNodeId).maintenance().onIndexRefused();
                }
            }
        }
        return 1;
    }

    /** @return offset of each chunk; fewer than were asked for when there are not so many. */
    List<Long> offsets()
    {
        final List<Long> offsets = new ArrayList<>();
        lease.forEachChunk(offsets::add);
        return offsets;
    }

    /** Nothing of it was used. */
    void giveBack()
    {
        returns.addLeased(tableName, memoryNodeId, lease);
        lease = null;
    }

    /** What it brought is made known, given back, or can be found by links; also when nothing was leased. */
    void end()
    {
        if (null != session)
        {
            session.numbers().end(requestNumber);
        }
        requestNumber = 0;
        lease = null;
    }

    @Override
    public String toString()
    {
        return "IndexLease{" + outcome + " memoryNodeId=" + memoryNodeId + " chunks=" + chunks + '}';
    }
}
