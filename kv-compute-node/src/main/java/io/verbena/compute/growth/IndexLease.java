package io.verbena.compute.growth;

import io.verbena.compute.group.GroupChunks;
import io.verbena.compute.group.KnownLeases;
import io.verbena.compute.group.LinkedChunks;
import io.verbena.compute.memory.MemoryLink;
import io.verbena.compute.session.SessionParts;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.message.ChunkLease;
import io.verbena.protocol.message.ChunkPurpose;
import io.verbena.raas.failure.Backoff;

import java.util.ArrayList;
import java.util.List;

/**
 * Chunks for new subtables of a table, leased from a memory node: asked for until there is an answer, since one that
 * was lost may have brought them. Or from all members of a group, while it can be used. Owned by the node's thread.
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

    private final LinkedChunks linked;
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
    /** Of a group, or null. */
    private GroupChunks.IndexRequest ofGroup;
    private Outcome outcome = Outcome.AWAY;

    IndexLease(final LinkedChunks linked)
    {
        this.linked = linked;
    }

    void begin(final SessionParts parts, final String forTable, final int onNode, final int chunkCount)
    {
        session = parts;
        tableName = forTable;
        memoryNodeId = onNode;
        chunks = chunkCount;
        backoff = parts.metaLink().retryBackoff();
        outcome = Outcome.RUNNING;
        lease = null;
        ofGroup = null;
        if (!linked.isOfGroup(onNode))
        {
            requestNumber = parts.numbers().begin();
            ask(true);
        }
        else if (linked.isReady(onNode))
        {
            ofGroup = groupChunks().requestIndex(chunkCount);
        }
        else
        {
            outcome = Outcome.AWAY;
        }
    }

    private GroupChunks groupChunks()
    {
        return linked.groups().get(memoryNodeId).chunks();
    }

    Outcome outcome()
    {
        return outcome;
    }

    /** @return leases that are known, that one among them; after LEASED, until it was given back. */
    KnownLeases known()
    {
        if (null != ofGroup)
        {
            return linked.known(memoryNodeId);
        }
        final int memoryNode = memoryNodeId;
        final long newestLease = lease.newestLease();
        return KnownLeases.ofNodes((node) -> node == memoryNode ? newestLease : 0);
    }

    private void ask(final boolean isFirst)
    {
        final MemoryLink link = linked.links().get(memoryNodeId);
        if (null == link || !link.isReady())
        {
            if (!isFirst)
            {
                linked.returns().addRequest(tableName, memoryNodeId, requestNumber, chunks);
                requestNumber = 0; // it ends when that is answered
            }
            outcome = Outcome.AWAY;
            return;
        }
        leasing = link.client().leaseChunks(requestNumber, ChunkPurpose.INDEX, chunks, false, session.timeoutNs());
    }

    int poll(final long nowNs)
    {
        if (null != ofGroup)
        {
            return Outcome.RUNNING == outcome ? pollGroup() : 0;
        }
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
            default -> onRefused();
        }
        return 1;
    }

    private void onRefused()
    {
        outcome = Outcome.REFUSED;
        if (CHUNKS_OF_A_MERGE != chunks || mergeRefusals.onRefused(memoryNodeId))
        {
            linked.onIndexRefused(memoryNodeId);
        }
    }

    /** A group that cannot be used may be so again soon, or never; others wait for this. */
    private int pollGroup()
    {
        if (!ofGroup.isDone())
        {
            if (linked.isReady(memoryNodeId))
            {
                return 0;
            }
            groupChunks().giveBack(ofGroup);
            outcome = Outcome.AWAY;
        }
        else if (ofGroup.failure().isEmpty())
        {
            mergeRefusals.onLeased(memoryNodeId);
            outcome = Outcome.LEASED;
        }
        else
        {
            groupChunks().giveBack(ofGroup);
            onRefused();
        }
        return 1;
    }

    /** @return offset of each chunk; fewer than were asked for when there are not so many. */
    List<Long> offsets()
    {
        if (null != ofGroup)
        {
            return List.copyOf(ofGroup.offsets());
        }
        final List<Long> offsets = new ArrayList<>();
        lease.forEachChunk(offsets::add);
        return offsets;
    }

    /** Nothing of it was used. */
    void giveBack()
    {
        if (null == ofGroup)
        {
            linked.returns().addLeased(tableName, memoryNodeId, lease);
        }
        else
        {
            groupChunks().giveBack(ofGroup);
        }
        lease = null;
    }

    /** What it brought is made known, given back, or can be found by links; also when nothing was leased. */
    void end()
    {
        if (null != session)
        {
            session.numbers().end(requestNumber);
        }
        if (null != ofGroup)
        {
            groupChunks().end(ofGroup);
        }
        requestNumber = 0;
        lease = null;
        ofGroup = null;
    }

    @Override
    public String toString()
    {
        return "IndexLease{" + outcome + " memoryNodeId=" + memoryNodeId + " chunks=" + chunks + '}';
    }
}
