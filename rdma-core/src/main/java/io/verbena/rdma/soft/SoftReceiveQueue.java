package io.verbena.rdma.soft;

import io.verbena.rdma.soft.shared.ClaimWord;
import io.verbena.rdma.soft.shared.DeviceFile;
import io.verbena.rdma.soft.shared.DirectReceive;
import io.verbena.rdma.soft.shared.ReceiveRing;
import io.verbena.rdma.soft.shared.RingSpace;
import io.verbena.rdma.soft.shared.SharedWords;
import io.verbena.rdma.verbs.WorkCompletions;

import java.util.function.LongConsumer;

import static io.verbena.rdma.soft.shared.ReceiveRing.*;

/**
 * The owner's side of a {@link ReceiveRing}: posts receives, takes them back when their completions are handed out, and
 * flushes. Used by the owner thread; closed when no requester can be inside.
 */
final class SoftReceiveQueue implements AutoCloseable
{
    private final RingSpace space;
    private final long offset;
    private final long lengthBytes;
    private final long ring;
    private final int capacity;
    private final int slotCount;
    private final long firstPosition;
    private long tail;
    private int outstandingCount;
    /** Direct: position of the next completion, and the word that its slot has then. */
    private long takePosition;
    private long takeSlot;
    private long takeWord;

    /**
     * @param file     of the device.
     * @param space    of the same.
     * @param capacity most receives outstanding, 0 or more.
     */
    SoftReceiveQueue(final DeviceFile file, final RingSpace space, final int capacity)
    {
        this(file, space, capacity, slotCount(capacity));
    }

    /** @param firstPosition of the first receive: the lap before it is that of the words that are there. */
    SoftReceiveQueue(final DeviceFile file, final RingSpace space, final int capacity, final long firstPosition)
    {
        this.space = space;
        this.capacity = capacity;
        this.firstPosition = firstPosition;
        slotCount = slotCount(capacity);
        lengthBytes = ReceiveRing.lengthBytes(slotCount);
        offset = space.allocate(lengthBytes);
        ring = file.base() + offset;
        SharedWords.putInt(ring + MASK_OFFSET, slotCount - 1);
        SharedWords.putInt(ring + CAPACITY_OFFSET, capacity);
        SharedWords.putInt(ring + SHARED_OFFSET, 0);
        reset();
    }

    private static int slotCount(final int capacity)
    {
        return Integer.highestOneBit(Math.max(1, capacity * 2 - 1));
    }

    /** Forgets everything; with no requester about. */
    void reset()
    {
        for (int i = 0; i < slotCount; i++)
        {
            final long before = firstPosition + i - slotCount;
            SharedWords.putLong(slot(ring, before), ClaimWord.free(before));
        }
        outstandingCount = 0;
        tail = firstPosition;
        takeFrom(tail);
        SharedWords.putLong(ring + TAIL_OFFSET, tail);
        SharedWords.putLongRelease(ring + HEAD_OFFSET, tail);
    }

    /** Offset of the ring in the device file. */
    long offset()
    {
        return offset;
    }

    long ring()
    {
        return ring;
    }

    int capacity()
    {
        return capacity;
    }

    /** Adds a receive; parameters of {@link io.verbena.rdma.verbs.QueuePair#postReceive}; false when full. */
    boolean offer(final long wrId, final long address, final int length, final int key)
    {
        final long slot = slot(ring, tail);
        if (outstandingCount >= capacity || ClaimWord.state(SharedWords.getLong(slot)) != ClaimWord.FREE)
        {
            return false;
        }
        outstandingCount++;
        SharedWords.putLong(slot + WR_ID_OFFSET, wrId);
        SharedWords.putLong(slot + ADDRESS_OFFSET, address);
        SharedWords.putInt(slot + LENGTH_OFFSET, length);
        SharedWords.putInt(slot + KEY_OFFSET, key);
        SharedWords.putLongRelease(slot, ClaimWord.open(tail));
        tail++;
        SharedWords.putLongRelease(ring + TAIL_OFFSET, tail);
        return true;
    }

    /**
     * A completion was handed out: its slot is free.
     *
     * @param slot offset of the slot in the ring, as the completion carries it.
     */
    void release(final long slot)
    {
        final long address = ring + slot;
        outstandingCount--;
        SharedWords.putLongRelease(address, SharedWords.getLong(address) & ~(long)ClaimWord.DONE);
    }

    /** Any thread: whether requesters complete in the slots; never again when taken back. */
    void direct(final boolean isDirect)
    {
        SharedWords.putIntVolatile(ring + DIRECT_OFFSET, isDirect ? 1 : 0);
    }

    private void takeFrom(final long position)
    {
        takePosition = position;
        takeSlot = slot(ring, position);
        takeWord = ClaimWord.direct(position);
    }

    /** Polling thread: whether a completion lies in the slots. */
    boolean hasCompletion()
    {
        return SharedWords.getLongAcquire(takeSlot) == takeWord;
    }

    /**
     * Polling thread: hands out completions that lie in the slots.
     *
     * @param index           of the first.
     * @param queuePairNumber whose queue this is.
     * @return index after the last.
     */
    int drain(final WorkCompletions completions, final int index, final int queuePairNumber)
    {
        int count = index;
        while (count < completions.capacity() && hasCompletion())
        {
            DirectReceive.take(takeSlot, completions, count++, queuePairNumber);
            outstandingCount--;
            SharedWords.putLongRelease(takeSlot, ClaimWord.free(takePosition));
            takeFrom(takePosition + 1);
        }
        return count;
    }

    /**
     * Claims the oldest open receive for the owner.
     *
     * @param queuePairIndex for which it is flushed.
     * @return address of its slot, or 0 when none is open.
     */
    long claimForFlush(final int queuePairIndex)
    {
        return ReceiveRing.claim(ring, 0, queuePairIndex);
    }

    /**
     * Takes over what others have claimed and will never finish; with no requester about.
     *
     * @param flush gets the address of each such slot, oldest first.
     */
    void flushClaimed(final LongConsumer flush)
    {
        for (long position = tail - slotCount; position < tail; position++)
        {
            final long slot = slot(ring, position);
            final long word = SharedWords.getLongAcquire(slot);
            if (ClaimWord.isAt(word, position) && ClaimWord.state(word) == ClaimWord.CLAIMED &&
                ClaimWord.visitor(word) != 0)
            {
                SharedWords.putLong(slot, ClaimWord.claimed(position, 0, ClaimWord.queuePairIndex(word)));
                flush.accept(slot);
            }
        }
    }

    /** Whether a claim of this visitor is open in it; any thread. */
    boolean hasClaimOf(final int visitor)
    {
        for (int i = 0; i < slotCount; i++)
        {
            final long word = SharedWords.getLongAcquire(slot(ring, i));
            if (ClaimWord.state(word) == ClaimWord.CLAIMED && ClaimWord.visitor(word) == visitor)
            {
                return true;
            }
        }
        return false;
    }

    @Override
    public void close()
    {
        space.free(offset, lengthBytes);
    }
}
