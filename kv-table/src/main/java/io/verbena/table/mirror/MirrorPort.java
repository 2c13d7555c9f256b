package io.verbena.table.mirror;

import io.verbena.raas.OneSidedPort;
import io.verbena.raas.limit.RaasMisuseException;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.table.access.MirroredPort;
import io.verbena.table.access.Scratch;
import io.verbena.table.format.SizeClasses;

/**
 * The memory of a mirror group in one view, as one port. A batch is posted to the members step by step: all of its
 * requests that need not wait for each other go on together, and READs come behind the swaps staged before them. It is
 * answered when every round of it is over.
 *
 * <p>Ends with its view: see {@link #close}. When one member fails all that is under way fails, since nobody can say
 * what became of it; another port has to be made, over new connections. Owner thread of the engine only.
 */
public final class MirrorPort implements MirroredPort, AutoCloseable
{
    /** Takes the completions of batches, as an engine does. */
    @FunctionalInterface
    public interface Completions
    {
        /** Takes one. */
        void onBatchComplete(int cookie, int status);
    }

    /** Whether rounds can be begun and ended. */
    public enum State
    {
        /** They can. */
        OPEN,
        /** A member did not answer: rounds under way are undecided, as far as is known here. */
        BROKEN,
        /** The view is over: no round of it commits any more. */
        CLOSED
    }

    /** Most members of a group. */
    public static final int MOST_MEMBERS = MirrorRound.MOST_MEMBERS;
    private static final int BATCHES = 64;
    private static final int REQUESTS = 72;
    private static final int RESULTS_BYTES = BATCHES * REQUESTS * MirrorRound.RESULT_BYTES;

    private final long view;
    private final OneSidedPort[] members;
    private final Completions completions;
    private final Scratch scratch;
    private final MirrorRound rounds;
    private final MirrorBatch[] batches = new MirrorBatch[BATCHES];
    private final int[] free = new int[BATCHES];
    private int freeCount;
    /** Batches that wait. */
    private int waitingCount;
    private long regionLengthBytes;
    private MirrorBatch staged;
    private int stagedNumber;
    private boolean fencesNext;
    private State state = State.OPEN;
    private boolean isReleased;
    private long stepsPosted;

    /**
     * @param protectionDomain that the members' queue pairs belong to.
     * @param view             of which this port is.
     * @param members          head, then the middle if there is one, then the primary; their completions go to {@link
     *                         #onMemberComplete}, and nobody else uses them.
     * @param completions      takes those of the batches posted here.
     */
    public MirrorPort(
        final ProtectionDomain protectionDomain,
        final long view,
        final OneSidedPort[] members,
        final Completions completions)
    {
        if (members.length < 2 || members.length > MOST_MEMBERS)
        {
            throw new IllegalArgumentException(
                "a mirror group has 2 or " + MOST_MEMBERS + " members, not " + members.length);
        }
        this.view = view;
        this.members = members.clone();
        this.completions = completions;
        scratch = new Scratch(protectionDomain, RESULTS_BYTES + SizeClasses.MAX_BLOCK_BYTES);
        rounds = new MirrorRound(this.members, scratch, RESULTS_BYTES);
        for (int i = BATCHES - 1; i >= 0; i--)
        {
            free[freeCount++] = i;
        }
    }

    /** @return number of the view. */
    public long view()
    {
        return view;
    }

    /** @return whether rounds can be begun and ended. */
    public State state()
    {
        return state;
    }

    /** @return steps posted for batches so far: round trips, where one batch at a time is under way. */
    public long stepsPosted()
    {
        return stepsPosted;
    }

    /** @return rounds committed that began here. */
    public long committed()
    {
        return rounds.committed;
    }

    /** @return rounds that began here and were decided for somebody else, or were over before. */
    public long lost()
    {
        return rounds.lost;
    }

    /** @return rounds of others that had to be finished here. */
    public long finished()
    {
        return rounds.finished;
    }

    @Override
    public boolean isReady()
    {
        boolean isReady = state == State.OPEN;
        for (final OneSidedPort member : members)
        {
            isReady &= member.isReady();
        }
        return isReady;
    }

