package io.verbena.table.operation;

import static io.verbena.test.Mutation.field;

import io.verbena.raas.OneSidedPort;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.table.access.Scratch;
import io.verbena.table.access.SlotRound;
import io.verbena.table.allocation.BlockAllocator;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.SlotWord;
import io.verbena.table.growth.GrowthBatch;
import io.verbena.table.growth.TableMerge;
import io.verbena.table.moving.MergeUnit;
import io.verbena.table.scan.ScanBlocks;
import io.verbena.table.scan.ScanGroups;
import io.verbena.table.scan.TableScan;

/** What methods do instead, or first, under a {@link TableMutation}. */
public final class MutatedSteps
{
    private static final int PER_BUCKET = BucketDescriptor.SLOTS_PER_BUCKET;

    private MutatedSteps()
    {
    }

    public static void proposeOnClaim(
        final OneSidedPort port,
        final MemoryRegion local,
        final long resultAt,
        final long slotOffset,
        final long tentative,
        final long emptied)
    {
        SlotRound.propose(port, local, resultAt, slotOffset, tentative, emptied);
    }

    public static void judgeReRead(final Inserts inserts, final Operation op)
    {
        field(inserts, "flow", OperationFlow.class).go(op, Step.COMMIT);
    }

    public static void stageCachedRead(final Lookups lookups, final Operation op)
    {
        lookups.stageFollow(op);
        op.scratch.word(op.base + Scratch.SLOT_OFFSET, op.target.word);
    }

    public static void retire(final BlockAllocator allocator, final long word)
    {
        allocator.free(SlotWord.blockOffset(word), SlotWord.sizeClass(word));
    }

    public static boolean reportBeforeCommit(final OperationRunner runner, final Operation op, final boolean isPosted)
    {
        final boolean isCommit = isPosted && op.step == Step.COMMIT;
        if (isCommit)
        {
            op.answer.version = op.block.version;
            runner.report(op, OperationResult.STORED);
        }
        return isCommit;
    }

    public static void stageSwap(final SwapStep swaps, final Operation op)
    {
        swaps.stageWords(op);
        swaps.stageBlock(op);
    }

    public static boolean swapReturnedWord(final SwapStep swaps, final Operation op, final long returned)
    {
        if (!SlotWord.isCommitted(returned))
        {
            return false;
        }
        op.target.word = returned;
        field(swaps, "flow", OperationFlow.class).go(op, Step.SWAP);
        return true;
    }

    public static long nextVersion(final Records records, final long replacedVersion)
    {
        return replacedVersion + 1;
    }

    public static boolean hasBegunToRead(final Operation op)
    {
        return op.step != Step.FREE && op.step != Step.COMBINED;
    }

    public static void startRepeat(final RepeatStep repeats, final Operation op)
    {
        repeats.goOn(op);
    }

    public static boolean isAhead(final TableScan scan, final int met)
    {
        final ScanBlocks blocks = field(scan, "blocks", ScanBlocks.class);
        return field(scan, "groups", ScanGroups.class).isAhead(met, blocks.keyHash(met)) &&
            blocks.isValid(met, field(scan, "table", OpenTable.class).tableId);
    }

    public static long claimWord(final Operation op)
    {
        return op.block.word;
    }

    public static boolean judgeOwnWord(
        final Inserts inserts, final Operation op, final long slotOffset, final long word, final int block)
    {
        final boolean isOwn = slotOffset == op.claim.offset;
        if (isOwn)
        {
            inserts.judge(op);
        }
        return isOwn;
    }

    public static long frozenUnlessEmpty(final long word)
    {
        return SlotWord.isEmpty(word) ? word : SlotWord.frozen(word);
    }

    public static boolean isFrozenOrEmpty(final long word)
    {
        return SlotWord.isFrozen(word) || SlotWord.isEmpty(word);
    }

    public static long frozenAlive(final long word)
    {
        return SlotWord.isTentative(word) ?
            SlotWord.withKind(word, SlotWord.KIND_FROZEN) : SlotWord.frozen(word);
    }

    public static boolean isCurrentOrFrozen(final Operation op, final long word)
    {
        return word == op.target.word || word == SlotWord.frozen(op.target.word);
    }

    public static long newOffset(final Operation op, final int slot)
    {
        return op.location.slotOffset(slot / PER_BUCKET * PER_BUCKET + (slot + 1) % PER_BUCKET);
    }

    public static void formatBucket(final GrowthBatch batch, final int at, final long header)
    {
        batch.word(at + BucketDescriptor.HEADER_OFFSET, header);
        for (int slot = 0; slot < PER_BUCKET; slot++)
        {
            batch.word(at + BucketDescriptor.SLOTS_OFFSET + slot * BucketDescriptor.SLOT_BYTES, SlotWord.EMPTY);
        }
    }

    public static void stageHintedRead(final Lookups lookups, final Operation op)
    {
        lookups.stageFollow(op);
        lookups.stageHintedBucket(op);
    }

    public static void onProposed(final TableMerge merge)
    {
        merge.beginUnits();
    }

    /** Taken for frozen after one try. */
    public static boolean isFrozenOnce(final MergeUnit unit)
    {
        boolean isFrozen = true;
        for (final long word : field(unit, "old", long[].class))
        {
            isFrozen &= SlotWord.isFrozen(word);
        }
        return isFrozen || field(unit, "step", Enum.class).name().equals("FREEZE");
    }

    public static int freeSlot(final long[] placed, final int slot)
    {
        for (int free = 0; free < placed.length; free++)
        {
            if (placed[free] == SlotWord.EMPTY)
            {
                return free;
            }
        }
        return -1;
    }

    public static long merged(final long old, final int side, final int newDepth, final int suffix)
    {
        return SlotWord.namesBlock(old) ? SlotWord.withKind(old, SlotWord.KIND_COMMITTED) : SlotWord.EMPTY;
    }

    public static void readSettled(final Batch batch, final int localOffset, final long slotOffset)
    {
        batch.read(localOffset, Long.BYTES, slotOffset);
    }

    public static int judgeReRead(final MirroredInserts mirrored, final Operation op)
    {
        field(mirrored, "flow", OperationFlow.class).go(op, Step.COMMIT);
        return MirroredInserts.GONE;
    }

    public static boolean isOfKey(final Operation op, final long word)
    {
        return Lookups.mayName(op, word);
    }

    public static boolean isNoRecord(final Operation op, final long word)
    {
        return !SlotWord.isCommitted(word);
    }

    public static boolean finishWhenPosted(final OperationRunner runner, final Operation op, final boolean isPosted)
    {
        final boolean isBatch = isPosted && op.combining.firstMember != null && Step.isDecisive(op.step);
        if (isBatch)
        {
            runner.combiner.finish(op, OperationResult.STORED);
        }
        return isBatch;
    }
}
