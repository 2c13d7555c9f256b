package io.verbena.memory;

import io.verbena.protocol.message.ChunkPurpose;
import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.MirrorAction;
import io.verbena.protocol.message.MirrorAnswer;
import io.verbena.protocol.message.MirrorAnswer.Outcome;
import io.verbena.protocol.message.MirroredChunk;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.table.format.ChunkDescriptor;
import org.agrona.DirectBuffer;
import org.agrona.collections.Int2ObjectHashMap;

import static io.verbena.table.format.ChunkDescriptor.STATE_BLOCKS;
import static io.verbena.table.format.ChunkDescriptor.STATE_FREE;
import static io.verbena.table.format.ChunkDescriptor.STATE_INDEX;
import static io.verbena.table.format.ChunkDescriptor.STATE_ORPHAN;
import static io.verbena.table.format.ChunkDescriptor.STATE_QUARANTINED;

/**
 * One member's part of leases that all members of a group record, see {@code docs/protocol/mirrored-leases.md}. A lease
 * that was refused or returned here is never recorded here again, however late its request comes: its count is not
 * larger than one of before. Such counts are in the chunk headers; those of leases that were only refused are in the
 * memory of this process, since no request to it outlives it. One thread.
 */
final class MirrorLeases
{
    private final ChunkTable chunks;
    private final FreeChunks free;
    private final int chunkLengthBytes;
    private final char[] groups;
    private final long[] views;
    /** Largest that was recorded. */
    private final long[] counts;
    /** Largest that was refused, without being recorded. */
    private final long[] refusedCounts;
    /** Newest view that a lease recorded here was made in, by group; at most as many as there are groups. */
    private final Int2ObjectHashMap<Long> newestViews = new Int2ObjectHashMap<>();

    MirrorLeases(
        final ChunkTable chunks, final FreeChunks free, final int chunkLengthBytes, final int chunkCount)
    {
        this.chunks = chunks;
        this.free = free;
        this.chunkLengthBytes = chunkLengthBytes;
        groups = new char[chunkCount];
        views = new long[chunkCount];
        counts = new long[chunkCount];
        refusedCounts = new long[chunkCount];
    }

    /** Takes up what the process before has left in a header. */
    void restore(final int index, final DirectBuffer header)
    {
        counts[index] = ChunkDescriptor.count(header, 0);

        if (0 != ChunkDescriptor.group(header, 0))
        {
            name(index, ChunkDescriptor.group(header, 0), ChunkDescriptor.view(header, 0));
        }
    }

    private void name(final int index, final int group, final long view)
    {
        groups[index] = (char)group;
        views[index] = view;
        newestViews.put(group, (Long)Math.max(newestView(group), view));
    }

    private long newestView(final int group)
    {
        final Long view = newestViews.get(group);
        return null == view ? 0 : view;
    }

    /** A chunk is free: no group has it. Its count stays. */
    void clear(final int index)
    {
        groups[index] = 0;
        views[index] = 0;
    }

    /** @return whether a lease of a group stands here; then this node alone does nothing with the chunk. */
    boolean isMirrored(final int index)
    {
        return 0 != groups[index];
    }

    /** @return group whose lease a chunk has, or 0. */
    int group(final int index)
    {
        return groups[index];
    }

    /** @return view in which the group leased it, or 0. */
    long view(final int index)
    {
        return views[index];
    }

    /** @return largest count that was recorded, or 0. */
    long count(final int index)
    {
        return counts[index];
    }

    /**
     * Does one step of a lease.
     *
     * @param caller    registered.
     * @param action    what to do.
     * @param chunk     whose lease it is about.
     * @param purpose   of the lease, for RECORD.
     * @param requestId of the lease, for RECORD.
     * @return what came of it.
     * @throws ControlException INVALID_REQUEST when the member has no such chunk, when the view is an old one, or when
     *                          the chunk is not the caller's to return.
     */
    MirrorAnswer act(
        final PeerIdentity caller, final MirrorAction action, final MirroredChunk chunk, final ChunkPurpose purpose,
        final long requestId)
    {
        check(chunk);
        return switch (action)
        {
            case CHOOSE -> choose(chunk.index());
            case RECORD -> answer(record(caller, chunk, purpose, requestId), chunk.index());
            case REFUSE -> answer(refuseUnlessRecorded(chunk), chunk.index());
            case RETURN -> answer(takeBack(caller, chunk), chunk.index());
            case CLAIM -> answer(claim(caller, chunk), chunk.index());
            case ADOPT -> answer(adopt(caller, chunk), chunk.index());
        };
    }

