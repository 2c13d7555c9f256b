package io.verbena.table.operation;

import io.verbena.raas.OneSidedPort;
import io.verbena.table.access.Scratch;
import io.verbena.table.expiry.Expiry;
import io.verbena.table.expiry.ExpiryCondition;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.MergeLink;
import io.verbena.table.format.SizeClasses;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SplitLink;

/**
 * Finding a key: by its cached location, or by a look at both of its combined buckets and at every block there that
 * carries its fingerprint. Section "Lookup" of {@code docs/protocol/point-operations.md}.
 */
final class Lookups
{
    private static final int MAX_DAMAGED_LOOKS = 3;
    /** Place of a word that is about to get another one: not worth to be remembered. */
    private static final long NOWHERE = 0;

    private final OperationFlow flow;
    private final SlotMoves slotMoves;

    Lookups(final OperationFlow flow, final SlotMoves slotMoves)
    {
        this.flow = flow;
        this.slotMoves = slotMoves;
    }

    /** Block first, slot second: the slot READ carries the proof that the block was current when the slot was read. */
    void stageCachedRead(final Operation op)
    {
        readBlock(op, op.base + Scratch.BLOCKS_OFFSET, op.target.word);
        flow.batch.readSlotLast();
    }

    void onCachedRead(final Operation op)
    {
        final int block = op.base + Scratch.BLOCKS_OFFSET;
        final long word = op.scratch.word(op.base + Scratch.SLOT_OFFSET);
        if (isCurrent(op, word))
        {
            if (flow.records.isValid(block, word) && flow.records.holdsKey(op, block))
            {
                foundCached(op, word, block);
                return;
            }
        }
        else if (mayName(op, word))
        {
            stale(op);
            op.target.word = word;
            flow.go(op, Step.FOLLOW);
            return;
        }
        stale(op);
        flow.go(op, Step.LOOK);
    }

    /** Whether what was cached is what stands in the slot; a frozen word is nobody's value. */
    private static boolean isCurrent(final Operation op, final long word)
    {
        return word == op.target.word;
    }

    private void foundCached(final Operation op, final long word, final int block)
    {
        if (op.target.bypassedWord != 0)
        {
            // Passed by once.
            flow.learn(op, true);
            found(op, op.target.offset, word, block);
            return;
        }
        flow.records.answerWith(op, block);
        confirm(op, block);
        goOn(op, op.target.offset, word, block);
    }

    /** Notes that a cached location, under which the key was just read, was current. */
    private void confirm(final Operation op, final int blockAt)
    {
        if (!flow.cache.confirm(op.target.cacheEntry, op.request.hash.low(), op.request.hash.high(),
            op.request.table.tableId, op.target.offset,
            op.target.word, op.beginEpoch))
        {
            flow.learn(op, true);
            flow.remember(op, op.target.offset, op.target.word, op.answer.version, blockAt);
        }
        else
        {
            flow.rememberValue(op.target.cacheEntry, blockAt);
        }
    }

    private void stale(final Operation op)
    {
        flow.counters.cacheStale++;
        flow.learn(op, false);
        flow.cache.remove(op.request.hash.low(), op.request.hash.high(), op.request.table.tableId, op.target.word);
    }

    void stageSlotRead(final Operation op)
    {
        flow.batch.read(op.base + Scratch.SLOT_OFFSET, Long.BYTES, op.target.offset);
    }

    /** The word there now most likely names the key's block: its key is compared before anything is done with it. */
    void onSlotRead(final Operation op)
    {
        final long word = op.scratch.word(op.base + Scratch.SLOT_OFFSET);
        if (mayName(op, word))
        {
            op.target.word = word;
            flow.go(op, Step.FOLLOW);
        }
        else
        {
            flow.go(op, Step.LOOK);
        }
    }

