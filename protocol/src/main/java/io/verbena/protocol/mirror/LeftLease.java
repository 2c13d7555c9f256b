package io.verbena.protocol.mirror;

import io.verbena.protocol.message.ChunkPurpose;
import io.verbena.protocol.message.MirrorAction;
import io.verbena.protocol.message.MirrorAnswer;
import io.verbena.protocol.message.MirroredChunk;
import io.verbena.raas.failure.Backoff;

/**
 * Finds out what a lease is whose node has ended, where members differ, and returns it everywhere if it is not
 * complete. A member that refuses it now will never record it: so nobody was told that it has the chunk, or ever will
 * be, not even a node that is thought to have ended and runs still. Owner thread only.
 */
public final class LeftLease
{
    /** What came of it. */
    public enum State
    {
        ASKING, RETURNING,
        /** All members have recorded it: what is named in it has to be found out before it is returned. */
        COMPLETE,
        /** It was not complete, and no member has it any more. */
        RETURNED,
        /**
         * A member cannot say, as its header was damaged, or refuses to; or keeps what is not complete, as it is
         * another node's: one that has claimed it, or that has not ended there. Found again by the headers.
         */
        UNKNOWN
    }

    private final GroupMembers members;
    private final MemberCall call;
    private final MirroredReturn returning;
    private MirroredChunk chunk;
    private int member;
    private State state = State.UNKNOWN;

    /**
     * @param members   of the group.
     * @param timeoutNs of each call.
     * @param backoff   between two calls that were not answered.
     */
    public LeftLease(final GroupMembers members, final long timeoutNs, final Backoff backoff)
    {
        this.members = members;
        call = new MemberCall(members, timeoutNs, backoff);
        call.describe(ChunkPurpose.BLOCKS, 0);
        returning = new MirroredReturn(members, timeoutNs, backoff);
    }

    /** @param left lease, as the header of a member names it. */
    public void begin(final MirroredChunk left)
    {
        chunk = left;
        member = 0;
        state = State.ASKING;
        call.ask(MirrorAction.REFUSE, member, chunk);
    }

    /** @return what came of it so far. */
    public State state()
    {
        return state;
    }

    /**
     * Goes on. The caller sets the deadline: it stops calling this.
     *
     * @param nowNs time now.
     * @return work done.
     */
    public int poll(final long nowNs)
    {
        return switch (state)
        {
            case ASKING -> pollAsking(nowNs);
            case RETURNING -> pollReturning(nowNs);
            default -> 0;
        };
    }

    private int pollAsking(final long nowNs)
    {
        final MirrorAnswer answer = call.poll(nowNs);
        if (null == answer)
        {
            state = call.refusal().isEmpty() ? state : State.UNKNOWN;
            return 0;
        }
        if (isRefused(answer))
        {
            state = State.RETURNING;
            returning.begin(chunk, 0, members.count() - 1);
        }
        else if (MirrorAnswer.Outcome.RECORDED == answer.outcome())
        {
            askNext();
        }
        else
        {
            state = State.UNKNOWN;
        }
        return 1;
    }

    /** A member will never record it: it is not complete, and never will be. */
    private static boolean isRefused(final MirrorAnswer answer)
    {
        return MirrorAnswer.Outcome.DONE == answer.outcome();
    }

    private void askNext()
    {
        member++;
        if (member == members.count())
        {
            state = State.COMPLETE;
        }
        else
        {
            call.ask(MirrorAction.REFUSE, member, chunk);
        }
    }

    private int pollReturning(final long nowNs)
    {
        final int workCount = returning.poll(nowNs);
        if (returning.isDone())
        {
            state = returning.refusal().isEmpty() ? State.RETURNED : State.UNKNOWN;
        }
        return workCount;
    }
}
