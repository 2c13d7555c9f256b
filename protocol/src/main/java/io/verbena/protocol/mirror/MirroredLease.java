package io.verbena.protocol.mirror;

import io.verbena.protocol.message.ChunkPurpose;
import io.verbena.protocol.message.MirrorAction;
import io.verbena.protocol.message.MirrorAnswer;
import io.verbena.protocol.message.MirroredChunk;
import io.verbena.raas.failure.Backoff;

/**
 * Leases one chunk of a group, in one view: the primary names an index, and every member records the lease, by
 * ascending node id. A member that refuses makes it give the others back, and ask for another index. The chunk may be
 * used when all members have recorded the lease, not before. One lease at a time. Owner thread only.
 *
 * <pre>
 *            +-----------------------------------------------+
 *            v                                               |
 *        CHOOSING --named--> RECORDING --refused--> GIVING_BACK --+--> EXHAUSTED
 *                                |                                +--> FAILED
 *                                +--all recorded--> LEASED
 * </pre>
 */
public final class MirroredLease
{
    /** How far it is. */
    public enum State
    {
        CHOOSING, RECORDING, GIVING_BACK,
        /** {@link #chunk()} may be used. */
        LEASED,
        /** No chunk is free on all members. */
        EXHAUSTED,
        /** {@link #failure()} says why; {@link #left()} what is to be returned. */
        FAILED
    }

    /** Attempts to record an index under a larger count, before the next index is asked for. */
    private static final int MAX_COUNTS = 4;

    private final GroupMembers members;
    private final MemberCall call;
    private final MirroredReturn returning;
    private MirroredChunk chunk;
    private State state = State.FAILED;
    private State afterwards;
    private String failure = "not begun";
    private long deadlineNs;
    private long patienceNs;
    private int begunAt;
    private boolean hasWrapped;
    private int member;
    private int countsTried;
    /** What follows when the chunk is given back. */
    private int nextIndex;
    private long nextCount;
    private MirroredChunk left;
    private long requestId;

    /**
     * @param members   of the group.
     * @param timeoutNs of each call.
     * @param backoff   between two calls that were not answered.
     */
    public MirroredLease(final GroupMembers members, final long timeoutNs, final Backoff backoff)
    {
        this.members = members;
        call = new MemberCall(members, timeoutNs, backoff);
        returning = new MirroredReturn(members, timeoutNs, backoff);
    }

    /**
     * Begins; not while one is under way.
     *
     * @param wanted    group, view and length of the chunk; its index says where to look first: behind the chunk that
     *                  was leased last.
     * @param purpose   what for.
     * @param requestId of this lease, not 0: unique in the registration of this node.
     * @param nowNs     time now.
     * @param limitNs   how long it may take until it is leased; giving back may take as long again.
     */
    public void begin(
        final MirroredChunk wanted, final ChunkPurpose purpose, final long requestId, final long nowNs,
        final long limitNs)
    {
        chunk = wanted;
        begunAt = wanted.index();
        hasWrapped = false;
        patienceNs = limitNs;
        deadlineNs = nowNs + limitNs;
        failure = "";
        left = null;
        this.requestId = requestId;
        call.describe(purpose, requestId);
        choose(wanted.index());
    }

    /** @return how far it is. */
    public State state()
    {
        return state;
    }

    /** @return the lease; after LEASED. */
    public MirroredChunk chunk()
    {
        return chunk;
    }

    /** @return why it failed, one line. */
    public String failure()
    {
        return failure;
    }

    /**
     * @return after FAILED, a lease that some members may hold: to be returned at all of them under
     * {@link #requestId()}; else null.
     */
    public MirroredChunk left()
    {
        return left;
    }

    /** @return of the lease that was begun last. */
    public long requestId()
    {
        return requestId;
    }

    /** The view is over: nothing more is asked in it. What was recorded is returned in the next one. */
    public void abandon()
    {
        if (State.CHOOSING == state || State.RECORDING == state || State.GIVING_BACK == state)
        {
            left = State.CHOOSING == state ? null : chunk;
            fail("the view is over");
        }
    }

    private void fail(final String why)
    {
        failure = failure.isEmpty() ? why : failure;
        state = State.FAILED;
    }

    /**
     * Goes on.
     *
     * @param nowNs time now.
     * @return work done.
     */
    public int poll(final long nowNs)
    {
        return switch (state)
        {
            case CHOOSING -> pollChoosing(nowNs);
            case RECORDING -> pollRecording(nowNs);
            case GIVING_BACK -> pollGivingBack(nowNs);
            default -> 0;
        };
    }