    /**
     * Bucket first, block second, the other way round than with a current location: the word that is cached may have
     * been used again since, so only the bucket shows that it is the key's now, and from then on this operation keeps
     * its block from being used again. The bucket's header shows that it is still one of the key's.
     */
    void stageHintedRead(final Operation op)
    {
        stageHintedBucket(op);
        stageFollow(op);
    }

    void stageHintedBucket(final Operation op)
    {
        flow.batch.read(op.base + Scratch.BUCKETS_OFFSET, BucketDescriptor.BUCKET_BYTES,
            op.target.offset & -BucketDescriptor.BUCKET_BYTES);
    }

    void onHintedRead(final Operation op)
    {
        final int inBucket = (int)op.target.offset & BucketDescriptor.BUCKET_BYTES - 1;
        final long word = op.scratch.word(op.base + Scratch.BUCKETS_OFFSET + inBucket);
        final boolean isThere = op.bucketHeaderRead(0) == op.location.bucketHeader;
        if (isThere && word == op.target.word)
        {
            flow.learn(op, true);
            onFollow(op);
            return;
        }
        stale(op);
        op.target.word = word;
        flow.go(op, isThere && mayName(op, word) ? Step.FOLLOW : Step.LOOK);
    }

    /** @return whether a word that stands in the key's slot may be the word of its block. */
    static boolean mayName(final Operation op, final long word)
    {
        return SlotWord.kindAndFingerprint(word) == SlotWord.committed(op.location.fingerprint);
    }

    void stageFollow(final Operation op)
    {
        readBlock(op, op.base + Scratch.BLOCKS_OFFSET, op.target.word);
    }

    void onFollow(final Operation op)
    {
        final int block = op.base + Scratch.BLOCKS_OFFSET;
        if (flow.records.isValid(block, op.target.word) && flow.records.holdsKey(op, block))
        {
            found(op, op.target.offset, op.target.word, block);
        }
        else
        {
            flow.go(op, Step.LOOK);
        }
    }

    /** Takes the old words in as well where a split is known to be under way, and not known to have been there. */
    void stageLook(final Operation op)
    {
        op.locate();
        stageLook(op, op.location.predecessor != 0 && !op.location.isMerging() &&
            !op.request.table.isMoved(op.location.predecessor,
            SlotMoves.groupOf(op, 0), SlotMoves.groupOf(op, op.location.pairCount - 1)));
    }

    void stagePeek(final Operation op)
    {
        op.locate();
        stageLook(op, true);
    }

    /** Old and new words of each slot: a new one counts, and the old one where the new one is not initialised. */
    private void stageLook(final Operation op, final boolean peeks)
    {
        op.pause.untilNs = 0;
        op.pause.fullGroupsOffset = 0;
        op.claim.isJudged = false;
        op.location.peeked = peeks && op.location.predecessor != 0;
        stageBuckets(op);
        for (int pair = 0; op.location.peeked && pair < op.location.pairCount; pair++)
        {
            flow.batch.read(op.base + Scratch.OLD_BUCKETS_OFFSET + pair * BucketDescriptor.COMBINED_BYTES,
                BucketDescriptor.COMBINED_BYTES, op.location.pairOffsets[pair] - op.location.groupsOffset +
                op.location.predecessor);
        }
    }

    void stageBuckets(final Operation op)
    {
        for (int pair = 0; pair < op.location.pairCount; pair++)
        {
            flow.batch.read(op.base + Scratch.BUCKETS_OFFSET + pair * BucketDescriptor.COMBINED_BYTES,
                BucketDescriptor.COMBINED_BYTES, op.location.pairOffsets[pair]);
        }
    }

    /** Takes the words read last as a look: of this step, or of a re-read that found the own word lost. */
    void scan(final Operation op)
    {
        op.claim.isJudged = false;
        if (!headersFit(op))
        {
            flow.end(op, OperationResult.TABLE_CHANGED);
            return;
        }
        collectCandidates(op);
        resolveCandidates(op);
    }

