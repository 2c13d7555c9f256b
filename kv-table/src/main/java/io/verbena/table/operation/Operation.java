package io.verbena.table.operation;

import io.verbena.table.access.Scratch;
import io.verbena.table.directory.Subtable;
import io.verbena.table.format.BucketDescriptor;
import java.lang.foreign.MemorySegment;

/**
 * One operation: what was asked, what came of it, what it cost. Owned by the engine and used again and again; read in
 * the listener's call only. What is not public is the state of its state machine, in one object for each concern, all
 * made with it.
 */
public final class Operation
{
    public final int index;
    final Scratch scratch;
    /** Where its part of the scratch memory begins. */
    final int base;
    final Request request = new Request();
    final Location location = new Location();
    final MovingSlots moving = new MovingSlots();
    final Combining combining = new Combining();
    final OwnBlock block = new OwnBlock();
    final Target target = new Target();
    final Claim claim = new Claim();
    final Candidates candidates = new Candidates();
    final Answer answer = new Answer();
    final Cost cost = new Cost();
    final Pause pause = new Pause();

    int step = Step.FREE;
    int cookie;
    int nextInBatch;
    boolean inFlight;
    boolean beginning;
    boolean reported;
    int deferredResult;
    long beginEpoch;
    /** Begun again, and what became of the first attempt is not known yet. */
    boolean repeats;

    Operation(final int index, final Scratch scratch)
    {
        this.index = index;
        this.scratch = scratch;
        base = index * Scratch.SLOT_STRIDE;
    }

    /** @return one of {@link OperationKind}. */
    public int kind()
    {
        return request.kind;
    }

    /** @return one of {@link OperationResult}. */
    public int result()
    {
        return answer.result;
    }

    /** @return what the caller gave to recognise the operation. */
    public long correlationId()
    {
        return request.correlationId;
    }

    /** @return number of the operation among those of its engine, to repeat it by if its outcome is unknown. */
    public long sequence()
    {
        return request.sequence;
    }

    /** @return version, see the result; 0 where there is none. */
    public long version()
    {
        return answer.version;
    }

    /** @return INCREMENT that stored: the new value of the counter. */
    public long counter()
    {
        return answer.counter;
    }

    /** @return length of the value of a GET that found it, else 0. */
    public int valueLength()
    {
        return answer.valueLength;
    }

    /**
     * Copies the value of a GET that found it.
     *
     * @param target       with {@link #valueLength()} bytes of room.
     * @param targetOffset where it goes.
     */
    public void copyValueTo(final MemorySegment target, final long targetOffset)
    {
        scratch.copyTo(answer.valueOffset, target, targetOffset, answer.valueLength);
    }

    /** @return requests posted for it. */
    public int verbs()
    {
        return cost.verbs;
    }

    /** @return doorbells rung for it. */
    public int doorbells()
    {
        return cost.doorbells;
    }

    /** @return dependent round trips it took. */
    public int roundTrips()
    {
        return cost.roundTrips;
    }

    /** @return how often it had to look again because others were in the way. */
    public int retries()
    {
        return cost.retries;
    }

    int ownBlock()
    {
        return base + Scratch.OWN_BLOCK_OFFSET;
    }

    int swapResultOffset(final int number)
    {
        return base + Scratch.SWAPS_OFFSET + number * Long.BYTES;
    }

    long swapResult(final int number)
    {
        return scratch.word(swapResultOffset(number));
    }

    long slotWord(final int slot)
    {
        return scratch.word(base + Scratch.BUCKETS_OFFSET + Location.slotPosition(slot));
    }

    void slotWord(final int slot, final long word)
    {
        scratch.word(base + Scratch.BUCKETS_OFFSET + Location.slotPosition(slot), word);
    }

    long bucketHeaderRead(final int bucket)
    {
        return scratch.word(base + Scratch.BUCKETS_OFFSET + bucket * BucketDescriptor.BUCKET_BYTES);
    }

    /** @return word of a slot in the subtable that is split, after a peek. */
    long oldWord(final int slot)
    {
        return scratch.word(base + Scratch.OLD_BUCKETS_OFFSET + Location.slotPosition(slot));
    }

    void oldWord(final int slot, final long word)
    {
        scratch.word(base + Scratch.OLD_BUCKETS_OFFSET + Location.slotPosition(slot), word);
    }

    long oldBucketHeader(final int bucket)
    {
        return scratch.word(oldBucketAt(bucket));
    }

    void oldBucketHeader(final int bucket, final long header)
    {
        scratch.word(oldBucketAt(bucket), header);
    }

    private int oldBucketAt(final int bucket)
    {
        return base + Scratch.OLD_BUCKETS_OFFSET + bucket * BucketDescriptor.BUCKET_BYTES;
    }

    /** Finds the two combined buckets of the key, as far as the directory knows. */
    void locate()
    {
        location.locate(request);
    }

    /** @return the subtable in which the operation looks. */
    Subtable subtable()
    {
        return location.subtable(request.link.memoryNodeId);
    }

    /** Keeps nothing of what was read: from here on the operation may wait for the epoch. */
    void forget()
    {
        moving.pending = 0;
        target.isToMove = false;
        candidates.count = 0;
        candidates.foreignCount = 0;
        claim.rivalOffset = 0;
        target.isCached = false;
    }

    void reset()
    {
        cookie = 0;
        inFlight = false;
        reported = false;
        deferredResult = -1;
        location.reset();
        moving.pending = 0;
        combining.reset();
        block.reset();
        target.reset();
        claim.reset();
        candidates.reset();
        answer.reset();
        cost.reset();
        pause.reset();
    }

    @Override
    public String toString()
    {
        return "Operation{kind=" + OperationKind.name(request.kind) + " step=" + Step.name(step) + " inFlight=" +
            inFlight + " reported=" + reported + " verbs=" + cost.verbs + " retries=" + cost.retries + '}';
    }
}
