package io.verbena.table.operation;

import io.verbena.table.expiry.Expiry;
import io.verbena.table.format.BlockDescriptor;
import java.util.Arrays;

/**
 * Lets the writers of one key that are under way at this engine go one after the other instead of against each other,
 * and takes several of them along with one compare-and-swap. See
 * {@code docs/protocol/combined-writers.md}.
 *
 * <p>A writer that finds none of its key under way <em>leads</em>: it is run. One that finds a leader waits behind it,
 * {@link Step#COMBINED}: it has read nothing and holds no block. When the leader has ended, it first <em>answers</em>
 * those that waited when it began and would change nothing behind it, see {@link Answers}. Then the waiters up to the
 * first of another kind become one batch: the last of them leads, the ones before are its <em>members</em>. They take
 * effect at the leader's compare-and-swap, in their order, each with a version of its own; what PUTs before the last
 * stored is never seen by anybody, INCREMENTs add up, and so do APPENDs. Kinds that are not carried lead alone.
 * Single owner thread.
 */
public final class Combiner
{
    /** Turn of a leader that answers nobody. */
    private static final long NOBODY = -1;

    private final OperationFlow flow;
    /** Heads of chains, by hash: indexes of operations, see {@code NodeLink}. */
    private final int[] leaders;
    private final Answers answers;
    /** Counts those that have waited. */
    private long turns;

    Combiner(final OperationFlow flow, final int operationSlots)
    {
        this.flow = flow;
        answers = new Answers(flow);
        leaders = new int[Integer.highestOneBit(operationSlots) * 2];
        Arrays.fill(leaders, Batch.NONE);
    }

    /**
     * Whether an operation can take others of its kind along, with one block, and go along itself. Not one whose
     * deadline is that of the record before, which may be one of the batch; nor one that the next one may find gone.
     */
    private static boolean carries(final Operation op)
    {
        return op.request.kind == OperationKind.PUT && op.request.expiry != Expiry.KEEP ||
            op.request.kind == OperationKind.PUT_IF_PRESENT && op.request.expiry == Expiry.NONE ||
            op.request.kind == OperationKind.INCREMENT || op.request.kind == OperationKind.APPEND &&
            ComputedValues.keepsSuffix(op);
    }

    /**
     * First of all steps, of which nothing before it counts: what the operation has seen by then it does not use.
     *
     * @return whether the operation waits for another one, which lets it go on.
     */
    boolean join(final Operation op)
    {
        if (!op.combining.leads)
        {
            final int at = index(op);
            final Operation leader = findLeader(op, at);
            if (leader == null)
            {
                lead(op, at);
            }
            else if (isHeldUp(leader, op))
            {
                append(leader, op);
                return true;
            }
        }
        op.combining.turn = turns;
        return false;
    }

    private Operation findLeader(final Operation op, final int at)
    {
        Operation leader = leader(at);
        while (leader != null && !isSameKey(leader, op))
        {
            leader = leader.combining.nextLeader;
        }
        return leader;
    }

    private static boolean isOfOneKind(final Operation one, final Operation other)
    {
        return one.request.kind == other.request.kind && one.request.isInDigits == other.request.isInDigits;
    }

    /** Whoever does not need what a leader waits for goes past it, as the writer of another engine would. */
    private static boolean isHeldUp(final Operation leader, final Operation op)
    {
        return leader.step != Step.START || needsTheSame(leader, op);
    }

    private static boolean needsTheSame(final Operation leader, final Operation op)
    {
        return leader.block.wantsMemory ? OperationKind.storesValue(op.request.kind) :
            leader.pause.fullGroupsOffset == 0 || OperationKind.inserts(op.request.kind);
    }

    /** A leader waits for memory, or for a split: it is no writer under way, and delays whatever needs that. */
    void standAside(final Operation op)
    {
        flow.contention.giveBack(op);
        Operation waiter = op.combining.firstWaiter;
        while (waiter != null)
        {
            final Operation next = waiter.combining.next;
            if (!needsTheSame(op, waiter))
            {
                remove(op, waiter);
                waiter.step = Step.START;
                flow.park(waiter);
            }
            waiter = next;
        }
    }

    private void lead(final Operation op, final int at)
    {
        op.combining.leads = true;
        op.combining.overflows = false;
        op.combining.fate = OperationResult.OUTCOME_UNKNOWN;
        op.combining.nextLeader = leader(at);
        leaders[at] = op.index;
    }

