package io.verbena.rdma.soft;

import io.verbena.rdma.soft.shared.ClaimWord;
import io.verbena.rdma.soft.shared.CompletionInbox;
import io.verbena.rdma.soft.shared.DeviceFileDescriptor;
import io.verbena.rdma.soft.shared.SharedWords;
import io.verbena.rdma.verbs.WorkCompletions;

import java.util.Arrays;

import static io.verbena.rdma.soft.shared.CompletionInbox.*;

/**
 * The consumer's side of a {@link CompletionInbox}; one thread polls. A slot that its claimer has not filled is passed
 * by, and when others behind it were taken it is carried over to the next lap, still claimed, so that a claimer that is
 * stopped delays neither them nor the limit. While it is stopped it may take one off the capacity.
 */
public final class InboxReader
{
    private final SoftHost device;
    private final long inbox;
    private final int capacity;
    private final int slotCount;
    private long head;
    /** Positions that slots were carried over to and where they have not been taken. */
    private long[] carried = new long[4];
    private int carriedCount;

    /**
     * @param inbox         address; mask is set, and all slots are opened here.
     * @param firstPosition of the first completion.
     */
    InboxReader(final SoftHost device, final long inbox, final int capacity, final long firstPosition)
    {
        this.device = device;
        this.inbox = inbox;
        this.capacity = capacity;
        slotCount = SharedWords.getInt(inbox + MASK_OFFSET) + 1;
        head = firstPosition;
        for (int i = 0; i < slotCount; i++)
        {
            SharedWords.putLong(slot(firstPosition + i), ClaimWord.open(firstPosition + i));
        }
    }

    /** How far the tail may go when the owner's own completions take that many places. */
    long limit(final long ownCount)
    {
        return head + Math.min(slotCount, capacity + carriedCount) - ownCount;
    }

    /** Whether there may be something to take. */
    boolean hasAny()
    {
        return carriedCount > 0 || ClaimWord.state(SharedWords.getLongAcquire(slot(head))) != ClaimWord.OPEN;
    }

    /**
     * Hands completions out.
     *
     * @param startIndex of the first one there.
     * @param hasDirect  whether some queue pairs complete receives in their slots.
     * @return index behind the last one.
     */
    int drain(final WorkCompletions completions, final int startIndex, final boolean hasDirect)
    {
        final int limit = completions.capacity();
        int count = carriedCount == 0 ? startIndex : drainCarried(completions, startIndex, hasDirect);
        long position = head;
        boolean isContiguous = true;
        boolean hasTakenBehind = false;
        while (count < limit)
        {
            final long slot = slot(position);
            final long word = SharedWords.getLongAcquire(slot);
            if (!ClaimWord.isAt(word, position) || ClaimWord.state(word) == ClaimWord.OPEN)
            {
                break;
            }
            boolean isTaken = true;
            if (ClaimWord.state(word) == ClaimWord.DONE)
            {
                isTaken = !isOvertaking(word, position, isContiguous) && !(hasDirect && isBehindDirect(slot));
                if (isTaken)
                {
                    count = take(slot, completions, count);
                    // Behind a slot that was passed by it waits as FREE for the head to come.
                    SharedWords.putLongRelease(slot, ClaimWord.free(position));
                    hasTakenBehind |= !isContiguous;
                }
            }
            else if (ClaimWord.state(word) == ClaimWord.CLAIMED)
            {
                isTaken = isAbandoned(slot, word);
            }
            isContiguous &= isTaken;
            if (isContiguous)
            {
                pass(position, word);
            }
            position++;
        }
        if (hasTakenBehind)
        {
            carryOver(position);
        }
        return count;
    }

    /** Slow: passed by. Dead: nothing will ever come, unless it came since the word was read. */
    private boolean isAbandoned(final long slot, final long word)
    {
        return device.isDeadVisitor(ClaimWord.visitor(word)) && SharedWords.getLongAcquire(slot) == word;
    }

    /** @param word as it was found there. */
    private void pass(final long position, final long word)
    {
        if (ClaimWord.state(word) != ClaimWord.DONE)
        {
            // The tail may be here still: its claimer died before it advanced it, or it was claimed a lap ago. Nobody
            // could advance it once the slot is of a later lap.
            SharedWords.compareAndSetLong(inbox + TAIL_OFFSET, position, position + 1);
        }
        SharedWords.putLongRelease(slot(position), ClaimWord.open(position + slotCount));
        head = position + 1;
    }

    /** The head goes over what was taken and over what is still being filled, at most to a position. */
    private void carryOver(final long end)
    {
        while (head < end)
        {
            final long slot = slot(head);
            final long word = SharedWords.getLongAcquire(slot);
            if (ClaimWord.state(word) == ClaimWord.FREE)
            {
                pass(head, word);
            }
            else if (ClaimWord.state(word) == ClaimWord.CLAIMED &&
                SharedWords.compareAndSetLong(slot, word, ClaimWord.carriedTo(word, head + slotCount)))
            {
                rememberCarried(head + slotCount);
                // It may have claimed the slot and not yet advanced the tail.
                SharedWords.compareAndSetLong(inbox + TAIL_OFFSET, head, head + 1);
                head++;
            }
            else
            {
                return;
            }
        }
    }

    private void rememberCarried(final long position)
    {
        if (carriedCount == carried.length)
        {
            carried = Arrays.copyOf(carried, carriedCount * 2);
        }
        carried[carriedCount++] = position;
    }

