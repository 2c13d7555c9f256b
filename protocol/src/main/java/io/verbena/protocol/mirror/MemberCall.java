package io.verbena.protocol.mirror;

import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.control.MemoryNodeClient;
import io.verbena.protocol.message.ChunkPurpose;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.MirrorAction;
import io.verbena.protocol.message.MirrorAnswer;
import io.verbena.protocol.message.MirroredChunk;
import io.verbena.raas.failure.Backoff;

/** One call to one member, made again until it is answered or refused. Owner thread only. */
final class MemberCall
{
    private final GroupMembers members;
    private final long timeoutNs;
    private final Backoff backoff;
    private MirrorAction action;
    private int member;
    private MirroredChunk chunk;
    private ChunkPurpose purpose;
    private long requestId;
    private ControlCall<MirrorAnswer> call;
    private long againAtNs;
    private boolean isPausing;
    private String refusal = "";

    MemberCall(final GroupMembers members, final long timeoutNs, final Backoff backoff)
    {
        this.members = members;
        this.timeoutNs = timeoutNs;
        this.backoff = backoff;
    }

    /** Drops what is under way, and asks a member. */
    void ask(final MirrorAction what, final int ofMember, final MirroredChunk about)
    {
        action = what;
        member = ofMember;
        chunk = about;
        call = null;
        isPausing = false;
        refusal = "";
        backoff.reset();
    }

    /** What a request to record says besides. */
    void describe(final ChunkPurpose newPurpose, final long newRequestId)
    {
        purpose = newPurpose;
        requestId = newRequestId;
    }

    /** @return why the member will not do it, one line; empty while it has not said so. */
    String refusal()
    {
        return refusal;
    }

    /** @return the answer; null while there is none, and after a {@link #refusal()}. */
    MirrorAnswer poll(final long nowNs)
    {
        if (!refusal.isEmpty() || isPausing && againAtNs - nowNs > 0)
        {
            return null;
        }
        isPausing = false;
        if (null == call)
        {
            final MemoryNodeClient client = members.client(member);
            if (null == client)
            {
                pause(nowNs);
                return null;
            }
            call = client.mirrorChunk(action, chunk, purpose, requestId, timeoutNs);
            return null;
        }
        return call.isDone() ? onDone(nowNs) : null;
    }

    private MirrorAnswer onDone(final long nowNs)
    {
        final ControlCall<MirrorAnswer> ended = call;
        call = null;
        if (ControlStatus.OK == ended.status())
        {
            return ended.result();
        }
        if (ended.status().isUnknown() || ControlStatus.UNAVAILABLE == ended.status())
        {
            pause(nowNs); // the same again: whether it was done is unknown
            return null;
        }
        refusal = ended.status() + ": " + ended.failure();
        return null;
    }

    private void pause(final long nowNs)
    {
        isPausing = true;
        againAtNs = nowNs + backoff.nextPauseNs();
    }
}
