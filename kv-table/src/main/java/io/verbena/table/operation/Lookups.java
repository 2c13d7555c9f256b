package io.verbena.table.operation;

import io.verbena.table.access.OneSidedPort;
import io.verbena.table.access.Scratch;
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

    private final OperationRunner runner;
    private final SlotMoves slotMoves;

    Lookups(final OperationRunner runner)
    {
        this.runner = runner;
        slotMoves = new SlotMoves(runner);
    }

    SlotMoves slotMoves()
    {
        return slotMoves;
    }

    /** Block first, slot second: the slot READ carries the proof that the block was current when the slot was read. */
    void stageCachedRead(final Operation op)
    {
        readBlock(op, op.base + Scratch.BLOCKS_OFFSET, op.targetWord);
        stageSlotRead(op);
    }

    void onCachedRead(final Operation op)
    {
        final int block = op.base + Scratch.BLOCKS_OFFSET;
        final long word = op.scratch.word(op.base + Scratch.SLOT_OFFSET);
        if (isCurrent(op, word))
        {
            if (runner.records.isValid(block, word) && runner.records.holdsKey(op, block))
            {
                foundCached(op, word, block);
                return;
            }
        }
        else if (mayName(op, word))
        {
            stale(op);
            op.targetWord = word;
            runner.go(op, Step.FOLLOW);
            return;
        }
        stale(op);
        runner.go(op, Step.LOOK);
    }

    /** Whether what was cached is what stands in the slot; a frozen word is nobody's value. */
    private static boolean isCurrent(final Operation op, final long word)
    {
        return word == op.targetWord;
    }

    private void foundCached(final Operation op, final long word, final int block)
    {
        if (op.bypassedWord != 0)
        {
            // Passed by once.
            runner.learn(op, true);
            found(op, op.targetOffset, word, block);
            return;
        }
        runner.records.answerWith(op, block);
        confirm(op, block);
        goOn(op, op.targetOffset, word, block);
    }

    /** Notes that a cached location, under which the key was just read, was current. */
    private void confirm(final Operation op, final int blockAt)
    {
        if (!runner.cache.confirm(op.cacheEntry, op.hash.low(), op.hash.high(), op.table.tableId, op.targetOffset,
            op.targetWord, op.beginEpoch))
        {
            runner.learn(op, true);
            runner.remember(op, op.targetOffset, op.targetWord, op.version, blockAt);
        }
        else if (runner.records.valueLength(blockAt) == Long.BYTES)
        {
            runner.cache.putCounter(op.cacheEntry, runner.records.counter(blockAt));
        }
    }

    private void stale(final Operation op)
    {
        runner.counters.cacheStale++;
        runner.learn(op, false);
        runner.cache.remove(op.hash.low(), op.hash.high(), op.table.tableId, op.targetWord);
    }

    void stageSlotRead(final Operation op)
    {
        runner.batch.read(op.base + Scratch.SLOT_OFFSET, Long.BYTES, op.targetOffset);
    }

    /** The word there now most likely names the key's block: its key is compared before anything is done with it. */
    void onSlotRead(final Operation op)
    {
        final long word = op.scratch.word(op.base + Scratch.SLOT_OFFSET);
        if (mayName(op, word))
        {
            op.targetWord = word;
            runner.go(op, Step.FOLLOW);
        }
        else
        {
            runner.go(op, Step.LOOK);
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
        runner.batch.read(op.base + Scratch.BUCKETS_OFFSET, BucketDescriptor.BUCKET_BYTES,
            op.targetOffset & -BucketDescriptor.BUCKET_BYTES);
    }

    void onHintedRead(final Operation op)
    {
        final int inBucket = (int)op.targetOffset & BucketDescriptor.BUCKET_BYTES - 1;
        final long word = op.scratch.word(op.base + Scratch.BUCKETS_OFFSET + inBucket);
        final boolean isThere = op.bucketHeaderRead(0) == op.bucketHeader;
        if (isThere && word == op.targetWord)
        {
            runner.learn(op, true);
            onFollow(op);
            return;
        }
        stale(op);
        op.targetWord = word;
        runner.go(op, isThere && mayName(op, word) ? Step.FOLLOW : Step.LOOK);
    }

    /** @return whether a word that stands in the key's slot may be the word of its block. */
    static boolean mayName(final Operation op, final long word)
    {
        return SlotWord.kindAndFingerprint(word) == SlotWord.committed(op.fingerprint);
    }

    void stageFollow(final Operation op)
    {
        readBlock(op, op.base + Scratch.BLOCKS_OFFSET, op.targetWord);
    }

    void onFollow(final Operation op)
    {
        final int block = op.base + Scratch.BLOCKS_OFFSET;
        if (runner.records.isValid(block, op.targetWord) && runner.records.holdsKey(op, block))
        {
            found(op, op.targetOffset, op.targetWord, block);
        }
        else
        {
            runner.go(op, Step.LOOK);
        }
    }

    /** Takes the old words in as well where a split is known to be under way, and not known to have been there. */
    void stageLook(final Operation op)
    {
        op.locate();
        stageLook(op, op.predecessor != 0 && !op.isMerging() && !op.table.isMoved(op.predecessor,
            SlotMoves.groupOf(op, 0), SlotMoves.groupOf(op, op.pairCount - 1)));
    }

    void stagePeek(final Operation op)
    {
        op.locate();
        stageLook(op, true);
    }

    /** Old and new words of each slot: a new one counts, and the old one where the new one is not initialised. */
    private void stageLook(final Operation op, final boolean peeks)
    {
        op.pauseUntilNs = 0;
        op.fullGroupsOffset = 0;
        op.judgesClaim = false;
        op.peeked = peeks && op.predecessor != 0;
        stageBuckets(op);
        for (int pair = 0; op.peeked && pair < op.pairCount; pair++)
        {
            runner.batch.read(op.base + Scratch.OLD_BUCKETS_OFFSET + pair * BucketDescriptor.COMBINED_BYTES,
                BucketDescriptor.COMBINED_BYTES, op.pairOffsets[pair] - op.groupsOffset + op.predecessor);
        }
    }

    void stageBuckets(final Operation op)
    {
        for (int pair = 0; pair < op.pairCount; pair++)
        {
            runner.batch.read(op.base + Scratch.BUCKETS_OFFSET + pair * BucketDescriptor.COMBINED_BYTES,
                BucketDescriptor.COMBINED_BYTES, op.pairOffsets[pair]);
        }
    }

    void writeOwnBlock(final Operation op)
    {
        runner.batch.write(op.ownBlock(), SizeClasses.lengthBytes(op.blockClass), op.blockOffset);
    }

    /** Takes the words read last as a look: of this step, or of a re-read that found the own word lost. */
    void scan(final Operation op)
    {
        op.judgesClaim = false;
        if (!headersFit(op))
        {
            runner.end(op, OperationResult.TABLE_CHANGED);
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
        for (int bucket = op.pairCount * 2 - 1; bucket >= 0; bucket--)
        {
            final long header = op.bucketHeaderRead(bucket);
            if (header != op.bucketHeader)
            {
                if (!SplitLink.isLink(header) && !MergeLink.isLink(header) || link != SplitLink.NONE && link != header)
                {
                    return false;
                }
                link = header;
            }
        }
        op.sawLink = link != SplitLink.NONE;
        return !op.sawLink || learn(op, link);
    }

    private static boolean learn(final Operation op, final long link)
    {
        final boolean canBe = op.table.mayLead(op.groupsOffset, link, op.link.port.regionLengthBytes());
        if (canBe)
        {
            op.table.learn(op.subtableSuffix, op.subtableDepth, op.groupsOffset, link);
        }
        return canBe;
    }

    /** Committed words with the fingerprint, except those known to be another key's. */
    void collectCandidates(final Operation op)
    {
        op.candidateCount = 0;
        op.candidatesResolved = 0;
        op.unresolvedSeen = false;
        final long wanted = SlotWord.committed(op.fingerprint);
        final boolean takesOldWords = op.peeked && (!op.isMerging() || OperationKind.isRead(op.kind));
        op.mixedPairs = takesOldWords ? slotMoves.mixedPairs(op) : 0;
        op.movesTarget = false;
        for (int slot = 0, slots = op.slotsRead(); slot < slots; slot++)
        {
            final long word = takesOldWords ? slotMoves.peekedWord(op, slot) : op.slotWord(slot);
            if (SlotWord.kindAndFingerprint(word) == wanted && op.slotCounts(slot) && !op.isForeign(word))
            {
                op.candidates[op.candidateCount] = word;
                op.candidateSlots[op.candidateCount] = slot;
                op.candidateOffsets[op.candidateCount++] = place(op, slot, word);
            }
        }
    }

    /** An old slot is where its key is until it is frozen; what is frozen already is on its way. */
    private static long place(final Operation op, final int slot, final long word)
    {
        return word == op.slotWord(slot) || movesWhatItFinds(op) ? op.slotOffset(slot) :
            word == op.oldWord(slot) ? op.oldSlotOffset(slot) : NOWHERE;
    }

    private static boolean movesWhatItFinds(final Operation op)
    {
        return OperationKind.writes(op.kind) && op.kind != OperationKind.PUT_IF_ABSENT;
    }

    /** @return whether a candidate is to be changed, and stands in the subtable that is split until it is moved. */
    private static boolean isToMove(final Operation op, final int candidate)
    {
        return op.peeked && movesWhatItFinds(op) &&
            op.slotWord(op.candidateSlots[candidate]) == SlotWord.UNINITIALISED;
    }

    void resolveCandidates(final Operation op)
    {
        if (op.candidatesResolved < op.candidateCount)
        {
            if (isToMove(op, op.candidatesResolved) &&
                !slotMoves.oldHeaderFits(op, op.candidateSlots[op.candidatesResolved]))
            {
                runner.end(op, OperationResult.TABLE_CHANGED);
            }
            else
            {
                runner.go(op, Step.MATCH);
            }
        }
        else if (op.judgesClaim)
        {
            runner.inserts().judge(op);
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
        op.candidatesPosted = 0;
        if (isToMove(op, op.candidatesResolved))
        {
            slotMoves.stageFreeze(op, op.candidateSlots[op.candidatesResolved]);
            readBlock(op, op.base + Scratch.BLOCKS_OFFSET, op.candidates[op.candidatesResolved]);
            op.candidatesPosted = 1;
            return;
        }
        while (op.candidatesResolved + op.candidatesPosted < op.candidateCount &&
            op.candidatesPosted < OneSidedPort.LEAST_SPACE)
        {
            final long word = op.candidates[op.candidatesResolved + op.candidatesPosted];
            final int length = SizeClasses.lengthBytes(SlotWord.sizeClass(word));
            if (used + length > Scratch.BLOCKS_CAPACITY || isToMove(op, op.candidatesResolved + op.candidatesPosted))
            {
                break;
            }
            readBlock(op, op.base + Scratch.BLOCKS_OFFSET + used, word);
            used += length;
            op.candidatesPosted++;
        }
    }

    void onMatch(final Operation op)
    {
        int block = op.base + Scratch.BLOCKS_OFFSET;
        final boolean moves = isToMove(op, op.candidatesResolved);
        if (moves && !slotMoves.isFrozenNow(op, op.candidateSlots[op.candidatesResolved]))
        {
            runner.retry(op, 1);
            return;
        }
        for (int i = op.candidatesPosted; i > 0; i--)
        {
            final int candidate = op.candidatesResolved++;
            final long word = op.candidates[candidate];
            if (!runner.records.isValid(block, word))
            {
                runner.counters.checksumMismatches++;
                op.unresolvedSeen = true;
            }
            else if (runner.records.holdsKey(op, block))
            {
                if (op.judgesClaim)
                {
                    runner.inserts().onCommittedRival(op, op.candidateOffsets[candidate], word, block);
                }
                else
                {
                    op.movesTarget = moves;
                    found(op, op.candidateOffsets[candidate],
                        moves ? slotMoves.movedTo(op, op.candidateSlots[candidate], op.window) : word, block);
                }
                return;
            }
            else
            {
                runner.counters.falseMatches++;
                op.table.falseMatches++;
                op.addForeign(word);
            }
            block += SizeClasses.lengthBytes(SlotWord.sizeClass(word));
        }
        resolveCandidates(op);
    }

    private void readBlock(final Operation op, final int target, final long word)
    {
        runner.batch.read(target, SizeClasses.lengthBytes(SlotWord.sizeClass(word)), SlotWord.blockOffset(word));
    }

    /** The key is there, in the block just read: answers, or goes on to change it. */
    private void found(final Operation op, final long slotOffset, final long word, final int block)
    {
        runner.records.answerWith(op, block);
        if (op.bypassedWord != 0)
        {
            runner.learn(op, word == op.bypassedWord);
            op.bypassedWord = 0;
        }
        if (slotOffset != NOWHERE)
        {
            runner.remember(op, slotOffset, word, op.version, block);
        }
        goOn(op, slotOffset, word, block);
    }

    private void goOn(final Operation op, final long slotOffset, final long word, final int block)
    {
        switch (op.kind)
        {
            case OperationKind.GET, OperationKind.EXISTS -> runner.end(op, OperationResult.FOUND);
            case OperationKind.PUT_IF_ABSENT -> runner.end(op, OperationResult.EXISTS);
            default ->
            {
                if (OperationKind.isByVersion(op.kind) && op.version != op.expectedVersion)
                {
                    runner.end(op, OperationResult.VERSION_MISMATCH);
                }
                else
                {
                    change(op, slotOffset, word, block);
                }
            }
        }
    }

    /** Goes on to replace or remove a committed word whose block was just read and is the key's. */
    void change(final Operation op, final long slotOffset, final long word, final int block)
    {
        if (OperationKind.computesValue(op.kind))
        {
            final int made = runner.computedValues().makeFrom(op, block);
            if (made != ComputedValues.OK)
            {
                runner.endUnmade(op, made);
                return;
            }
        }
        op.targetIsCached = false;
        op.targetOffset = slotOffset;
        op.targetWord = word;
        op.targetVersion = op.version;
        if (OperationKind.storesValue(op.kind))
        {
            runner.records.seal(op, op.version, word);
        }
        runner.go(op, Step.SWAP);
    }

    private void notFound(final Operation op)
    {
        if (op.unresolvedSeen)
        {
            if (++op.damagedLooks >= MAX_DAMAGED_LOOKS)
            {
                runner.end(op, OperationResult.CORRUPT);
            }
            else
            {
                runner.retry(op, 0);
            }
        }
        else if (seesSplit(op))
        {
            followSplit(op);
        }
        else if (OperationKind.inserts(op.kind))
        {
            runner.inserts().insert(op);
        }
        else
        {
            runner.end(op, OperationResult.NOT_FOUND);
        }
    }

    /** Whether the words seen are not enough for the answer "absent", nor to insert. */
    boolean seesSplit(final Operation op)
    {
        boolean sees = op.sawLink;
        final boolean isPeek = op.peeked && (OperationKind.isRead(op.kind) ||
            !OperationKind.inserts(op.kind) && !op.isMerging());
        for (int slot = op.slotsRead() - 1; slot >= 0; slot--)
        {
            final long word = op.slotWord(slot);
            sees |= SlotWord.isFrozen(word) || word == SlotWord.UNINITIALISED && (!isPeek || op.isMixed(slot));
        }
        return sees;
    }

    /**
     * The key was not found where the split has been, or has not come to yet. The link is in the header of every bucket
     * with a frozen word; a look that missed it because the line was torn sees it when it is repeated.
     */
    private void followSplit(final Operation op)
    {
        if (op.sawLink)
        {
            op.frozenLooks = 0;
            runner.counters.splitsFollowed++;
            runner.go(op, Step.PEEK);
        }
        else if (slotMoves.seesFrozen(op))
        {
            if (op.frozenLooks++ == 0)
            {
                runner.go(op, Step.LOOK);
            }
            else
            {
                runner.end(op, OperationResult.RESTRUCTURING);
            }
        }
        else if (op.predecessor == 0)
        {
            runner.end(op, OperationResult.RESTRUCTURING);
        }
        else if (op.peeked)
        {
            slotMoves.begin(op);
        }
        else
        {
            runner.go(op, Step.PEEK);
        }
    }
}
