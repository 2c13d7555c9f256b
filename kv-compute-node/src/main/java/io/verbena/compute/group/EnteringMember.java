package io.verbena.compute.group;

import io.verbena.compute.memory.MemoryLink;
import io.verbena.protocol.control.MemoryNodeClient;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.EnteredLease;
import io.verbena.protocol.message.MirroredChunk;
import io.verbena.protocol.view.ViewAttempt;
import io.verbena.table.allocation.ChunkView;
import io.verbena.table.format.FormatException;
import io.verbena.table.mirror.MirrorGroup;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * Has a memory node that comes into a group record the leases of the group, as the primary's chunk headers show them
 * while the view is closed: after that the chunks there are the group's, and may be written. What a member records
 * later, by a request that was under way, was acknowledged to nobody, and is given back by its requester or by a sweep.
 * While the view is active it only enters leases: what is written there late must not land in memory of others.
 * Owned by the node's thread.
 */
final class EnteringMember
{
    /** Calls, of those that a connection may have outstanding. */
    static final int MOST_UNDER_WAY = 16;

    private final ViewAttempt attempt;
    private final MemoryLink primary;
    private final MemoryLink memoryNode;
    private final long timeoutNs;
    private final boolean releasesOthers;
    private final List<EnteredLease> leases = new ArrayList<>();
    private final Deque<ControlCall<Void>> underWay = new ArrayDeque<>();
    /** Behind the last lease what else stands there of the group is released: so nothing of it is free in between. */
    private int next;
    private ControlStatus status = ControlStatus.OK;
    private String failure = "";
    private boolean isFinal;

    /**
     * @param attempt    for which this node was named.
     * @param primary    whose chunk headers were read since.
     * @param memoryNode that comes in, connected.
     * @param timeoutNs  of each call.
     * @param releasesOthers whether what else stands there of the group is released: not while the view is active.
     */
    EnteringMember(
        final ViewAttempt attempt, final MemoryLink primary, final MemoryLink memoryNode, final long timeoutNs,
        final boolean releasesOthers)
    {
        this.attempt = attempt;
        this.primary = primary;
        this.memoryNode = memoryNode;
        this.timeoutNs = timeoutNs;
        this.releasesOthers = releasesOthers;
        try
        {
            new MirrorGroup(attempt.group(), List.of(primary.memoryNodeId(), memoryNode.memoryNodeId()))
                .check(List.of(primary.superblock(), memoryNode.superblock()));
            leases.addAll(leases(primary.chunkView(), attempt.group()));
        }
        catch (final FormatException ex)
        {
            failure = String.valueOf(ex.getMessage());
            isFinal = true;
        }
    }

    /** @return why it does not come in, one line; empty while it may. */
    String failure()
    {
        return failure;
    }

    /** @return whether all leases are recorded, and others of the group released where that is wanted. */
    boolean isDone()
    {
        return underWay.isEmpty() && next == leases.size() + (releasesOthers ? 1 : 0) && failure.isEmpty();
    }

    /** @return whether it cannot come in, however often it is tried: something stands there, or it has other chunks. */
    boolean isFinal()
    {
        return isFinal || ControlStatus.EXHAUSTED == status || ControlStatus.INVALID_REQUEST == status;
    }

    /** @return whether the memory node does not know of the attempt, or not yet. */
    boolean isRefused()
    {
        return ControlStatus.UNAVAILABLE == status;
    }

    /** @return where the group's chunks begin, the same at all members; a new array. */
    long[] chunkOffsets()
    {
        return leases.stream().mapToLong((lease) -> primary.chunkView().offset(lease.chunk().index())).toArray();
    }

    /** @return length of each chunk. */
    int chunkLengthBytes()
    {
        return primary.superblock().chunkLengthBytes();
    }

    /** Goes on. @return work done. */
    int poll()
    {
        if (!failure.isEmpty() || isDone())
        {
            return 0;
        }
        if (!memoryNode.isReady())
        {
            failure = "it is not connected any more";
            return 1;
        }
        return takeAnswers() + ask();
    }

    private int takeAnswers()
    {
        int workCount = 0;
        while (failure.isEmpty() && !underWay.isEmpty() && underWay.getFirst().isDone())
        {
            final ControlCall<Void> call = underWay.removeFirst();
            status = call.status();
            failure = ControlStatus.OK == status ? "" : call.failure();
            workCount++;
        }
        return workCount;
    }

    /** Leases in any order; what else stands there when all of them are known to be recorded. */
    private int ask()
    {
        final MemoryNodeClient client = memoryNode.client();
        int workCount = 0;
        for (; failure.isEmpty() && next < leases.size() && underWay.size() < MOST_UNDER_WAY; next++)
        {
            underWay.addLast(client.enterLease(attempt, leases.get(next), timeoutNs));
            workCount++;
        }
        if (failure.isEmpty() && releasesOthers && next == leases.size() && underWay.isEmpty())
        {
            underWay.addLast(client.releaseLeases(attempt, timeoutNs));
            next++;
            workCount++;
        }
        return workCount;
    }

    /**
     * @param look  at the chunk headers of the primary.
     * @param group which.
     * @return the leases that the group has; a new list.
     * @throws FormatException when a header was damaged, so that a lease of the group may have stood there.
     */
    static List<EnteredLease> leases(final ChunkView look, final int group)
    {
        final List<EnteredLease> leases = new ArrayList<>();
        for (int i = 0; i < look.chunkCount(); i++)
        {
            if (look.isUnread(i))
            {
                throw new FormatException(
                    "the header of chunk " + i + " of the primary was damaged: whose chunk it is, is not known");
            }
            if (look.group(i) == group)
            {
                leases.add(new EnteredLease(
                    new MirroredChunk(group, look.groupView(i), i, look.chunkLengthBytes(), look.groupCount(i)),
                    look.state(i), look.requestId(i), look.owner(i), look.reaper(i)));
            }
        }
        return leases;
    }

    @Override
    public String toString()
    {
        return "EnteringMember{" + attempt + ", memoryNode=" + memoryNode.memoryNodeId() + ", leases=" +
            Math.min(next, leases.size()) + " of " + leases.size() + ", failure=" + failure + '}';
    }
}