    private void check(final MirroredChunk chunk)
    {
        if (chunk.index() >= groups.length || chunk.chunkLengthBytes() != chunkLengthBytes)
        {
            throw invalid(chunk + ", of " + chunk.chunkLengthBytes() + " bytes, is no chunk of this memory node, " +
                "which has chunks 0 to " + (groups.length - 1) + " of " + chunkLengthBytes + " bytes: a group's " +
                "members need chunks of equal length, and equally many");
        }
    }

    private MirrorAnswer answer(final Outcome outcome, final int index)
    {
        return new MirrorAnswer(
            outcome, free.next(index), Math.max(counts[index], refusedCounts[index]));
    }

    private MirrorAnswer choose(final int from)
    {
        final int index = free.next(from);
        return index < 0 ? new MirrorAnswer(Outcome.TAKEN, -1, 0) : answer(Outcome.DONE, index);
    }

    private Outcome record(
        final PeerIdentity caller, final MirroredChunk chunk, final ChunkPurpose purpose, final long requestId)
    {
        final int index = chunk.index();

        if (isOldView(chunk))
        {
            throw invalid(chunk + " cannot be recorded: the group is in view " + newestView(chunk.group()) + " here");
        }

        if (isRecorded(chunk) && isOfRequest(caller, index, requestId))
        {
            return Outcome.DONE;
        }

        if (!isFree(index))
        {
            return Outcome.TAKEN;
        }

        if (isOutdated(chunk))
        {
            return Outcome.OUTDATED;
        }

        counts[index] = chunk.count();
        name(index, chunk.group(), chunk.view());
        chunks.leaseToGroup(index, ChunkPurpose.INDEX == purpose ? STATE_INDEX : STATE_BLOCKS, caller, requestId);
        return Outcome.DONE;
    }

    private boolean isOldView(final MirroredChunk chunk)
    {
        return chunk.view() < newestView(chunk.group());
    }

    private boolean isFree(final int index)
    {
        return STATE_FREE == chunks.state(index);
    }

    private boolean isOutdated(final MirroredChunk chunk)
    {
        return chunk.count() <= Math.max(counts[chunk.index()], refusedCounts[chunk.index()]);
    }

    private boolean isOfRequest(final PeerIdentity caller, final int index, final long requestId)
    {
        return chunks.state(index) != STATE_ORPHAN && caller.equals(chunks.owner(index)) &&
            requestId == chunks.requestId(index);
    }

    private boolean isRecorded(final MirroredChunk chunk)
    {
        return groups[chunk.index()] == chunk.group() && views[chunk.index()] == chunk.view() &&
            counts[chunk.index()] == chunk.count();
    }

    private Outcome refuseUnlessRecorded(final MirroredChunk chunk)
    {
        if (isRecorded(chunk))
        {
            return Outcome.RECORDED;
        }

        // What a damaged header said is not known: the lease may have been recorded, and be in use.
        return STATE_QUARANTINED == chunks.state(chunk.index()) ? Outcome.TAKEN : refuse(chunk);
    }

    private Outcome refuse(final MirroredChunk chunk)
    {
        refusedCounts[chunk.index()] = Math.max(refusedCounts[chunk.index()], chunk.count());
        return Outcome.DONE;
    }

    private Outcome takeBack(final PeerIdentity caller, final MirroredChunk chunk)
    {
        final int index = chunk.index();

        if (!isRecorded(chunk))
        {
            return refuse(chunk);
        }

        if (STATE_INDEX != chunks.state(index) && !chunks.isClaimable(caller, index))
        {
            throw invalid(chunk + " is not " + caller + "'s to return");
        }

        chunks.change(index, STATE_FREE, null, null);
        return Outcome.DONE;
    }

    private Outcome claim(final PeerIdentity caller, final MirroredChunk chunk)
    {
        if (!isRecorded(chunk))
        {
            return Outcome.ABSENT;
        }

        if (!chunks.isClaimable(caller, chunk.index()))
        {
            return Outcome.TAKEN;
        }

        chunks.change(chunk.index(), STATE_ORPHAN, chunks.owner(chunk.index()), caller);
        return Outcome.DONE;
    }

    private Outcome adopt(final PeerIdentity caller, final MirroredChunk chunk)
    {
        if (!isRecorded(chunk))
        {
            return Outcome.ABSENT;
        }

        if (!chunks.isOwn(caller, chunk.index()) && !chunks.isClaimed(caller, chunk.index()))
        {
            return Outcome.TAKEN;
        }

        chunks.change(chunk.index(), STATE_BLOCKS, caller, null);
        return Outcome.DONE;
    }

    private static ControlException invalid(final String what)
    {
        return new ControlException(ControlStatus.INVALID_REQUEST, what);
    }
}