    @Override
    public boolean isFailed()
    {
        boolean isFailed = state != State.OPEN;
        for (final OneSidedPort member : members)
        {
            isFailed |= member.isFailed();
        }
        return isFailed;
    }

    @Override
    public int space()
    {
        if (state != State.OPEN || freeCount == 0 && staged == null)
        {
            return 0;
        }
        // A step may need a WRITE beside its swap. Another member may have less room: then the batch waits for it.
        return Math.min(REQUESTS, members[rounds.readMember()].space() - 1) - (staged == null ? 0 : staged.count);
    }

    @Override
    public long regionLengthBytes()
    {
        // Known once all are connected, and the same from then on.
        if (regionLengthBytes == 0)
        {
            regionLengthBytes = Long.MAX_VALUE;
            for (final OneSidedPort member : members)
            {
                regionLengthBytes = Math.min(regionLengthBytes, member.regionLengthBytes());
            }
        }
        return regionLengthBytes;
    }

    @Override
    public void preload(final long remoteOffset, final int lengthBytes)
    {
        members[rounds.readMember()].preload(remoteOffset, lengthBytes);
    }

    @Override
    public void begin()
    {
        if (staged != null || freeCount == 0)
        {
            throw new RaasMisuseException(staged != null ? "a batch is open" : "no batch is free: ask space()");
        }
        stagedNumber = free[--freeCount];
        if (batches[stagedNumber] == null)
        {
            batches[stagedNumber] = new MirrorBatch(stagedNumber, REQUESTS);
        }
        staged = batches[stagedNumber];
        staged.reset();
        staged.isUsed = true;
        fencesNext = false;
    }

    @Override
    public void abort()
    {
        if (staged != null)
        {
            release(stagedNumber);
            staged = null;
        }
    }

    private void release(final int number)
    {
        final MirrorBatch batch = batches[number];
        if (!batch.isReads)
        {
            releaseBlocks(batch);
        }
        batch.isUsed = false;
        waits(batch, false);
        free[freeCount++] = number;
    }

    private void releaseBlocks(final MirrorBatch batch)
    {
        for (int i = 0; i < batch.count; i++)
        {
            rounds.releaseBlock(batch.requests[i]);
        }
    }

    private MirrorRequest stage(
        final int kind, final MemoryRegion local, final long localOffset, final int lengthBytes, final long offset)
    {
        if (staged == null || staged.count == REQUESTS || offset < 0 || offset > regionLengthBytes() - lengthBytes)
        {
            final String why = staged == null ? "without begin()" : staged.count == REQUESTS ?
                "more than " + REQUESTS + " in a batch" : "beyond the region";
            abort();
            throw new RaasMisuseException("request for " + lengthBytes + " bytes at " + offset + ": " + why);
        }
        final MirrorRequest request = staged.requests[staged.count++];
        request.reset(kind, local, localOffset, offset);
        request.lengthBytes = lengthBytes;
        request.isFenced = fencesNext;
        fencesNext = false;
        if (kind != MirrorRequest.READ)
        {
            staged.members = (1 << members.length) - 1;
            staged.isReads = false;
        }
        return request;
    }

    @Override
    public void read(final MemoryRegion local, final long localOffset, final int lengthBytes, final long remoteOffset)
    {
        readAt(rounds.readMember(), local, localOffset, lengthBytes, remoteOffset);
    }

    @Override
    public int memberCount()
    {
        return members.length;
    }

    @Override
    public void readAt(
        final int member,
        final MemoryRegion local,
        final long localOffset,
        final int lengthBytes,
        final long remoteOffset)
    {
        stage(MirrorRequest.READ, local, localOffset, lengthBytes, remoteOffset).member = member;
        staged.members |= 1 << member;
    }

    @Override
    public void write(final MemoryRegion local, final long localOffset, final int lengthBytes, final long remoteOffset)
    {
        stage(MirrorRequest.WRITE, local, localOffset, lengthBytes, remoteOffset);
    }

