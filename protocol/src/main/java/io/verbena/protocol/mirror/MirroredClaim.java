package io.verbena.protocol.mirror;

import io.verbena.protocol.message.ChunkPurpose;
import io.verbena.protocol.message.MirrorAction;
import io.verbena.protocol.message.MirrorAnswer;
import io.verbena.protocol.message.MirroredChunk;
import io.verbena.raas.failure.Backoff;

/**
 * Claims or adopts the chunk of a complete lease at all members of a group, by ascending node id: of several nodes, one
 * gets it at the first member, and the others stop there. A claim at all members says that the node that leased the
 * chunk reaches none of them any more. May be begun again. Owner thread only.
 */
public final class MirroredClaim
{
    /** What came of it. */
    public enum State
    {
        ASKING,
        /** Claimed, or adopted, at all members. */
        DONE,
        /** Another node has claimed it, or its own node has not ended at a member yet: try later. */
        TAKEN,
        /** A member does not have the lease: see {@link LeftLease}. */
        ABSENT
    }

    private final GroupMembers members;
    private final MemberCall call;
    private MirrorAction action;
    private MirroredChunk chunk;
    private int member;
    private State state = State.TAKEN;

    /**
     * @param members   of the group.
     * @param timeoutNs of each call.
     * @param backoff   between two calls that were not answered.
     */
    public MirroredClaim(final GroupMembers members, final long timeoutNs, final Backoff backoff)
    {
        this.members = members;
        call = new MemberCall(members, timeoutNs, backoff);
        call.describe(ChunkPurpose.BLOCKS, 0);
    }

    /** Begins to close the chunk for this node, which then finds out what in it is in use. */
    public void claim(final MirroredChunk claimed)
    {
        begin(MirrorAction.CLAIM, claimed);
    }

    /** Begins to take over a chunk that this node has claimed at all members. */
    public void adopt(final MirroredChunk claimed)
    {
        begin(MirrorAction.ADOPT, claimed);
    }

    private void begin(final MirrorAction newAction, final MirroredChunk about)
    {
        action = newAction;
        chunk = about;
        member = 0;
        state = State.ASKING;
        call.ask(action, member, chunk);
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
        if (State.ASKING != state)
        {
            return 0;
        }
        final MirrorAnswer answer = call.poll(nowNs);
        if (null == answer)
        {
            state = call.refusal().isEmpty() ? state : State.TAKEN;
            return 0;
        }
        switch (answer.outcome())
        {
            case DONE -> askNext();
            case ABSENT -> state = State.ABSENT;
            default -> state = State.TAKEN;
        }
        return 1;
    }

    private void askNext()
    {
        member++;
        if (member == members.count())
        {
            state = State.DONE;
        }
        else
        {
            call.ask(action, member, chunk);
        }
    }
}