    /**
     * Also takes note of the split that headers tell of: one, the same in all of them, and only when all fit. What is
     * no index at all, because its memory was never formatted or is used for blocks, may have the low bits of a link.
     *
     * @return whether all buckets are those that were meant.
     */
    boolean headersFit(final Operation op)
    {
        long link = SplitLink.NONE;
        for (int bucket = op.location.pairCount * 2 - 1; bucket >= 0; bucket--)
        {
            final long header = op.bucketHeaderRead(bucket);
            if (header != op.location.bucketHeader)
            {
                if (!SplitLink.isLink(header) && !MergeLink.isLink(header) || link != SplitLink.NONE && link != header)
                {
                    return false;
                }
                link = header;
            }
        }
        op.location.sawLink = link != SplitLink.NONE;
        return !op.location.sawLink || learn(op, link);
    }

    private static boolean learn(final Operation op, final long link)
    {
        final boolean canBe = op.request.table.mayLead(op.location.groupsOffset, link,
            op.request.link.port.regionLengthBytes());
        if (canBe)
        {
            op.request.table.learn(op.location.subtableSuffix, op.location.subtableDepth, op.location.groupsOffset,
                link);
        }
        return canBe;
    }

    /** Committed words with the fingerprint, except those known to be another key's. */
    void collectCandidates(final Operation op)
    {
        op.candidates.count = 0;
        op.candidates.resolved = 0;
        op.candidates.unresolvedSeen = false;
        final long wanted = SlotWord.committed(op.location.fingerprint);
        final boolean takesOldWords = op.location.peeked &&
            (!op.location.isMerging() || op.changesNothing());
        op.location.mixedPairs = takesOldWords ? slotMoves.mixedPairs(op) : 0;
        op.target.isToMove = false;
        for (int slot = 0, slots = op.location.slotsRead(); slot < slots; slot++)
        {
            final long word = takesOldWords ? slotMoves.peekedWord(op, slot) : op.slotWord(slot);
            if (SlotWord.kindAndFingerprint(word) == wanted && op.location.slotCounts(slot) &&
                !op.candidates.isForeign(word))
            {
                op.candidates.add(word, slot, place(op, slot, word));
            }
        }
    }

    /** An old slot is where its key is until it is frozen; what is frozen already is on its way. */
    private static long place(final Operation op, final int slot, final long word)
    {
        return word == op.slotWord(slot) || movesWhatItFinds(op) ? op.location.slotOffset(slot) :
            word == op.oldWord(slot) ? op.location.oldSlotOffset(slot) : NOWHERE;
    }

    private static boolean movesWhatItFinds(final Operation op)
    {
        return op.target.isExpired ||
            OperationKind.writes(op.request.kind) && op.request.kind != OperationKind.PUT_IF_ABSENT;
    }

    /** @return whether a candidate is to be changed, and stands in the subtable that is split until it is moved. */
    private static boolean isToMove(final Operation op, final int candidate)
    {
        return op.location.peeked && movesWhatItFinds(op) &&
            op.slotWord(op.candidates.slots[candidate]) == SlotWord.UNINITIALISED;
    }

    void resolveCandidates(final Operation op)
    {
        if (op.candidates.resolved < op.candidates.count)
        {
            if (isToMove(op, op.candidates.resolved) &&
                !slotMoves.oldHeaderFits(op, op.candidates.slots[op.candidates.resolved]))
            {
                flow.end(op, OperationResult.TABLE_CHANGED);
            }
            else
            {
                flow.go(op, Step.MATCH);
            }
        }
        else if (op.claim.isJudged)
        {
            flow.judge(op);
        }
        else
        {
            notFound(op);
        }
    }