    /** What was carried over and has been filled since comes before all the rest: it is older. */
    private int drainCarried(final WorkCompletions completions, final int startIndex, final boolean hasDirect)
    {
        int count = startIndex;
        int kept = 0;
        for (int i = 0; i < carriedCount; i++)
        {
            final long position = carried[i];
            final long slot = slot(position);
            final long word = SharedWords.getLongAcquire(slot);
            final boolean isOpen = ClaimWord.isAt(word, position) && ClaimWord.state(word) >= ClaimWord.CLAIMED;
            boolean isGone = !isOpen;
            if (isOpen && ClaimWord.state(word) == ClaimWord.DONE)
            {
                isGone = count < completions.capacity() && !(hasDirect && isBehindDirect(slot));
                count = isGone ? take(slot, completions, count) : count;
            }
            else if (isOpen)
            {
                isGone = isAbandoned(slot, word);
            }
            if (isGone && isOpen)
            {
                SharedWords.putLongRelease(slot, ClaimWord.free(position));
            }
            else if (!isGone)
            {
                carried[kept++] = position;
            }
        }
        carriedCount = kept;
        return count;
    }

    /**
     * Whether an earlier slot of the same queue pair was passed by, and of the same visitor: it may have been filled
     * since, and this one after it. Of several visitors, as a datagram queue pair and a DC target have them, none waits
     * for another one; what the owner itself completes comes after whatever is before it.
     */
    private boolean isOvertaking(final long word, final long position, final boolean isContiguous)
    {
        for (long earlier = head; !isContiguous && earlier < position; earlier++)
        {
            if (isBefore(SharedWords.getLongAcquire(slot(earlier)), word))
            {
                return true;
            }
        }
        for (int i = 0; i < carriedCount; i++)
        {
            final long passed = SharedWords.getLongAcquire(slot(carried[i]));
            if (carried[i] != position && ClaimWord.isAt(passed, carried[i]) && isBefore(passed, word))
            {
                return true;
            }
        }
        return false;
    }

    private static boolean isBefore(final long passed, final long word)
    {
        return ClaimWord.state(passed) >= ClaimWord.CLAIMED &&
            ClaimWord.queuePairIndex(passed) == ClaimWord.queuePairIndex(word) &&
            (ClaimWord.visitor(word) == 0 || ClaimWord.visitor(passed) == ClaimWord.visitor(word));
    }

    /** Whether completions of the same queue pair lie in the slots of its receives: those are older. */
    private boolean isBehindDirect(final long slot)
    {
        final SoftResponder queuePair = device.queuePair(SharedWords.getInt(slot + QUEUE_PAIR_OFFSET));
        return queuePair != null && !queuePair.isClosed() && SoftResponder.hasDirectCompletion(queuePair);
    }

    private int take(final long slot, final WorkCompletions completions, final int index)
    {
        final SoftResponder queuePair = device.queuePair(SharedWords.getInt(slot + QUEUE_PAIR_OFFSET));
        if (queuePair == null)
        {
            return index;
        }
        queuePair.releaseReceive(SharedWords.getLong(slot + RECEIVE_OFFSET));
        completions.set(
            index,
            SharedWords.getLong(slot + WR_ID_OFFSET),
            SharedWords.getInt(slot + STATUS_OFFSET),
            SharedWords.getInt(slot + OPCODE_OFFSET),
            SharedWords.getInt(slot + BYTE_LENGTH_OFFSET),
            SharedWords.getInt(slot + IMMEDIATE_OFFSET),
            queuePair.number());
        completions.setDetails(
            index, SharedWords.getInt(slot + FLAGS_OFFSET), SharedWords.getInt(slot + SOURCE_OFFSET), 0);
        return index + 1;
    }

    /** Whether a completion of a receive of this queue pair waits here. */
    boolean hasReceived(final SoftResponder queuePair)
    {
        for (int i = 0; i < slotCount; i++)
        {
            if (isDoneFor(queuePair, slot(i)))
            {
                return true;
            }
        }
        return false;
    }

    /** Whether the completion of one receive waits here, which a shared slot stands for. */
    boolean hasReceived(final SoftResponder queuePair, final long slotInRing)
    {
        for (int i = 0; i < slotCount; i++)
        {
            if (isDoneFor(queuePair, slot(i)) && SharedWords.getLong(slot(i) + RECEIVE_OFFSET) == slotInRing)
            {
                return true;
            }
        }
        return false;
    }

    private static boolean isDoneFor(final SoftResponder queuePair, final long slot)
    {
        final long word = SharedWords.getLongAcquire(slot);
        return ClaimWord.state(word) == ClaimWord.DONE &&
            ClaimWord.queuePairIndex(word) == (queuePair.number() & DeviceFileDescriptor.MAX_QUEUE_PAIRS - 1);
    }

    /** Completions of this queue pair that were not polled yet go. */
    void forget(final int queuePairNumber)
    {
        for (int i = 0; i < slotCount; i++)
        {
            if (ClaimWord.state(SharedWords.getLongAcquire(slot(i))) == ClaimWord.DONE &&
                SharedWords.getInt(slot(i) + QUEUE_PAIR_OFFSET) == queuePairNumber)
            {
                // A number that nobody has: it is passed over when its turn comes.
                SharedWords.putInt(slot(i) + QUEUE_PAIR_OFFSET, 0);
            }
        }
    }

    /** Whether a claim of this visitor is open; any thread. */
    boolean hasClaimOf(final int visitor)
    {
        for (int i = 0; i < slotCount; i++)
        {
            final long word = SharedWords.getLongAcquire(slot(i));
            if (ClaimWord.state(word) == ClaimWord.CLAIMED && ClaimWord.visitor(word) == visitor)
            {
                return true;
            }
        }
        return false;
    }

    private long slot(final long position)
    {
        return inbox + SLOTS_OFFSET + (position & slotCount - 1) * SLOT_BYTES;
    }
}
