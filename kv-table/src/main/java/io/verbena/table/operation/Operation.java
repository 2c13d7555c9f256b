package io.verbena.table.operation;

import io.verbena.table.access.Scratch;
import io.verbena.table.directory.NodeLink;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.Subtable;
import io.verbena.table.directory.TableDirectory;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.KeyHash;
import io.verbena.table.format.MergeLink;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.moving.MergeUnit;
import java.lang.foreign.MemorySegment;

/**
 * One operation: what was asked, what came of it, what it cost. Owned by the engine and used again and again; read in
 * the listener's call only. Everything not public is the state of its state machine.
 */
public final class Operation
{
    /** Slots of two combined buckets. */
    static final int MAX_SLOTS = 4 * BucketDescriptor.SLOTS_PER_BUCKET;
    private static final int FOREIGN_WORDS = 16;
    private static final int NEVER = -1;

    public final int index;
    final Scratch scratch;
    final int base;
    public final KeyHash hash = new KeyHash();

    public int step = Step.FREE;
    public int cookie;
    public int nextInBatch;
    public boolean inFlight;
    boolean waiting;
    boolean beginning;
    public boolean reported;
    int deferredResult;

    public int kind;
    OpenTable table;
    public NodeLink link;
    public int keyLength;
    public int valueLength;
    /** APPEND: the bytes to append, the last ones of the own block's value, or behind it: {@link ComputedValues}. */
    public int suffixLength;
    /** INCREMENT: what to add. */
    public long delta;
    public long expectedVersion;
    public long deadlineNs;
    long pauseUntilNs;
    /** Groups of the subtable that has no slot for it, and whose split it waits for; or 0. How often it has waited. */
    long fullGroupsOffset;
    int fullWaits;
    public long beginEpoch;
    public long correlationId;
    public long sequence;
    /** Begun again, and what became of the first attempt is not known yet. */
    public boolean repeats;

    /** Keeps a load from being optimised away, see {@link LocationCache#touch}. */
    long touched;
    int fingerprint;
    int window;
    /** Changes of the directory when the key was located, which is not done again before there are more. */
    private int locatedAt = NEVER;
    /** Of the subtable in which the operation looks. */
    int subtableSuffix;
    int subtableDepth;
    long groupsOffset;
    /** Groups of the subtable that is split or merged into that one, or 0; and the link from there. */
    long predecessor;
    long splitLink;
    /** Met a split link, or a frozen word without one, in the buckets looked at last. */
    boolean sawLink;
    int frozenLooks;
    /** The last look took the old buckets in as well. */
    boolean peeked;
    /** Pairs, one bit each, in whose groups some slots of a merged subtable are initialised and others are not. */
    int mixedPairs;
    /** Made when it is needed first: completes a group of subtables that are merged. */
    MergeUnit unit;
    /** Slots whose hashes were read, one bit each; and those whose hashes the batch under way reads. */
    int slotsDone;
    int hashesPosted;
    /** Slots of which the words are those that they are about to be initialised with, one bit each. */
    int slotsPending;
    /** Those of them that the batch under way moves. */
    int slotsMoved;
    long bucketHeader;
    final long[] pairOffsets = new long[2];
    final int[] mainBuckets = new int[2];
    int pairCount;
    int skippedBucket;

    /** Runs for its key at this engine; see {@link Combiner}, also for what follows. */
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
    /** Counts among the writers under way, see {@link Contention}. */
    boolean isAdmitted;
    /** Admitted, but does not count while it waits for a connection. */
    boolean isAway;

    public int blockClass;
    long blockOffset;
    boolean blockWritten;
    long sealedOver;
    long ownVersion;
    long ownWord;
    long refusalsSeen;
    public boolean wantsMemory;
    /** APPEND: a block of this class was found to be needed, and was not there. */
    boolean needsBlock;