    private void choose(final int from)
    {
        state = State.CHOOSING;
        countsTried = 0;
        call.ask(MirrorAction.CHOOSE, members.primary(), chunk.at(from, 0));
    }

    private int pollChoosing(final long nowNs)
    {
        final MirrorAnswer answer = call.poll(nowNs);
        if (null == answer)
        {
            if (!call.refusal().isEmpty() || deadlineNs - nowNs <= 0)
            {
                fail(call.refusal().isEmpty() ? "the primary did not answer in time" : call.refusal());
            }
            return 0;
        }
        if (MirrorAnswer.Outcome.DONE != answer.outcome())
        {
            chooseFrom(-1);
        }
        else if (hasWrapped && answer.index() >= begunAt)
        {
            state = State.EXHAUSTED;
        }
        else if (!isCountable(answer))
        {
            choose(answer.index() + 1);
        }
        else
        {
            record(answer.index(), answer.count() + 1);
        }
        return 1;
    }

    /** Whether a lease may have a larger count than the member knows. */
    private static boolean isCountable(final MirrorAnswer answer)
    {
        return answer.count() < MirroredChunk.MAX_COUNT;
    }

    /** Asks for an index from here on; -1: there is none to the end, so from the first one, once. */
    private void chooseFrom(final int index)
    {
        if (index >= 0)
        {
            choose(index);
        }
        else if (hasWrapped || 0 == begunAt)
        {
            state = State.EXHAUSTED;
        }
        else
        {
            hasWrapped = true;
            choose(0);
        }
    }

    private void record(final int index, final long count)
    {
        state = State.RECORDING;
        chunk = chunk.at(index, count);
        member = 0;
        call.ask(MirrorAction.RECORD, member, chunk);
    }

    private int pollRecording(final long nowNs)
    {
        final MirrorAnswer answer = call.poll(nowNs);
        if (null == answer)
        {
            if (!call.refusal().isEmpty())
            {
                failure = call.refusal();
                giveBack(member - 1, State.FAILED, nowNs);
            }
            else if (deadlineNs - nowNs <= 0)
            {
                failure = "a member did not answer in time";
                giveBack(member, State.FAILED, nowNs); // that one may have recorded it, or may yet
            }
            return 0;
        }
        switch (answer.outcome())
        {
            case DONE -> recordNext();
            case OUTDATED -> recordAgain(answer, nowNs);
            default ->
            {
                nextIndex = answer.index() < 0 ? -1 : Math.max(chunk.index() + 1, answer.index());
                giveBack(member - 1, State.CHOOSING, nowNs);
            }
        }
        return 1;
    }

    private void recordNext()
    {
        member++;
        if (isRecordedByAll())
        {
            state = State.LEASED;
        }
        else
        {
            call.ask(MirrorAction.RECORD, member, chunk);
        }
    }

    private boolean isRecordedByAll()
    {
        return member == members.count();
    }

    private void recordAgain(final MirrorAnswer answer, final long nowNs)
    {
        countsTried++;
        nextCount = answer.count() + 1;
        nextIndex = chunk.index() + 1;
        giveBack(
            member - 1, countsTried < MAX_COUNTS && isCountable(answer) ? State.RECORDING : State.CHOOSING, nowNs);
    }

    private void giveBack(final int lastMember, final State then, final long nowNs)
    {
        state = State.GIVING_BACK;
        afterwards = then;
        deadlineNs = State.FAILED == then ? nowNs + patienceNs : deadlineNs;
        returning.begin(chunk, requestId, lastMember);
    }

    private int pollGivingBack(final long nowNs)
    {
        final int workCount = returning.poll(nowNs);
        if (!returning.isDone())
        {
            if (deadlineNs - nowNs <= 0)
            {
                left = chunk;
                fail("a member did not take a chunk back in time");
            }
            return workCount;
        }
        if (!returning.refusal().isEmpty())
        {
            left = chunk;
            failure = (failure.isEmpty() ? "" : failure + "; ") + "not given back: " + returning.refusal();
            state = State.FAILED;
            return 1;
        }
        switch (afterwards)
        {
            case CHOOSING -> chooseFrom(nextIndex);
            case RECORDING -> record(chunk.index(), nextCount);
            default -> state = State.FAILED;
        }
        return 1;
    }
}