    /**
     * As many candidates in one batch as the scratch memory holds; almost always that is all of them, and one. One that
     * is to be moved goes alone, and its slot is frozen on the way.
     */
    void stageMatch(final Operation op)
    {
        int used = 0;
        op.candidates.posted = 0;
        if (isToMove(op, op.candidates.resolved))
        {
            slotMoves.stageFreeze(op, op.candidates.slots[op.candidates.resolved]);
            readBlock(op, op.base + Scratch.BLOCKS_OFFSET, op.candidates.words[op.candidates.resolved]);
            op.candidates.posted = 1;
            return;
        }
        while (op.candidates.resolved + op.candidates.posted < op.candidates.count &&
            op.candidates.posted < OneSidedPort.LEAST_SPACE)
        {
            final long word = op.candidates.words[op.candidates.resolved + op.candidates.posted];
            final int length = SizeClasses.lengthBytes(SlotWord.sizeClass(word));
            if (used + length > Scratch.BLOCKS_CAPACITY || isToMove(op, op.candidates.resolved + op.candidates.posted))
            {
                break;
            }
            readBlock(op, op.base + Scratch.BLOCKS_OFFSET + used, word);
            used += length;
            op.candidates.posted++;
        }
    }

    void onMatch(final Operation op)
    {
        int block = op.base + Scratch.BLOCKS_OFFSET;
        final boolean moves = isToMove(op, op.candidates.resolved);
        if (moves && !slotMoves.isFrozenNow(op, op.candidates.slots[op.candidates.resolved]))
        {
            flow.retry(op, 1);
            return;
        }
        for (int i = op.candidates.posted; i > 0; i--)
        {
            final int candidate = op.candidates.resolved++;
            final long word = op.candidates.words[candidate];
            if (!flow.records.isValid(block, word))
            {
                flow.counters.checksumMismatches++;
                op.candidates.unresolvedSeen = true;
            }
            else if (flow.records.holdsKey(op, block))
            {
                if (op.claim.isJudged)
                {
                    flow.onCommittedRival(op, op.candidates.offsets[candidate], word, block);
                }
                else
                {
                    op.target.isToMove = moves;
                    found(op, op.candidates.offsets[candidate],
                        moves ? slotMoves.movedTo(op, op.candidates.slots[candidate], op.location.window) : word,
                        block);
                }
                return;
            }
            else
            {
                flow.counters.falseMatches++;
                op.request.table.falseMatches++;
                op.candidates.addForeign(word);
            }
            block += SizeClasses.lengthBytes(SlotWord.sizeClass(word));
        }
        resolveCandidates(op);
    }

    private void readBlock(final Operation op, final int target, final long word)
    {
        flow.batch.read(target, SizeClasses.lengthBytes(SlotWord.sizeClass(word)), SlotWord.blockOffset(word));
    }

    /** The key is there, in the block just read: answers, or goes on to change it. */
    private void found(final Operation op, final long slotOffset, final long word, final int block)
    {
        flow.records.answerWith(op, block);
        if (op.target.bypassedWord != 0)
        {
            flow.learn(op, word == op.target.bypassedWord);
            op.target.bypassedWord = 0;
        }
        if (slotOffset != NOWHERE && op.isTargetThere())
        {
            flow.remember(op, slotOffset, word, op.answer.version, block);
        }
        goOn(op, slotOffset, word, block);
    }

    private void goOn(final Operation op, final long slotOffset, final long word, final int block)
    {
        if (flow.isExpired(block))
        {
            onExpired(op, slotOffset, word, block);
            return;
        }
        switch (op.request.kind)
        {
            case OperationKind.GET, OperationKind.EXISTS -> flow.end(op, OperationResult.FOUND);
            case OperationKind.PUT_IF_ABSENT -> flow.end(op, OperationResult.EXISTS);
            default ->
            {
                if (OperationKind.isByVersion(op.request.kind) && op.answer.version != op.request.expectedVersion)
                {
                    flow.end(op, OperationResult.VERSION_MISMATCH);
                }
                else if (!ExpiryCondition.isMet(op.request.expiryCondition, op.answer.expiryMs,
                    Expiry.deadline(op.request.expiry, op.answer.expiryMs)))
                {
                    flow.end(op, OperationResult.CONDITION_NOT_MET);
                }
                else
                {
                    change(op, slotOffset, word, block, false);
                }
            }
        }
    }