    boolean targetIsCached;
    /** Of the location cache, where the target was found. */
    long cacheEntry;
    /** What the location cache knows of a write-hot key, and was not used; 0 if nothing. */
    long bypassedWord;
    /** The target is to be initialised with its word before that is swapped: its slot was not moved yet. */
    boolean movesTarget;
    long targetOffset;
    long targetWord;
    long targetVersion;
    long desiredWord;
    long counter;

    long claimOffset;
    long claimWord;
    boolean claimStands;
    long rivalOffset;
    long rivalWord;
    /** Words to kill; when slots are moved, what the requests of the batch concern. */
    final long[] victims = new long[Scratch.MAX_SWAPS];
    final long[] victimOffsets = new long[Scratch.MAX_SWAPS];
    int victimCount;

    final long[] candidates = new long[MAX_SLOTS];
    final long[] candidateOffsets = new long[MAX_SLOTS];
    final int[] candidateSlots = new int[MAX_SLOTS];
    int candidateCount;
    int candidatesResolved;
    int candidatesPosted;
    boolean judgesClaim;
    boolean unresolvedSeen;
    int damagedLooks;
    final long[] foreignWords = new long[FOREIGN_WORDS];
    int foreignCount;

    int result;
    long version;
    int foundOffset;
    int foundValueOffset;
    int foundValueLength;
    int stagedVerbs;
    int stagedExtraRoundTrips;
    int verbs;
    int doorbells;
    int roundTrips;
    int retries;
    int contentions;

    public Operation(final int index, final Scratch scratch)
    {
        this.index = index;
        this.scratch = scratch;
        base = index * Scratch.SLOT_STRIDE;
    }

    /** @return one of {@link OperationKind}. */
    public int kind()
    {
        return kind;
    }

    /** @return one of {@link OperationResult}. */
    public int result()
    {
        return result;
    }

    /** @return what the caller gave to recognise the operation. */
    public long correlationId()
    {
        return correlationId;
    }

    /** @return number of the operation among those of its engine, to repeat it by if its outcome is unknown. */
    public long sequence()
    {
        return sequence;
    }

    /** @return version, see the result; 0 where there is none. */
    public long version()
    {
        return version;
    }

    /** @return INCREMENT that stored: the new value of the counter. */
    public long counter()
    {
        return counter;
    }

    /** @return length of the value of a GET that found it, else 0. */
    public int valueLength()
    {
        return foundValueLength;
    }

    /**
     * Copies the value of a GET that found it.
     *
     * @param target       with {@link #valueLength()} bytes of room.
     * @param targetOffset where it goes.
     */
    public void copyValueTo(final MemorySegment target, final long targetOffset)
    {
        scratch.copyTo(foundValueOffset, target, targetOffset, foundValueLength);
    }

    /** @return requests posted for it. */
    public int verbs()
    {
        return verbs;
    }

    /** @return doorbells rung for it. */
    public int doorbells()
    {
        return doorbells;
    }

    /** @return dependent round trips it took. */
    public int roundTrips()
    {
        return roundTrips;
    }

    /** @return how often it had to look again because others were in the way. */
    public int retries()
    {
        return retries;
    }

    public int ownBlock()
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

    /** Whether slot i of the look counts: a bucket that both pairs share counts once. */
    boolean slotCounts(final int slot)
    {
        return slot / BucketDescriptor.SLOTS_PER_BUCKET != skippedBucket;
    }

    int slotsRead()
    {
        return pairCount * 2 * BucketDescriptor.SLOTS_PER_BUCKET;
    }

    long slotWord(final int slot)
    {
        return scratch.word(base + Scratch.BUCKETS_OFFSET + slotPosition(slot));
    }

    void slotWord(final int slot, final long word)
    {
        scratch.word(base + Scratch.BUCKETS_OFFSET + slotPosition(slot), word);
    }

    long slotOffset(final int slot)
    {
        final int position = slotPosition(slot);
        return pairOffsets[position / BucketDescriptor.COMBINED_BYTES] + position % BucketDescriptor.COMBINED_BYTES;
    }

    long bucketHeaderRead(final int bucket)
    {
        return scratch.word(base + Scratch.BUCKETS_OFFSET + bucket * BucketDescriptor.BUCKET_BYTES);
    }

