package io.verbena.rdma.soft;

import io.verbena.rdma.soft.shared.ClaimWord;
import io.verbena.rdma.soft.shared.DeviceFileDescriptor;
import io.verbena.rdma.soft.shared.ReceiveRing;
import io.verbena.rdma.soft.shared.RingSpace;
import io.verbena.rdma.soft.shared.SharedWords;
import io.verbena.rdma.spi.ReceiveClaims;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SharedReceiveQueue;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.IntPredicate;
import java.util.function.LongConsumer;
import java.util.function.LongPredicate;

import static io.verbena.rdma.soft.shared.ReceiveRing.*;

/**
 * The owner's side of a {@link ReceiveRing} that requesters of many queue pairs take from. One thread posts; each
 * thread that polls completions gives slots back. A claim word is changed by compare-and-set only, for both do so.
 *
 * <p>A claimer that is stopped keeps its receive, but not its place: when the tail comes round to it the slot is
 * carried over into the present lap, still claimed, and passed by.
 */
final class SoftSharedReceiveQueue implements SharedReceiveQueue, ReceiveClaims
{
    /** Claims for this process itself. */
    private static final int OWNER = 0;

    private final SoftHost device;
    private final ProtectionDomain protectionDomain;
    private final Consumer<SoftSharedReceiveQueue> onClosed;
    private final RingSpace space;
    private final int capacity;
    private final int slotCount;
    private final long lengthBytes;
    private final long offset;
    private final long ring;
    private final AtomicInteger outstandingCount = new AtomicInteger();
    private int userCount;
    private long tail;
    /** The head is not before this. */
    private long knownHead;
    private boolean isClosed;

    /**
     * @param device           where it is.
     * @param protectionDomain that it belongs to; null for the own receives of one queue pair.
     * @param capacity         most receives outstanding; 1 or more, 0 for a queue pair that takes none.
     * @param onClosed         called once by {@link #close()}.
     */
    SoftSharedReceiveQueue(
        final SoftHost device,
        final ProtectionDomain protectionDomain,
        final int capacity,
        final Consumer<SoftSharedReceiveQueue> onClosed)
    {
        this.device = device;
        this.onClosed = onClosed;
        this.protectionDomain = protectionDomain;
        this.capacity = capacity;
        space = device.rings();
        // Beside the receives there is room for as many slots that were carried over.
        slotCount = Integer.highestOneBit(Math.max(1, capacity * 2 - 1)) * 2;
        lengthBytes = ReceiveRing.lengthBytes(slotCount);
        offset = space.allocate(lengthBytes);
        ring = device.file().base() + offset;
        SharedWords.putInt(ring + MASK_OFFSET, slotCount - 1);
        SharedWords.putInt(ring + CAPACITY_OFFSET, capacity);
        SharedWords.putInt(ring + SHARED_OFFSET, 1);
        // The first lap is 1: words of 0 are of an earlier one.
        tail = slotCount;
        knownHead = slotCount;
        SharedWords.putLong(ring + TAIL_OFFSET, tail);
        SharedWords.putLongRelease(ring + HEAD_OFFSET, tail);
    }