    @Override
    public void compareSwap(
        final MemoryRegion local,
        final long localOffset,
        final long remoteOffset,
        final long expected,
        final long desired)
    {
        stage(MirrorRequest.PROPOSE, local, localOffset, Long.BYTES, remoteOffset).round(expected, expected, desired);
    }

    @Override
    public void proposeLink(
        final MemoryRegion local, final long resultAt, final long offset, final long expected, final long proposed)
    {
        final MirrorRequest request = stage(MirrorRequest.PROPOSE, local, resultAt, Long.BYTES, offset);
        request.round(expected, expected, proposed);
        request.isSlot = false;
    }

    @Override
    public void settleLink(final MemoryRegion local, final long resultAt, final long offset)
    {
        stage(MirrorRequest.SETTLE, local, resultAt, Long.BYTES, offset).isSlot = false;
    }

    @Override
    public void claim(
        final MemoryRegion local,
        final long resultAt,
        final long slotOffset,
        final long empty,
        final long tentative)
    {
        stage(MirrorRequest.CLAIM, local, resultAt, Long.BYTES, slotOffset).round(empty, empty, tentative);
    }

    @Override
    public void withdraw(
        final MemoryRegion local,
        final long resultAt,
        final long slotOffset,
        final long tentative,
        final long empty)
    {
        stage(MirrorRequest.CLAIM, local, resultAt, Long.BYTES, slotOffset).round(tentative, empty, empty);
    }

    @Override
    public void kill(
        final MemoryRegion local,
        final long resultAt,
        final long slotOffset,
        final long tentative,
        final long emptied)
    {
        stage(MirrorRequest.KILL, local, resultAt, Long.BYTES, slotOffset).round(tentative, tentative, emptied);
    }

    @Override
    public void commit(
        final MemoryRegion local,
        final long resultAt,
        final long slotOffset,
        final long empty,
        final long tentative,
        final long committed)
    {
        stage(MirrorRequest.PROPOSE, local, resultAt, Long.BYTES, slotOffset).round(tentative, empty, committed);
    }

    @Override
    public void settle(final MemoryRegion local, final long resultAt, final long slotOffset)
    {
        stage(MirrorRequest.SETTLE, local, resultAt, Long.BYTES, slotOffset);
    }

    @Override
    public void fenceNext()
    {
        fencesNext = true;
    }

    @Override
    public int complete(final int cookie)
    {
        if (state != State.OPEN)
        {
            abort();
            return PostStatus.INVALID_STATE;
        }
        final MirrorBatch batch = staged;
        staged = null;
        batch.cookie = cookie;
        goOn(stagedNumber, batch);
        return PostStatus.OK;
    }

    /** Goes on with batches that wait. @return work done. */
    public int poll()
    {
        if (state == State.OPEN && isFailed())
        {
            state = State.BROKEN;
        }
        int worked = 0;
        for (int i = 0; i < BATCHES && waitingCount > 0; i++)
        {
            final MirrorBatch batch = batches[i];
            if (batch != null && batch.isUsed && batch.isWaiting && batch != staged)
            {
                waits(batch, false);
                goOn(i, batch);
                worked += batch.isWaiting ? 0 : 1;
            }
        }
        return worked;
    }

    private void goOn(final int number, final MirrorBatch batch)
    {
        if (state != State.OPEN)
        {
            // Nothing of it is under way; what was may have taken effect.
            end(number, batch, WorkCompletionStatus.WR_FLUSH_ERR);
            return;
        }
        if (hasRoom(batch))
        {
            for (int left = batch.members; left != 0; left &= left - 1)
            {
                members[first(left)].begin();
            }
            if (batch.isReads)
            {
                stageReads(batch);
            }
            else
            {
                stageStep(batch);
            }
            post(number, batch);
        }
        waits(batch, batch.unanswered == 0);
    }

    /** As {@link #stageStep} does it, of which most is about rounds: a read of a record is such a batch. */
    private void stageReads(final MirrorBatch batch)
    {
        for (int i = 0; i < batch.count; i++)
        {
            rounds.stageAccess(batch.requests[i]);
        }
    }