    /**
     * Whoever finds a record behind its deadline takes its word away before it answers, or puts its own in that place:
     * so nobody finds it there afterwards, whatever his clock says.
     */
    private void onExpired(final Operation op, final long slotOffset, final long word, final int block)
    {
        op.answer.forgetRecord();
        if (slotOffset == NOWHERE)
        {
            // Frozen, and not where it goes yet: to be moved, as by a writer.
            op.target.isExpired = true;
            flow.go(op, Step.PEEK);
        }
        else if (OperationKind.inserts(op.request.kind))
        {
            change(op, slotOffset, word, block, true);
        }
        else
        {
            op.target.isCached = false;
            op.target.offset = slotOffset;
            op.target.word = word;
            flow.go(op, Step.REMOVE);
        }
    }

    /**
     * Goes on to replace or remove a committed word whose block was just read and is the key's.
     *
     * @param isExpired whether its record is absent, and what is stored is made from nothing.
     */
    void change(
        final Operation op, final long slotOffset, final long word, final int block, final boolean isExpired)
    {
        if (OperationKind.computesValue(op.request.kind))
        {
            final int made = isExpired ?
                flow.computedValues.makeFromNothing(op) : flow.computedValues.makeFrom(op, block);
            if (made != ComputedValues.OK)
            {
                flow.endUnmade(op, made);
                return;
            }
        }
        op.target.isCached = false;
        op.target.offset = slotOffset;
        op.target.word = word;
        op.target.version = flow.records.version(block);
        if (OperationKind.storesValue(op.request.kind))
        {
            op.block.expiryMs = Expiry.deadline(op.request.expiry, isExpired ? 0 : flow.records.expiryMs(block));
            flow.records.seal(op, op.target.version, word);
        }
        flow.go(op, Step.SWAP);
    }

    private void notFound(final Operation op)
    {
        if (op.candidates.unresolvedSeen)
        {
            if (++op.candidates.damagedLooks >= MAX_DAMAGED_LOOKS)
            {
                flow.end(op, OperationResult.CORRUPT);
            }
            else
            {
                flow.retry(op, 0);
            }
        }
        else if (seesSplit(op))
        {
            followSplit(op);
        }
        else if (OperationKind.inserts(op.request.kind))
        {
            flow.insert(op);
        }
        else
        {
            flow.end(op, OperationResult.NOT_FOUND);
        }
    }

    /** Whether the words seen are not enough for the answer "absent", nor to insert. */
    boolean seesSplit(final Operation op)
    {
        boolean sees = op.location.sawLink;
        final boolean isPeek = op.location.peeked && (op.changesNothing() ||
            !OperationKind.inserts(op.request.kind) && !op.location.isMerging());
        for (int slot = op.location.slotsRead() - 1; slot >= 0; slot--)
        {
            final long word = op.slotWord(slot);
            sees |= SlotWord.isFrozen(word) || word == SlotWord.UNINITIALISED && (!isPeek || op.location.isMixed(slot));
        }
        return sees;
    }

    /**
     * The key was not found where the split has been, or has not come to yet. The link is in the header of every bucket
     * with a frozen word; a look that missed it because the line was torn sees it when it is repeated.
     */
    private void followSplit(final Operation op)
    {
        if (op.location.sawLink)
        {
            op.location.frozenLooks = 0;
            flow.counters.splitsFollowed++;
            flow.go(op, Step.PEEK);
        }
        else if (slotMoves.seesFrozen(op))
        {
            if (op.location.frozenLooks++ == 0)
            {
                flow.go(op, Step.LOOK);
            }
            else
            {
                flow.end(op, OperationResult.RESTRUCTURING);
            }
        }
        else if (op.location.predecessor == 0)
        {
            flow.end(op, OperationResult.RESTRUCTURING);
        }
        else if (op.location.peeked)
        {
            slotMoves.begin(op);
        }
        else
        {
            flow.go(op, Step.PEEK);
        }
    }
}
