package io.verbena.protocol.mirror;

import io.verbena.protocol.message.ChunkPurpose;
import io.verbena.protocol.message.MirrorAction;
import io.verbena.protocol.message.MirrorAnswer;
import io.verbena.protocol.message.MirroredChunk;
import io.verbena.raas.failure.Backoff;

/**
 * Returns the chunk of one lease at members of a group, by descending node id: so the member that decides between
 * leases, the first, is free last. A member that never recorded the lease will not from then on. Whoever returns it
 * answers for it that nothing in the chunk can be reached. May be begun again, by anybody. Owner thread only.
 */
public final class MirroredReturn
{
    private final MemberCall call;
    private int member = -1;
    private MirroredChunk chunk;
    private String refusal = "";

    /**
     * @param members   of the group.
     * @param timeoutNs of each call.
     * @param backoff   between two calls that were not answered.
     */
    public MirroredReturn(final GroupMembers members, final long timeoutNs, final Backoff backoff)
    {
        call = new MemberCall(members, timeoutNs, backoff);
    }

    /**
     * @param returned   lease.
     * @param requestId  under which this node asked for a lease that it was not told it has: another request, of any
     *                   node, may have been recorded under the same name, and keeps the chunk. 0 for a lease that was
     *                   recorded by all, and for what another node has left: returned whoever asked for it.
     * @param lastMember where to begin; members behind it were never asked to record the lease.
     */
    public void begin(final MirroredChunk returned, final long requestId, final int lastMember)
    {
        call.describe(ChunkPurpose.BLOCKS, requestId);
        chunk = returned;
        member = lastMember;
        refusal = "";
        ask();
    }

    private void ask()
    {
        if (!isDone())
        {
            call.ask(MirrorAction.RETURN, member, chunk);
        }
    }

    /** @return whether all members have answered. Without that, nobody knows what the remaining ones hold. */
    public boolean isDone()
    {
        return member < 0;
    }

    /** @return why a member did not free the chunk, one line: another node has claimed it. Empty when all did. */
    public String refusal()
    {
        return refusal;
    }

    /**
     * Goes on. The caller sets the deadline: it stops calling this.
     *
     * @param nowNs time now.
     * @return work done.
     */
    public int poll(final long nowNs)
    {
        if (isDone())
        {
            return 0;
        }
        final MirrorAnswer answer = call.poll(nowNs);
        if (null == answer && call.refusal().isEmpty())
        {
            return 0;
        }
        refusal = null == answer ? call.refusal() : refusal;
        member--;
        ask();
        return 1;
    }
}