    private static int slotPosition(final int slot)
    {
        return slot / BucketDescriptor.SLOTS_PER_BUCKET * BucketDescriptor.BUCKET_BYTES +
            BucketDescriptor.SLOTS_OFFSET + slot % BucketDescriptor.SLOTS_PER_BUCKET * BucketDescriptor.SLOT_BYTES;
    }

    /** Word of a slot in the subtable that is split, after a peek. */
    long oldWord(final int slot)
    {
        return scratch.word(base + Scratch.OLD_BUCKETS_OFFSET + slotPosition(slot));
    }

    void oldWord(final int slot, final long word)
    {
        scratch.word(base + Scratch.OLD_BUCKETS_OFFSET + slotPosition(slot), word);
    }

    long oldSlotOffset(final int slot)
    {
        return slotOffset(slot) - groupsOffset + predecessor;
    }

    long oldBucketHeader(final int bucket)
    {
        return scratch.word(oldBucketAt(bucket));
    }

    void oldBucketHeader(final int bucket, final long header)
    {
        scratch.word(oldBucketAt(bucket), header);
    }

    long oldBucketOffset(final int bucket)
    {
        return pairOffsets[bucket / 2] + bucket % 2 * BucketDescriptor.BUCKET_BYTES - groupsOffset + predecessor;
    }

    private int oldBucketAt(final int bucket)
    {
        return base + Scratch.OLD_BUCKETS_OFFSET + bucket * BucketDescriptor.BUCKET_BYTES;
    }

    /** Whether the subtable takes the place of two that are merged, and may wait for words. */
    boolean isMerging()
    {
        return predecessor != 0 && MergeLink.isLink(splitLink);
    }

    /** Whether some slots of the group of a slot are initialised and others are not, as found by the last peek. */
    boolean isMixed(final int slot)
    {
        return (mixedPairs >>> slot / (2 * BucketDescriptor.SLOTS_PER_BUCKET) & 1) != 0;
    }

    /** Side of the split by which the subtable came to be. */
    int splitSide()
    {
        return subtableSuffix >>> subtableDepth - 1;
    }

    void addForeign(final long word)
    {
        foreignWords[foreignCount++ % FOREIGN_WORDS] = word;
    }

    boolean isForeign(final long word)
    {
        for (int i = Math.min(foreignCount, FOREIGN_WORDS) - 1; i >= 0; i--)
        {
            if (foreignWords[i] == word)
            {
                return true;
            }
        }
        return false;
    }

    /** Sets what words of the key have in common wherever they are; hash is set. */
    void locateFingerprint()
    {
        fingerprint = KeyHash.fingerprint(hash.high());
    }

    /** Finds the two combined buckets of the key, as far as the directory knows; hash and table are set. */
    void locate()
    {
        final TableDirectory directory = table.directory;
        if (locatedAt != directory.changes())
        {
            locatedAt = directory.changes();
            locate(directory);
        }
    }

    private void locate(final TableDirectory directory)
    {
        final long low = hash.low();
        final int entry = KeyHash.suffix(hash.high(), directory.depth());
        subtableSuffix = directory.suffix(entry);
        subtableDepth = directory.depth(entry);
        groupsOffset = directory.groupsOffset(entry);
        predecessor = directory.predecessor(entry);
        splitLink = directory.splitLink(entry);
        bucketHeader = directory.bucketHeader(entry);
        fingerprint = KeyHash.fingerprint(hash.high());
        window = KeyHash.window(hash.high(), subtableDepth);
        final long groups = groupsOffset;
        final int group1 = KeyHash.group1(low, table.groupCount);
        final int group2 = KeyHash.group2(low, table.groupCount);
        final int side1 = KeyHash.side1(low);
        final int side2 = KeyHash.side2(low);
        pairOffsets[0] =
            groups + (long)group1 * BucketDescriptor.GROUP_BYTES + BucketDescriptor.combinedOffset(side1);
        pairOffsets[1] =
            groups + (long)group2 * BucketDescriptor.GROUP_BYTES + BucketDescriptor.combinedOffset(side2);
        mainBuckets[0] = BucketDescriptor.mainOffset(side1) / BucketDescriptor.BUCKET_BYTES;
        mainBuckets[1] = BucketDescriptor.mainOffset(side2) / BucketDescriptor.BUCKET_BYTES;
        pairCount = pairOffsets[0] == pairOffsets[1] ? 1 : 2;
        // Both sides of one group: the shared overflow is seen twice, last of side 0 and first of side 1; the copy in
        // the second pair is left out, else an insert meets itself as its rival.
        skippedBucket = group1 == group2 && side1 != side2 ? (side2 == 0 ? 3 : 2) : -1;
    }

