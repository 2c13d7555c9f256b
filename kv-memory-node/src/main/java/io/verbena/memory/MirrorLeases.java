package io.verbena.memory;

import io.verbena.protocol.message.ChunkPurpose;
import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.EnteredLease;
import io.verbena.protocol.message.MirrorAction;
import io.verbena.protocol.message.MirrorAnswer;
import io.verbena.protocol.message.MirrorAnswer.Outcome;
import io.verbena.protocol.message.MirroredChunk;
import io.verbena.protocol.view.ViewAttempt;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.table.format.ChunkDescriptor;
import org.agrona.collections.Int2ObjectHashMap;

import java.util.BitSet;
import java.util.Objects;
import java.util.function.Predicate;

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
    private final LeaseNames names;
    private final int chunkLengthBytes;
    /** Largest that was refused, without being recorded. */
    private final long[] refusedCounts;
    /** By group. In the memory of this process alone: no attempt outlives it. */
    private final Int2ObjectHashMap<Entered> entering = new Int2ObjectHashMap<>();

    /**
     * @param chunks           of this node.
     * @param chunkLengthBytes of each.
     */
    MirrorLeases(final ChunkTable chunks, final int chunkLengthBytes)
    {
        this.chunks = chunks;
        this.chunkLengthBytes = chunkLengthBytes;
        names = chunks.leaseNames();
        refusedCounts = new long[chunks.chunkCount()];
    }

    /**
     * Does one step of a lease.
     *
     * @param caller    registered.
     * @param action    what to do.
     * @param chunk     whose lease it is about.
     * @param purpose   of the lease, for RECORD.
     * @param requestId of the lease, for RECORD; for RETURN the same, or 0: whoever asked for it.
     * @return what came of it.
     * @throws ControlException INVALID_REQUEST when the member has no such chunk, when the view is an old one, or when
     *                          the chunk is not the caller's to return.
     */
    MirrorAnswer act(
        final PeerIdentity caller, final MirrorAction action, final MirroredChunk chunk, final ChunkPurpose purpose,
        final long requestId)
    {
        check(action, chunk);
        return switch (action)
        {
            case CHOOSE -> choose(chunk.index());
            case RECORD -> answer(record(caller, chunk, purpose, requestId), chunk.index());
            case REFUSE -> answer(refuseUnlessRecorded(chunk), chunk.index());
            case RETURN -> answer(takeBack(caller, chunk, requestId), chunk.index());
            case CLAIM -> answer(claim(caller, chunk), chunk.index());
            case ADOPT -> answer(adopt(caller, chunk), chunk.index());
        };
    }

    /** Behind the last chunk there is none to choose, which is no error: so ends a search. */
    private void check(final MirrorAction action, final MirroredChunk chunk)
    {
        final boolean isThere = chunk.index() < refusedCounts.length || MirrorAction.CHOOSE == action;

        if (!isThere || chunk.chunkLengthBytes() != chunkLengthBytes)
        {
            throw invalid(chunk + ", of " + chunk.chunkLengthBytes() + " bytes, is no chunk of this memory node, " +
                "which has chunks 0 to " + (refusedCounts.length - 1) + " of " + chunkLengthBytes +
                " bytes: a group's members need chunks of equal length, and equally many");
        }
    }

    private MirrorAnswer answer(final Outcome outcome, final int index)
    {
        return new MirrorAnswer(
            outcome, chunks.nextFree(index), largestCount(index));
    }

    private MirrorAnswer choose(final int from)
    {
        final int index = chunks.nextFree(from);
        return index < 0 ? new MirrorAnswer(Outcome.TAKEN, -1, 0) : answer(Outcome.DONE, index);
    }

    private Outcome record(
        final PeerIdentity caller, final MirroredChunk chunk, final ChunkPurpose purpose, final long requestId)
    {
        final int index = chunk.index();

        if (isOldView(chunk))
        {
            throw invalid(chunk + " cannot be recorded: the group is in view " +
                Math.max(names.newestView(chunk.group()), names.overView(chunk.group()) + 1) + " here");
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

        names.name(index, chunk.group(), chunk.view(), chunk.count());
        chunks.leaseToGroup(index, ChunkPurpose.INDEX == purpose ? STATE_INDEX : STATE_BLOCKS, caller, null, requestId);
        return Outcome.DONE;
    }

    private boolean isOldView(final MirroredChunk chunk)
    {
        return chunk.view() < names.newestView(chunk.group()) || chunk.view() <= names.overView(chunk.group());
    }

    private boolean isFree(final int index)
    {
        return STATE_FREE == chunks.state(index);
    }

    private boolean isOutdated(final MirroredChunk chunk)
    {
        return chunk.count() <= largestCount(chunk.index());
    }

    private long largestCount(final int index)
    {
        return Math.max(names.largestCount(index), refusedCounts[index]);
    }

    private boolean isOfRequest(final PeerIdentity caller, final int index, final long requestId)
    {
        return chunks.state(index) != STATE_ORPHAN && caller.equals(chunks.owner(index)) &&
            requestId == chunks.requestId(index);
    }

    private boolean isRecorded(final MirroredChunk chunk)
    {
        final int index = chunk.index();
        return names.group(index) == chunk.group() && names.view(index) == chunk.view() &&
            names.count(index) == chunk.count();
    }

    private Outcome refuseUnlessRecorded(final MirroredChunk chunk)
    {
        if (isRecorded(chunk))
        {
            return Outcome.RECORDED;
        }

        // What a damaged header said is not known: the lease may have been recorded, and be in use.
        final boolean isUnknown = STATE_QUARANTINED == chunks.state(chunk.index()) || names.isUnread(chunk.index());
        return isUnknown ? Outcome.TAKEN : refuse(chunk);
    }

    private Outcome refuse(final MirroredChunk chunk)
    {
        refusedCounts[chunk.index()] = Math.max(refusedCounts[chunk.index()], chunk.count());
        return Outcome.DONE;
    }

    private Outcome takeBack(final PeerIdentity caller, final MirroredChunk chunk, final long requestId)
    {
        final int index = chunk.index();

        if (!isRecorded(chunk))
        {
            return refuse(chunk);
        }

        if (isOfAnother(caller, index, requestId))
        {
            return Outcome.DONE; // its own request, however late, finds the count that is recorded
        }

        if (STATE_INDEX != chunks.state(index) && !chunks.isClaimable(caller, index))
        {
            throw invalid(chunk + " is not " + caller + "'s to return");
        }

        chunks.change(index, STATE_FREE, null, null);
        return Outcome.DONE;
    }

    /** Choosing reserves nothing, so that requests of one name are made; at most one of them is recorded. */
    private boolean isOfAnother(final PeerIdentity caller, final int index, final long requestId)
    {
        return 0 != requestId && !isOfRequest(caller, index, requestId);
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

    /**
     * Frees each chunk that a lease of a group has and that was not entered in this attempt: this node comes into the
     * group, and what stands in these is from an earlier membership or attempt. What looks like subtables in them was
     * given up by the group while this node was away, and does not say so: a checkpoint must not take it for that of
     * who leases the chunk next. Their counts stay. Comes after all that is entered, so that no chunk of the group is
     * free in between.
     *
     * @param attempt of who may.
     * @throws ControlException UNAVAILABLE when the next view or a later attempt has begun.
     */
    void release(final ViewAttempt attempt)
    {
        final BitSet entered = begin(attempt);
        for (int i = 0; i < chunks.chunkCount(); i++)
        {
            if (names.group(i) == attempt.group() && !entered.get(i))
            {
                chunks.discard(i);
            }
        }
    }

    /**
     * Frees each chunk of a group that this node is no member of, with what was restored into it; unless it comes into
     * the group, which settles them.
     *
     * @param group which; no compute node has a port to this memory node for it.
     */
    void giveUp(final int group)
    {
        for (int i = 0; i < chunks.chunkCount() && !entering.containsKey(group); i++)
        {
            if (names.group(i) == group)
            {
                chunks.discard(i);
            }
        }
    }

    /**
     * Records a lease that a group has, which this node comes into, for whoever has it. It takes the place of any
     * other lease of that group, from an earlier membership or attempt, by one write of the chunk's header, so that the
     * chunk is never free. Where it stands already, nothing is written. Counts are not compared: the lease has been
     * recorded by all members, and has to have one name. No count that is known here is forgotten, so that requests
     * that were old ones stay that.
     *
     * @param attempt of who may.
     * @param lease   of its group.
     * @param isAlive whether the end of a node will be reported here: of one that has ended it is not again, so that
     *                its chunks are left behind at once.
     * @throws ControlException EXHAUSTED when something else stands in the chunk; INVALID_REQUEST when this node has no
     *                          such chunk, or the lease is none of the view that is over; UNAVAILABLE when the next
     *                          view or a later attempt has begun.
     */
    void enter(final ViewAttempt attempt, final EnteredLease lease, final Predicate<PeerIdentity> isAlive)
    {
        final MirroredChunk chunk = lease.chunk();
        check(MirrorAction.RECORD, chunk);
        if (chunk.view() > attempt.number())
        {
            throw invalid(chunk + " cannot be recorded for " + attempt + ": the lease is of a later view");
        }

        final BitSet entered = begin(attempt);
        if (!isFree(chunk.index()) && names.group(chunk.index()) != chunk.group())
        {
            throw new ControlException(ControlStatus.EXHAUSTED, chunk + " cannot be recorded: " +
                whatStands(chunk.index()) + " stands there. This memory node cannot come into the group until that " +
                "is free: drop that table, or take another memory node");
        }

        final boolean isOwned = null != lease.owner() && isAlive.test(lease.owner());
        final boolean isReaped = null != lease.reaper() && isAlive.test(lease.reaper());
        final boolean isLeft = EnteredLease.BLOCKS == lease.state() && !isOwned;
        final boolean isOfNobody = EnteredLease.INDEX == lease.state() && !isOwned;
        enter(chunk, isLeft ? STATE_ORPHAN : lease.state(), isOfNobody ? null : lease.owner(),
            isReaped ? lease.reaper() : null, lease.requestId());
        entered.set(chunk.index());
    }

    private void enter(
        final MirroredChunk chunk, final int state, final PeerIdentity owner, final PeerIdentity reaper,
        final long requestId)
    {
        final int index = chunk.index();
        final boolean isOfRequest = STATE_ORPHAN == state || requestId == chunks.requestId(index);

        // Another lease gets a number of its own, and each change has clients read the headers again.
        if (!isRecorded(chunk) || state != chunks.state(index) || !isOfRequest ||
            !Objects.equals(owner, chunks.owner(index)) || !Objects.equals(reaper, chunks.reaper(index)))
        {
            names.name(index, chunk.group(), chunk.view(), chunk.count());
            chunks.leaseToGroup(index, state, owner, reaper, requestId);
        }
    }

    /**
     * The view of the attempt is over: what was asked for in it, or before, and comes late is not recorded. A later
     * attempt begins with nothing entered: what an earlier one has entered, the group may have returned since.
     *
     * @return chunks that were entered in the attempt.
     */
    private BitSet begin(final ViewAttempt attempt)
    {
        if (names.newestView(attempt.group()) > attempt.number())
        {
            throw new ControlException(ControlStatus.UNAVAILABLE,
                attempt + " is over: the group is in view " + names.newestView(attempt.group()) + " here");
        }

        final Entered newest = entering.get(attempt.group());
        if (null != newest && attempt.isBefore(newest.attempt))
        {
            throw new ControlException(
                ControlStatus.UNAVAILABLE, attempt + " is over: " + newest.attempt + " has begun here");
        }

        names.over(attempt.group(), attempt.number());
        if (null != newest && newest.attempt.equals(attempt))
        {
            return newest.chunks;
        }

        final Entered begun = new Entered(attempt, new BitSet(refusedCounts.length));
        entering.put(attempt.group(), begun);
        return begun.chunks;
    }

    /**
     * What was entered in the newest attempt in which this node was to come into a group.
     *
     * @param attempt newest.
     * @param chunks  by index.
     */
    private record Entered(ViewAttempt attempt, BitSet chunks)
    {
    }

    /** For people. */
    private String whatStands(final int index)
    {
        if (names.isMirrored(index))
        {
            return new MirroredChunk(
                names.group(index), names.view(index), index, chunkLengthBytes, names.count(index)).toString();
        }

        final int state = chunks.state(index);
        final String what = STATE_QUARANTINED == state ? "a chunk with a damaged header" :
            "a chunk of this memory node alone (" + ChunkDescriptor.stateName(state) + ")";
        return what + (null == chunks.owner(index) ? "" : " of " + chunks.owner(index));
    }

    private static ControlException invalid(final String what)
    {
        return new ControlException(ControlStatus.INVALID_REQUEST, what);
    }
}
