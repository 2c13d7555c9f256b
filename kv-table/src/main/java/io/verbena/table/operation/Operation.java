package io.verbena.table.operation;

import io.verbena.table.access.Scratch;
import io.verbena.table.directory.Subtable;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.SlotWord;
import io.verbena.table.moving.MergeUnit;
import io.verbena.table.trace.OperationTrace;
import java.lang.foreign.MemorySegment;

/**
 * One operation: what was asked, what came of it, what it cost. Owned by the engine and used again and again; read in
 * the listener's call only. What is not public is the state of its state machine, in one object for each concern, all
 * made with it.
 */
public final class Operation
{
    /** What an operation returns. */
    static final class Answer
    {
        /** One of {@link OperationResult}. */
        int result;
        long version;
        /** INCREMENT: the new value. */
        long counter;
        /** Of the record found or stored; 0 if it has no deadline. */
        long expiryMs;
        /** Whether the record found is a counter that an increment wrote, of 8 bytes. */
        boolean isCounter;
        /** Of the value found, in the scratch memory. */
        int valueOffset;
        int valueLength;

        void reset()
        {
            version = 0;
            counter = 0;
            expiryMs = 0;
            isCounter = false;
            valueLength = 0;
        }

        /** Nothing is told of the record that was found: its deadline has passed. */
        void forgetRecord()
        {
            version = 0;
            expiryMs = 0;
            isCounter = false;
            valueLength = 0;
        }
    }

    /** What an operation has cost; staged is what costs only once it is posted. */
    static final class Cost
    {
        int stagedVerbs;
        int stagedExtraRoundTrips;
        int verbs;
        int doorbells;
        int roundTrips;
        int retries;
        /** Retries because of others. */
        int contentions;

        void reset()
        {
            verbs = 0;
            doorbells = 0;
            roundTrips = 0;
            retries = 0;
            contentions = 0;
        }
    }

    /** What an operation is to others of its key at its engine; see {@link Combiner}, which alone writes it. */
    static final class Combining
    {
        /** Runs for its key at this engine. */
        boolean leads;
        /** Leads the batch that this one is a member of; null while it waits or leads. */
        Operation leader;
        /** Behind this one among the members or the waiters of a leader. */
        Operation next;
        Operation nextLeader;
        Operation firstMember;
        Operation firstWaiter;
        Operation lastWaiter;
        /** INCREMENT, APPEND: it is left out of its batch, the sum or the value would not fit. */
        boolean overflows;
        /** How many had waited when it began to wait, or to lead: who leads answers none of those that came later. */
        long turn;
        /** What has become of a leader, as far as that is certain; one of {@link OperationResult}. */
        int fate;

        void reset()
        {
            leads = false;
            leader = null;
            next = null;
            nextLeader = null;
            firstMember = null;
            firstWaiter = null;
            lastWaiter = null;
            overflows = false;
            turn = 0;
            fate = OperationResult.OUTCOME_UNKNOWN;
        }
    }

    /** The block that an operation writes, and what it waits for when there is none. */
    static final class OwnBlock
    {
        int sizeClass;
        /** In the region of its memory node; 0 if it has none. */
        long offset;
        boolean isWritten;
        /** Whether a word that names it was proposed for a slot of which there are several copies. */
        boolean isProposed;
        /** The word that it was sealed to replace. */
        long sealedOver;
        long version;
        /** From when on its record is absent; 0: it has no deadline. */
        long expiryMs;
        /** What its header says of the value, see {@link io.verbena.table.format.BlockDescriptor#FLAG_COUNTER}. */
        int flags;
        /** INCREMENT: the sum that is the value. */
        long sum;
        /** The word that publishes it. */
        long word;
        long refusalsSeen;
        boolean wantsMemory;
        /** When it wants memory: refused from here on, a little before its deadline. */
        long refusedAtNs;
        /** A value that depends on the one before: a block of this class was found to be needed, and was not there. */
        boolean isNeeded;

        void reset()
        {
            offset = 0;
            isWritten = false;
            isProposed = false;
            version = 0;
            word = 0;
            flags = 0;
            sum = 0;
            wantsMemory = false;
            isNeeded = false;
        }
    }

    /** Slots that an operation moves because it needs them; one bit each. */
    static final class MovingSlots
    {
        /** Made when it is needed first: completes a group of subtables that are merged. */
        MergeUnit unit;
        /** Slots whose hashes were read; and those whose hashes the batch under way reads. */
        int done;
        int hashesPosted;
        /** Slots of which the words are those that they are about to be initialised with. */
        int pending;
        /** Those of them that the batch under way moves. */
        int moved;
    }

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
    final OperationTrace trace = new OperationTrace();
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