    private void append(final Operation leader, final Operation op)
    {
        // Begun again, it may have been one of the writers under way.
        flow.contention.giveBack(op);
        op.step = Step.COMBINED;
        flow.traceWait(op);
        op.combining.turn = ++turns;
        op.combining.leader = null;
        op.combining.next = null;
        if (leader.combining.lastWaiter == null)
        {
            leader.combining.firstWaiter = op;
        }
        else
        {
            leader.combining.lastWaiter.combining.next = op;
        }
        leader.combining.lastWaiter = op;
    }

    private Operation leader(final int at)
    {
        return leaders[at] == Batch.NONE ? null : flow.operations[leaders[at]];
    }

    private int index(final Operation op)
    {
        return (int)op.request.hash.low() & leaders.length - 1;
    }

    private boolean isSameKey(final Operation leader, final Operation op)
    {
        return leader.request.hash.low() == op.request.hash.low() &&
            leader.request.hash.high() == op.request.hash.high() &&
            leader.request.table == op.request.table && leader.request.keyLength == op.request.keyLength &&
            flow.records.bytesEqual(leader.ownBlock() + BlockDescriptor.KEY_OFFSET,
                op.ownBlock() + BlockDescriptor.KEY_OFFSET, op.request.keyLength);
    }

    /**
     * The outcome of a leader is decided, and nothing of it is in flight: gives its members theirs, or lets them wait
     * again where they may still take effect before their own deadlines.
     *
     * @param outcome result of the leader.
     */
    void finish(final Operation leader, final int outcome)
    {
        // While it is not known what became of its first attempt, none of these is certain for its members either.
        final int result = leader.isOpen(outcome) ? OperationResult.OUTCOME_UNKNOWN : outcome;
        leader.combining.fate = result;
        Operation member = leader.combining.firstMember;
        leader.combining.firstMember = null;
        Operation firstBack = null;
        Operation lastBack = null;
        while (member != null)
        {
            final Operation next = member.combining.next;
            member.combining.leader = null;
            member.combining.next = null;
            if (member.reported)
            {
                settle(member, result);
            }
            else if (goesOn(member, result))
            {
                firstBack = firstBack == null ? member : firstBack;
                if (lastBack != null)
                {
                    lastBack.combining.next = member;
                }
                lastBack = member;
            }
            else
            {
                report(leader, member, result);
            }
            member = next;
        }
        if (lastBack != null)
        {
            lastBack.combining.next = leader.combining.firstWaiter;
            leader.combining.firstWaiter = firstBack;
            leader.combining.lastWaiter = leader.combining.lastWaiter == null ? lastBack : leader.combining.lastWaiter;
        }
    }

    /** What a PUT stored that is not the last of its batch nobody has seen: it can be done again, or not at all. */
    private static boolean goesOn(final Operation member, final int result)
    {
        return result == OperationResult.TIMED_OUT_NOT_APPLIED || result == OperationResult.NO_MEMORY ||
            result == OperationResult.OUTCOME_UNKNOWN && !OperationKind.computesValue(member.request.kind);
    }

    private void report(final Operation leader, final Operation member, final int result)
    {
        final boolean isStored = result == OperationResult.STORED;
        member.answer.version = !isStored ? leader.answer.version : member.combining.overflows ?
            leader.target.version : member.block.version;
        flow.counters.combined++;
        flow.report(member, isStored && member.combining.overflows ?
            ComputedValues.resultOfLeftOut(member.request.kind) : result);
        flow.release(member);
    }

    /** A member that was reported when its deadline passed. */
    private void settle(final Operation member, final int result)
    {
        if (OperationKind.computesValue(member.request.kind) && result != OperationResult.OUTCOME_UNKNOWN)
        {
            flow.attempts.settle(member, result == OperationResult.STORED && !member.combining.overflows);
        }
        flow.release(member);
    }

    /** A leader's slot becomes free: the next batch begins, with the next poll. */
    void onReleased(final Operation leader)
    {
        if (leader.combining.firstMember != null)
        {
            finish(leader, OperationResult.TIMED_OUT_NOT_APPLIED);
        }
        answerWaiters(leader);
        unlink(leader);
        final Operation first = leader.combining.firstWaiter;
        if (first == null)
        {
            return;
        }
        Operation last = first;
        Operation before = null;
        while (last.combining.next != null && carries(first) && carries(last.combining.next) &&
            isOfOneKind(first, last.combining.next))
        {
            before = last;
            last = last.combining.next;
        }
        if (last.combining.next != null)
        {
            last.combining.firstWaiter = last.combining.next;
            last.combining.lastWaiter = leader.combining.lastWaiter;
        }
        leader.combining.firstWaiter = null;
        leader.combining.lastWaiter = null;
        last.combining.next = null;
        if (before != null)
        {
            before.combining.next = null;
            last.combining.firstMember = first;
            for (Operation member = first; member != null; member = member.combining.next)
            {
                member.combining.leader = last;
                member.combining.overflows = false;
            }
        }
        lead(last, index(last));
        last.step = Step.START;
        flow.park(last);
    }

