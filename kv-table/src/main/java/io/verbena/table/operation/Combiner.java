package io.verbena.table.operation;

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

    private final OperationRunner runner;
    /** Heads of chains, by hash: indexes of operations, see {@code NodeLink}. */
    private final int[] leaders;
    private final Answers answers;
    /** Counts those that have waited. */
    private long turns;

    Combiner(final OperationRunner runner, final int operationSlots)
    {
        this.runner = runner;
        answers = new Answers(runner);
        leaders = new int[Integer.highestOneBit(operationSlots) * 2];
        Arrays.fill(leaders, Batch.NONE);
    }

    /** Whether an operation can take others of its kind along, with one block. */
    private static boolean carries(final Operation op)
    {
        return op.kind == OperationKind.PUT || op.kind == OperationKind.PUT_IF_PRESENT ||
            op.kind == OperationKind.INCREMENT || op.kind == OperationKind.APPEND && ComputedValues.keepsSuffix(op);
    }

    /**
     * First of all steps, of which nothing before it counts: what the operation has seen by then it does not use.
     *
     * @return whether the operation waits for another one, which lets it go on.
     */
    boolean join(final Operation op)
    {
        if (!op.leads)
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
        op.turn = turns;
        return false;
    }

    private Operation findLeader(final Operation op, final int at)
    {
        Operation leader = leader(at);
        while (leader != null && !isSameKey(leader, op))
        {
            leader = leader.nextLeader;
        }
        return leader;
    }

    private static boolean isOfOneKind(final Operation one, final Operation other)
    {
        return one.kind == other.kind;
    }

    /** Whoever does not need what a leader waits for goes past it, as the writer of another engine would. */
    private static boolean isHeldUp(final Operation leader, final Operation op)
    {
        return leader.step != Step.START || needsTheSame(leader, op);
    }

    private static boolean needsTheSame(final Operation leader, final Operation op)
    {
        return leader.wantsMemory ? OperationKind.storesValue(op.kind) :
            leader.fullGroupsOffset == 0 || OperationKind.inserts(op.kind);
    }

    /** A leader waits for memory, or for a split: it is none of the writers under way, and holds up who needs that. */
    void standAside(final Operation op)
    {
        runner.contention.giveBack(op);
        Operation waiter = op.firstWaiter;
        while (waiter != null)
        {
            final Operation next = waiter.next;
            if (!needsTheSame(op, waiter))
            {
                remove(op, waiter);
                waiter.step = Step.START;
                runner.park(waiter);
            }
            waiter = next;
        }
    }

    private void lead(final Operation op, final int at)
    {
        op.leads = true;
        op.overflows = false;
        op.fate = OperationResult.OUTCOME_UNKNOWN;
        op.nextLeader = leader(at);
        leaders[at] = op.index;
    }

    private void append(final Operation leader, final Operation op)
    {
        // Begun again, it may have been one of the writers under way.
        runner.contention.giveBack(op);
        op.step = Step.COMBINED;
        op.turn = ++turns;
        op.leader = null;
        op.next = null;
        if (leader.lastWaiter == null)
        {
            leader.firstWaiter = op;
        }
        else
        {
            leader.lastWaiter.next = op;
        }
        leader.lastWaiter = op;
    }

    private Operation leader(final int at)
    {
        return runner.operation(leaders[at]);
    }

    private int index(final Operation op)
    {
        return (int)op.hash.low() & leaders.length - 1;
    }

    private boolean isSameKey(final Operation leader, final Operation op)
    {
        return leader.hash.low() == op.hash.low() && leader.hash.high() == op.hash.high() &&
            leader.table == op.table && leader.keyLength == op.keyLength &&
            runner.records.bytesEqual(leader.ownBlock() + BlockDescriptor.KEY_OFFSET,
                op.ownBlock() + BlockDescriptor.KEY_OFFSET, op.keyLength);
    }

    /**
     * The outcome of a leader is decided, and nothing of it is in flight: tells its members theirs, or lets them wait
     * again where they may still take effect before their own deadlines.
     *
     * @param told result of the leader.
     */
    void finish(final Operation leader, final int told)
    {
        // While it is not known what became of its first attempt, none of these is certain for its members either.
        final int result = OperationRunner.isOpen(leader, told) ? OperationResult.OUTCOME_UNKNOWN : told;
        leader.fate = result;
        Operation member = leader.firstMember;
        leader.firstMember = null;
        Operation firstBack = null;
        Operation lastBack = null;
        while (member != null)
        {
            final Operation next = member.next;
            member.leader = null;
            member.next = null;
            if (member.reported)
            {
                settle(member, result);
            }
            else if (goesOn(member, result))
            {
                firstBack = firstBack == null ? member : firstBack;
                if (lastBack != null)
                {
                    lastBack.next = member;
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
            lastBack.next = leader.firstWaiter;
            leader.firstWaiter = firstBack;
            leader.lastWaiter = leader.lastWaiter == null ? lastBack : leader.lastWaiter;
        }
    }

    /** What a PUT stored that is not the last of its batch nobody has seen: it can be done again, or not at all. */
    private static boolean goesOn(final Operation member, final int result)
    {
        return result == OperationResult.TIMED_OUT_NOT_APPLIED || result == OperationResult.NO_MEMORY ||
            result == OperationResult.OUTCOME_UNKNOWN && !OperationKind.computesValue(member.kind);
    }

    private void report(final Operation leader, final Operation member, final int result)
    {
        final boolean isStored = result == OperationResult.STORED;
        member.version = !isStored ? leader.version : member.overflows ? leader.targetVersion : member.ownVersion;
        runner.counters.combined++;
        runner.report(member, isStored && member.overflows ? ComputedValues.resultOfLeftOut(member.kind) : result);
        runner.release(member);
    }

    /** A member that was reported when its deadline passed. */
    private void settle(final Operation member, final int result)
    {
        if (OperationKind.computesValue(member.kind) && result != OperationResult.OUTCOME_UNKNOWN)
        {
            runner.attempts.settle(member, result == OperationResult.STORED && !member.overflows);
        }
        runner.release(member);
    }

    /** A leader's slot becomes free: the next batch begins, with the next poll. */
    void onReleased(final Operation leader)
    {
        if (leader.firstMember != null)
        {
            finish(leader, OperationResult.TIMED_OUT_NOT_APPLIED);
        }
        answerWaiters(leader);
        unlink(leader);
        final Operation first = leader.firstWaiter;
        if (first == null)
        {
            return;
        }
        Operation last = first;
        Operation before = null;
        while (last.next != null && carries(first) && isOfOneKind(first, last.next))
        {
            before = last;
            last = last.next;
        }
        if (last.next != null)
        {
            last.firstWaiter = last.next;
            last.lastWaiter = leader.lastWaiter;
        }
        leader.firstWaiter = null;
        leader.lastWaiter = null;
        last.next = null;
        if (before != null)
        {
            before.next = null;
            last.firstMember = first;
            for (Operation member = first; member != null; member = member.next)
            {
                member.leader = last;
                member.overflows = false;
            }
        }
        lead(last, index(last));
        last.step = Step.START;
        runner.park(last);
    }

    /** In their order, as far as one that has to run. Those that the listener begins meanwhile wait as well. */
    private void answerWaiters(final Operation leader)
    {
        int result = answers.of(leader, leader.firstWaiter);
        while (result != Answers.NONE)
        {
            final Operation waiter = leader.firstWaiter;
            remove(leader, waiter);
            answers.tell(leader, waiter, result);
            result = answers.of(leader, leader.firstWaiter);
        }
    }

    private void unlink(final Operation leader)
    {
        leader.leads = false;
        final int at = index(leader);
        if (leaders[at] == leader.index)
        {
            leaders[at] = leader.nextLeader == null ? Batch.NONE : leader.nextLeader.index;
        }
        else
        {
            Operation before = leader(at);
            while (before.nextLeader != leader)
            {
                before = before.nextLeader;
            }
            before.nextLeader = leader.nextLeader;
        }
        leader.nextLeader = null;
    }

    /**
     * The deadline of one that waits has passed. The addend of a member may be in a sum already, or its bytes in a
     * value, so that it takes effect; a member that PUTs has had none that anybody could see.
     */
    void expire(final Operation op)
    {
        if (op.leader == null)
        {
            removeWaiter(op);
            runner.report(op, OperationResult.TIMED_OUT_NOT_APPLIED);
            runner.release(op);
            return;
        }
        final int result = resultWithoutLeader(op, OperationResult.TIMED_OUT_NOT_APPLIED);
        if (result == OperationResult.OUTCOME_UNKNOWN && !op.leader.repeats)
        {
            // One that looks for its own lost attempt was noted with all of its members.
            notePending(op);
        }
        // Its slot becomes free with the outcome of the leader.
        runner.report(op, result);
    }

    /** Also where nothing was posted yet, and over what is known of an attempt before: the leader goes on with it. */
    private void notePending(final Operation member)
    {
        runner.attempts.noteMember(member, member.leader, Attempts.PENDING);
    }

    /** @return what can be told of an operation that waits before its leader has ended. */
    public static int resultWithoutLeader(final Operation op, final int resultOfWaiter)
    {
        return op.leader != null && OperationKind.computesValue(op.kind) ?
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
        Operation waiter = leader.firstWaiter;
        while (waiter != op)
        {
            before = waiter;
            waiter = waiter.next;
        }
        if (before == null)
        {
            leader.firstWaiter = op.next;
        }
        else
        {
            before.next = op.next;
        }
        leader.lastWaiter = leader.lastWaiter == op ? before : leader.lastWaiter;
        op.next = null;
    }

    /** A leader's decisive batch was lost with its connection, and with that what it could answer; of its members. */
    void noteLost(final Operation leader)
    {
        leader.turn = NOBODY;
        for (Operation member = leader.firstMember; member != null; member = member.next)
        {
            if (OperationKind.computesValue(member.kind) && !member.overflows)
            {
                runner.attempts.noteMember(member, leader, Attempts.LOST);
            }
            else
            {
                runner.attempts.settle(member, false);
            }
        }
    }

    /**
     * The first attempt of a leader had no effect, and it is done again: without those of its members that were told
     * that their outcome is unknown, which may be begun again on their own.
     */
    void dropReported(final Operation leader)
    {
        Operation before = null;
        Operation member = leader.firstMember;
        while (member != null)
        {
            final Operation next = member.next;
            if (member.reported)
            {
                leader.firstMember = before == null ? next : leader.firstMember;
                if (before != null)
                {
                    before.next = next;
                }
                member.leader = null;
                member.next = null;
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