    ProtectionDomain protectionDomain()
    {
        return protectionDomain;
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

    /** One user more, before it knows where the ring is: a queue that is closed has given it back. */
    synchronized void attach()
    {
        if (isClosed)
        {
            throw new RdmaException("shared receive queue is closed: device=" + device.name());
        }
        userCount++;
    }

    synchronized void detach()
    {
        userCount--;
    }

    @Override
    public int postReceive(final long wrId, final long localAddress, final int lengthBytes, final int localKey)
    {
        if (isClosed)
        {
            return PostStatus.INVALID_STATE;
        }
        final long slot = outstandingCount.get() < capacity ? nextFree() : 0;
        if (slot == 0)
        {
            return PostStatus.QUEUE_FULL;
        }
        outstandingCount.incrementAndGet();
        SharedWords.putLong(slot + WR_ID_OFFSET, wrId);
        SharedWords.putLong(slot + ADDRESS_OFFSET, localAddress);
        SharedWords.putInt(slot + LENGTH_OFFSET, lengthBytes);
        SharedWords.putInt(slot + KEY_OFFSET, localKey);
        SharedWords.putLongRelease(slot, ClaimWord.open(tail));
        advanceTail();
        return PostStatus.OK;
    }

    /** The slot at the tail, which is made to stand at no slow claim; 0 when the ring is full. */
    private long nextFree()
    {
        while (isHeadInReach())
        {
            final long slot = slot(ring, tail);
            final long word = SharedWords.getLongAcquire(slot);
            if (ClaimWord.state(word) == ClaimWord.FREE)
            {
                return slot;
            }
            // Before the tail: who counts what is left up to that tail knows that there is a gap.
            SharedWords.putLongVolatile(ring + LAST_CARRIED_OFFSET, tail);
            if (SharedWords.compareAndSetLong(slot, word, ClaimWord.carriedTo(word, tail)))
            {
                advanceTail();
            }
        }
        return 0;
    }

    /** Whether the head is less than a lap behind the tail, so that nobody at the head meets a slot's next lap. */
    private boolean isHeadInReach()
    {
        if (knownHead <= tail - slotCount)
        {
            // Also brings the head up to date, if a claimer died before it did.
            final long oldest = ReceiveRing.oldest(ring);
            knownHead = oldest < 0 ? tail : oldest;
        }
        return knownHead > tail - slotCount;
    }

    private void advanceTail()
    {
        tail++;
        SharedWords.putLongRelease(ring + TAIL_OFFSET, tail);
    }

    /**
     * Gives a receive back whose completion was handed out; any polling thread. Without effect when that happened
     * already, as when its queue pair was closed.
     *
     * @param slotInRing     as the completion carries it.
     * @param queuePairIndex that consumed it.
     */
    void releaseSlot(final long slotInRing, final int queuePairIndex)
    {
        final long slot = ring + slotInRing;
        long word;
        do
        {
            word = SharedWords.getLongAcquire(slot);
            if (!isClaimOf(word, queuePairIndex))
            {
                return;
            }
        }
        while (!SharedWords.compareAndSetLong(slot, word, word & ~(long)ClaimWord.DONE));
        outstandingCount.decrementAndGet();
    }

    /** Gives back whatever a queue pair consumed whose completions nobody will get; with no requester of it about. */
    void releaseAll(final int queuePairIndex)
    {
        for (int i = 0; i < slotCount; i++)
        {
            releaseSlot(slot(ring, i) - ring, queuePairIndex);
        }
    }

    /**
     * Takes over what claimers that are dead will never finish, for one of the queue pairs; by its polling thread, when
     * what they did finish has been handed out.
     *
     * @param queuePairIndex of the responder.
     * @param isDead         recognises dead visitors.
     * @param isFinished     recognises by their offsets the slots whose completions only wait to be handed out.
     * @param flush          gets the address of each other such slot, oldest first.
     */
    void flushClaimed(
        final int queuePairIndex, final IntPredicate isDead, final LongPredicate isFinished, final LongConsumer flush)
    {
        final long end = SharedWords.getLongVolatile(ring + TAIL_OFFSET);
        for (long position = end - slotCount; position < end; position++)
        {
            final long slot = slot(ring, position);
            final long word = SharedWords.getLongAcquire(slot);
            if (isClaimOf(word, queuePairIndex) && ClaimWord.visitor(word) != 0 &&
                isDead.test(ClaimWord.visitor(word)) && !isFinished.test(slot - ring) &&
                SharedWords.compareAndSetLong(slot, word, ClaimWord.ofOwner(word)))
            {
                flush.accept(slot);
            }
        }
    }

    /** Whether a queue pair has a receive that a dead claimer was filling; any thread. */
    boolean hasDeadClaim(final int queuePairIndex, final IntPredicate isDead)
    {
        for (int i = 0; i < slotCount; i++)
        {
            final long word = SharedWords.getLongAcquire(slot(ring, i));
            if (isClaimOf(word, queuePairIndex) && isDead.test(ClaimWord.visitor(word)))
            {
                return true;
            }
        }
        return false;
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

    private static boolean isClaimOf(final long word, final int queuePairIndex)
    {
        return ClaimWord.state(word) == ClaimWord.CLAIMED && ClaimWord.queuePairIndex(word) == queuePairIndex;
    }

    /** For the device's own process, which takes receives for queue pairs of another way to this memory. */
    @Override
    public long claim(final int queuePairNumber, final int neededBytes)
    {
        final int index = queuePairNumber & DeviceFileDescriptor.MAX_QUEUE_PAIRS - 1;
        final long slot = neededBytes == 0 ?
            ReceiveRing.claim(ring, OWNER, index) : ReceiveRing.claimFitting(ring, OWNER, index, neededBytes);
        ReceiveRing.checkLimit(ring);
        return slot;
    }

    @Override
    public long wrId(final long claim)
    {
        return SharedWords.getLong(claim + WR_ID_OFFSET);
    }

    @Override
    public long address(final long claim)
    {
        return SharedWords.getLong(claim + ADDRESS_OFFSET);
    }

    @Override
    public int lengthBytes(final long claim)
    {
        return SharedWords.getInt(claim + LENGTH_OFFSET);
    }

    @Override
    public int key(final long claim)
    {
        return SharedWords.getInt(claim + KEY_OFFSET);
    }

    @Override
    public void release(final long claim, final int queuePairNumber)
    {
        releaseSlot(claim - ring, queuePairNumber & DeviceFileDescriptor.MAX_QUEUE_PAIRS - 1);
    }

    @Override
    public void armLimit(final int receiveCount)
    {
        if (receiveCount < 0 || receiveCount > capacity)
        {
            throw new RdmaException(
                "limit is out of range: receiveCount=" + receiveCount + ", allowed 0 to " + capacity);
        }
        SharedWords.putIntVolatile(ring + LIMIT_OFFSET, receiveCount);
        ReceiveRing.checkLimit(ring);
    }

    @Override
    public int armedLimit()
    {
        return SharedWords.getIntAcquire(ring + LIMIT_OFFSET);
    }

    /** Whether the limit was reached and that was not reported yet; takes it. Any thread, while open. */
    boolean takeLimitEvent()
    {
        // A claimer may have died before it looked.
        ReceiveRing.checkLimit(ring);
        return SharedWords.compareAndSetInt(ring + EVENT_OFFSET, 1, 0);
    }

    @Override
    public int capacity()
    {
        return capacity;
    }

    @Override
    public void close()
    {
        if (endUse())
        {
            onClosed.accept(this);
            free();
        }
    }

    /** Nobody can attach any more; whether this call did it. The domain, which attaches under its lock, comes after. */
    private synchronized boolean endUse()
    {
        if (userCount > 0)
        {
            throw new RdmaException(
                "shared receive queue is in use: close its queue pairs and DC targets first, open=" + userCount);
        }
        final boolean wasOpen = !isClosed;
        isClosed = true;
        return wasOpen;
    }

    /** Gives the ring back; instead of {@link #close()} when it belongs to one queue pair. */
    void free()
    {
        space.free(offset, lengthBytes);
    }

    @Override
    public String toString()
    {
        return "SoftSharedReceiveQueue{device=" + device.name() + ", capacity=" + capacity +
            ", outstanding=" + outstandingCount + ", armedLimit=" + armedLimit() + '}';
    }
}