    /** @return deadline of the record found or stored, in ms since 1970; 0 if it has none, or there is none. */
    public long expiryMs()
    {
        return answer.expiryMs;
    }

    /** @return INCREMENT that stored: the new value of the counter. */
    public long counter()
    {
        return answer.counter;
    }

    /** @return GET, EXISTS: whether the record found is a counter of 8 bytes that an increment wrote. */
    public boolean isCounter()
    {
        return answer.isCounter;
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

    /**
     * Copies the value of a GET that found it to the beginning of an array; allocates nothing.
     *
     * @param target with {@link #valueLength()} bytes of room.
     */
    public void copyValueTo(final byte[] target)
    {
        scratch.copyTo(answer.valueOffset, target, answer.valueLength);
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

    /** @return its steps. */
    public OperationTrace trace()
    {
        return trace;
    }

    /** @return the half of the hash of its key that the header of its block has. */
    public long keyHash()
    {
        return request.hash.high();
    }

    /** @return whether the own tentative word stands where the buckets that were read last had it. */
    boolean seesOwnClaim()
    {
        for (int slot = 0, slots = location.slotsRead(); slot < slots; slot++)
        {
            if (location.slotOffset(slot) == claim.offset && location.slotCounts(slot))
            {
                return slotWord(slot) == claim.word;
            }
        }
        throw new IllegalStateException("own slot outside the pair: " + this);
    }

    /** @return whether it changes nothing: a read, as long as it has not met a record that it has to remove. */
    boolean changesNothing()
    {
        return OperationKind.isRead(request.kind) && !target.isExpired;
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
        return scratch.word(base + Scratch.BUCKETS_OFFSET + BucketDescriptor.slotPosition(slot));
    }

    void slotWord(final int slot, final long word)
    {
        scratch.word(base + Scratch.BUCKETS_OFFSET + BucketDescriptor.slotPosition(slot), word);
    }

    long bucketHeaderRead(final int bucket)
    {
        return scratch.word(base + Scratch.BUCKETS_OFFSET + bucket * BucketDescriptor.BUCKET_BYTES);
    }

    /** @return word of a slot in the subtable that is split, after a peek. */
    long oldWord(final int slot)
    {
        return scratch.word(base + Scratch.OLD_BUCKETS_OFFSET + BucketDescriptor.slotPosition(slot));
    }

    /** @return whether a slot waits for a word of the subtable that is split. */
    boolean isPending(final int slot)
    {
        return slotWord(slot) == SlotWord.UNINITIALISED && location.slotCounts(slot);
    }

    long oldBucketHeader(final int bucket)
    {
        return scratch.word(base + Scratch.OLD_BUCKETS_OFFSET + bucket * BucketDescriptor.BUCKET_BYTES);
    }

    /** @return first empty slot, main bucket before overflow, of the pair with more of them; or -1. */
    int emptySlot()
    {
        final int perPair = 2 * BucketDescriptor.SLOTS_PER_BUCKET;
        final int empty0 = emptySlots(0);
        final int empty1 = location.pairCount == 2 ? emptySlots(perPair) : 0;
        if (empty0 == 0 && empty1 == 0)
        {
            return -1;
        }
        final int pair = empty1 > empty0 ? 1 : 0;
        final int main = location.mainBuckets[pair] * BucketDescriptor.SLOTS_PER_BUCKET;
        int slot = pair * perPair + main;
        while (!SlotWord.isEmpty(slotWord(slot)))
        {
            slot = pair * perPair + (slot + 1) % perPair;
        }
        return slot;
    }

    private int emptySlots(final int from)
    {
        int count = 0;
        for (int slot = from; slot < from + 2 * BucketDescriptor.SLOTS_PER_BUCKET; slot++)
        {
            count += SlotWord.isEmpty(slotWord(slot)) ? 1 : 0;
        }
        return count;
    }

    /** Whether a result is not certain, for it is not known what became of the operation's first attempt. */
    boolean isOpen(final int result)
    {
        return repeats && (result == OperationResult.TIMED_OUT_NOT_APPLIED ||
            result == OperationResult.NODE_UNAVAILABLE || result == OperationResult.NO_MEMORY);
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
        trace.reset();
        pause.reset();
    }

    /**
     * Whether the word found is where the operation will change it. With several copies a word that is still to be
     * moved may be at the head and not at the primary, and nobody may propose another one on it yet. Also in a view
     * with one member: what is known of it is used in the next one.
     */
    boolean isTargetThere()
    {
        return !target.isToMove || !request.link.isOfGroup;
    }

    @Override
    public String toString()
    {
        return "Operation{kind=" + OperationKind.name(request.kind) + " step=" + Step.name(step) + " inFlight=" +
            inFlight + " reported=" + reported + " verbs=" + cost.verbs + " retries=" + cost.retries + '}';
    }
}