    /** @return the subtable in which the operation looks. */
    Subtable subtable()
    {
        return new Subtable(link.memoryNodeId, subtableSuffix, subtableDepth,
            groupsOffset - SubtableDescriptor.GROUPS_OFFSET);
    }

    /** @return whether a slot lies in the deepest subtable of the key that is known. */
    boolean isInPresentSubtable(final long slotOffset)
    {
        final TableDirectory directory = table.directory;
        final long inSubtable =
            slotOffset - directory.groupsOffset(KeyHash.suffix(hash.high(), directory.depth()));
        return inSubtable >= 0 && inSubtable < (long)table.groupCount * BucketDescriptor.GROUP_BYTES;
    }

    /** Stored only where it changes: see {@link NodeLink} for what that saves. */
    public void takeTable(final OpenTable newTable)
    {
        if (table != newTable)
        {
            table = newTable;
        }
    }

    /** As {@link #takeTable}. */
    public void takeLink(final NodeLink newLink)
    {
        if (link != newLink)
        {
            link = newLink;
        }
    }

    /** Waits for a split of its subtable, however it hears of it, or for some time. */
    void awaitSplit(final long untilNs)
    {
        pauseUntilNs = untilNs;
        fullGroupsOffset = groupsOffset;
        fullWaits++;
    }

    /** @return whether it is not to go on yet. */
    boolean isPaused(final long nowNs)
    {
        return pauseUntilNs - nowNs > 0 &&
            (fullGroupsOffset == 0 || fullGroupsOffset == table.directory.groupsOffset(
                KeyHash.suffix(hash.high(), table.directory.depth())));
    }

    /** Keeps nothing of what was read: from here on the operation may wait for the epoch. */
    void forget()
    {
        slotsPending = 0;
        movesTarget = false;
        candidateCount = 0;
        foreignCount = 0;
        rivalOffset = 0;
        targetIsCached = false;
    }

    void reset()
    {
        locatedAt = NEVER;
        cookie = 0;
        inFlight = false;
        reported = false;
        deferredResult = -1;
        pauseUntilNs = 0;
        fullGroupsOffset = 0;
        fullWaits = 0;
        slotsPending = 0;
        movesTarget = false;
        blockOffset = 0;
        blockWritten = false;
        ownVersion = 0;
        ownWord = 0;
        wantsMemory = false;
        needsBlock = false;
        counter = 0;
        targetIsCached = false;
        targetVersion = 0;
        bypassedWord = 0;
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
        isAdmitted = false;
        isAway = false;
        claimStands = false;
        rivalOffset = 0;
        candidateCount = 0;
        judgesClaim = false;
        unresolvedSeen = false;
        damagedLooks = 0;
        frozenLooks = 0;
        sawLink = false;
        peeked = false;
        mixedPairs = 0;
        foreignCount = 0;
        version = 0;
        foundValueLength = 0;
        verbs = 0;
        doorbells = 0;
        roundTrips = 0;
        retries = 0;
        contentions = 0;
    }

    @Override
    public String toString()
    {
        return "Operation{kind=" + OperationKind.name(kind) + " step=" + Step.name(step) + " inFlight=" + inFlight +
            " reported=" + reported + " verbs=" + verbs + " retries=" + retries + '}';
    }
}