    private void waits(final MirrorBatch batch, final boolean isWaiting)
    {
        waitingCount += (isWaiting ? 1 : 0) - (batch.isWaiting ? 1 : 0);
        batch.isWaiting = isWaiting;
    }

    /** Place of the first of some members, which are the bits that are set. */
    private static int first(final int left)
    {
        return Integer.numberOfTrailingZeros(left);
    }

    private boolean hasRoom(final MirrorBatch batch)
    {
        final int requests = batch.left() + 1;
        int left = batch.members;
        while (left != 0 && members[first(left)].isReady() && members[first(left)].space() >= requests)
        {
            left &= left - 1;
        }
        return left == 0;
    }

    private void stageStep(final MirrorBatch batch)
    {
        boolean mayRead = true;
        for (int i = 0; i < batch.count; i++)
        {
            final MirrorRequest request = batch.requests[i];
            if (request.step == MirrorRequest.DONE)
            {
                continue;
            }
            final boolean waits = request.isRound() ? batch.isBehindSameSlot(i) || batch.isBehindLink(i) :
                request.kind != MirrorRequest.WRITE && !mayRead;
            request.isPosted = !waits && rounds.stage(request);
            mayRead &= !request.isRound() || request.isPosted && request.isLast();
        }
    }

    /** A member for which nothing was staged is asked nothing. */
    private void post(final int number, final MirrorBatch batch)
    {
        for (int left = batch.members; left != 0; left &= left - 1)
        {
            final int member = first(left);
            if (!batch.isReads && !isStagedAt(batch, member))
            {
                members[member].abort();
            }
            else if (members[member].complete(number) == PostStatus.OK)
            {
                batch.unanswered++;
            }
            else
            {
                state = State.BROKEN;
            }
        }
        if (batch.unanswered > 0)
        {
            stepsPosted++;
        }
    }

    private boolean isStagedAt(final MirrorBatch batch, final int member)
    {
        boolean isStaged = false;
        for (int i = 0; i < batch.count && !isStaged; i++)
        {
            isStaged = batch.requests[i].isPosted && rounds.uses(batch.requests[i], member);
        }
        return isStaged;
    }

    /**
     * Takes the completion of a member's batch.
     *
     * @param cookie of it.
     * @param status an error breaks this port.
     */
    public void onMemberComplete(final int cookie, final int status)
    {
        if (state == State.CLOSED)
        {
            return;
        }
        final MirrorBatch batch = batches[cookie];
        state = status == WorkCompletionStatus.SUCCESS ? state : State.BROKEN;
        if (--batch.unanswered > 0)
        {
            return;
        }
        if (state == State.OPEN && batch.isReads)
        {
            end(cookie, batch, WorkCompletionStatus.SUCCESS);
            return;
        }
        for (int i = 0; i < batch.count && state == State.OPEN; i++)
        {
            if (batch.requests[i].isPosted)
            {
                batch.requests[i].isPosted = false;
                rounds.onAnswer(batch.requests[i]);
            }
        }
        if (state == State.OPEN && batch.isDone())
        {
            end(cookie, batch, WorkCompletionStatus.SUCCESS);
        }
        else
        {
            goOn(cookie, batch);
        }
    }

    private void end(final int number, final MirrorBatch batch, final int status)
    {
        final int cookie = batch.cookie;
        release(number);
        completions.onBatchComplete(cookie, status);
    }

    /**
     * Ends all rounds: the view is over, or its connections are. Nothing is posted and no completion comes any more, so
     * that the engine has to be detached, as soon as requests that are under way touch local memory no more.
     */
    public void leave()
    {
        state = State.CLOSED;
    }

    /** Leaves, and gives local memory back, which requests of the members touch no more. May be repeated. */
    @Override
    public void close()
    {
        leave();
        if (!isReleased)
        {
            isReleased = true;
            scratch.close();
        }
    }

    @Override
    public String toString()
    {
        return "MirrorPort{view=" + view + " members=" + members.length + " state=" + state + " committed=" +
            rounds.committed + " lost=" + rounds.lost + '}';
    }
}