    /** In their order, as far as one that has to run. Those that the listener begins meanwhile wait as well. */
    private void answerWaiters(final Operation leader)
    {
        int result = answers.of(leader, leader.combining.firstWaiter);
        while (result != Answers.NONE)
        {
            final Operation waiter = leader.combining.firstWaiter;
            remove(leader, waiter);
            answers.tell(leader, waiter, result);
            result = answers.of(leader, leader.combining.firstWaiter);
        }
    }

    private void unlink(final Operation leader)
    {
        leader.combining.leads = false;
        final int at = index(leader);
        if (leaders[at] == leader.index)
        {
            leaders[at] = leader.combining.nextLeader == null ? Batch.NONE : leader.combining.nextLeader.index;
        }
        else
        {
            Operation before = leader(at);
            while (before.combining.nextLeader != leader)
            {
                before = before.combining.nextLeader;
            }
            before.combining.nextLeader = leader.combining.nextLeader;
        }
        leader.combining.nextLeader = null;
    }

    /**
     * The deadline of one that waits has passed. The addend of a member may be in a sum already, or its bytes in a
     * value, so that it takes effect; a member that PUTs has had none that anybody could see.
     */
    void expire(final Operation op)
    {
        if (op.combining.leader == null)
        {
            removeWaiter(op);
            flow.report(op, OperationResult.TIMED_OUT_NOT_APPLIED);
            flow.release(op);
            return;
        }
        final int result = resultWithoutLeader(op, OperationResult.TIMED_OUT_NOT_APPLIED);
        if (result == OperationResult.OUTCOME_UNKNOWN && !op.combining.leader.repeats)
        {
            // One that looks for its own lost attempt was noted with all of its members.
            notePending(op);
        }
        // Its slot becomes free with the outcome of the leader.
        flow.report(op, result);
    }

    /** Also where nothing was posted yet, and over what is known of an attempt before: the leader goes on with it. */
    private void notePending(final Operation member)
    {
        flow.attempts.noteMember(member, member.combining.leader, Attempts.PENDING);
    }

    /** @return the result of an operation that waits before its leader has ended. */
    public static int resultWithoutLeader(final Operation op, final int resultOfWaiter)
    {
        return op.combining.leader != null && OperationKind.computesValue(op.request.kind) ?
            OperationResult.OUTCOME_UNKNOWN : resultOfWaiter;
    }

    private void removeWaiter(final Operation op)
    {
        final Operation leader = findLeader(op, index(op));
        if (leader == null)
        {
            throw new IllegalStateException("waits for nobody: " + op);
        }
        remove(leader, op);
    }

    private static void remove(final Operation leader, final Operation op)
    {
        Operation before = null;
        Operation waiter = leader.combining.firstWaiter;
        while (waiter != op)
        {
            before = waiter;
            waiter = waiter.combining.next;
        }
        if (before == null)
        {
            leader.combining.firstWaiter = op.combining.next;
        }
        else
        {
            before.combining.next = op.combining.next;
        }
        leader.combining.lastWaiter = leader.combining.lastWaiter == op ? before : leader.combining.lastWaiter;
        op.combining.next = null;
    }

    /** A leader's decisive batch was lost with its connection, and with that what it could answer; of its members. */
    void noteLost(final Operation leader)
    {
        leader.combining.turn = NOBODY;
        for (Operation member = leader.combining.firstMember; member != null; member = member.combining.next)
        {
            if (OperationKind.computesValue(member.request.kind) && !member.combining.overflows)
            {
                flow.attempts.noteMember(member, leader, Attempts.LOST);
            }
            else
            {
                flow.attempts.settle(member, false);
            }
        }
    }

    /**
     * The first attempt of a leader had no effect, and it is done again: without those of its members whose
     * outcome was reported as unknown, which may be begun again on their own.
     */
    void dropReported(final Operation leader)
    {
        Operation before = null;
        Operation member = leader.combining.firstMember;
        while (member != null)
        {
            final Operation next = member.combining.next;
            if (member.reported)
            {
                leader.combining.firstMember = before == null ? next : leader.combining.firstMember;
                if (before != null)
                {
                    before.combining.next = next;
                }
                member.combining.leader = null;
                member.combining.next = null;
                settle(member, OperationResult.TIMED_OUT_NOT_APPLIED);
            }
            else
            {
                before = member;
            }
            member = next;
        }
    }
}
