package io.verbena.table.operation;

import static io.verbena.test.Mutation.calling;
import static io.verbena.test.Mutation.callingFirst;
import static io.verbena.test.Mutation.doingNothing;
import static io.verbena.test.Mutation.returning;

import io.verbena.table.TableEngine;
import io.verbena.table.allocation.BlockAllocator;
import io.verbena.table.allocation.EpochTracker;
import io.verbena.table.format.BlockVersion;
import io.verbena.table.growth.MergeRoom;
import io.verbena.table.growth.SplitGroup;
import io.verbena.table.growth.SubtableFormat;
import io.verbena.table.growth.TableMerge;
import io.verbena.table.growth.TableSplit;
import io.verbena.table.moving.Freezing;
import io.verbena.table.moving.MergePlacement;
import io.verbena.table.moving.MergeUnit;
import io.verbena.table.moving.SlotMove;
import io.verbena.table.scan.Cursor;
import io.verbena.table.scan.TableScan;
import io.verbena.test.Mutation;
import java.util.Arrays;

/**
 * The protocol without one of its steps. The tables in {@code docs/protocol} name what each step prevents and the test
 * that shows it.
 */
public enum TableMutation
{
    /** Without the re-read after a tentative word was placed. */
    RE_READ(body(Inserts.class, "judgeReRead")),
    /** Without the slot READ of a cached GET. */
    SLOT_READ(body(Lookups.class, "stageCachedRead")),
    /** Without waiting for the epoch before a retired block is used again. */
    QUARANTINE(body(BlockAllocator.class, "retire")),
    /** Without comparing keys of blocks found by fingerprint. */
    KEY_CHECK(returning(Records.class, "holdsKey", true)),
    /** A kill that neither succeeds nor finds 0 does not mean withdraw. */
    FAILED_KILL(returning(Inserts.class, "isDead", true)),
    /** Without waiting for the commit before an insert is acknowledged. */
    COMMIT(callingFirst(OperationRunner.class, "onRing", MutatedSteps.class, "reportBeforeCommit")),
    /** The WRITE of the block stands behind the CAS that publishes it. */
    WRITE_BEFORE_CAS(body(SwapStep.class, "stageSwap")),
    /** Without killing rival tentative words at higher slots. */
    KILL(returning(Inserts.class, "hasVictims", false)),
    /** Takes the word that a lost CAS returned as the next expected value. */
    NEVER_RETURNED_WORD(callingFirst(SwapStep.class, "goOnFrom", MutatedSteps.class, "swapReturnedWord")),
    /** Without killing a tentative word that is seen again. */
    KILL_SEEN_AGAIN(returning(Inserts.class, "rivalStands", false)),
    /** Without killing a tentative word when the pair is full. */
    KILL_WHEN_FULL(returning(Inserts.class, "tentativeSlot", -1)),
    /** Without dropping cached locations of earlier epochs. */
    CACHE_EPOCH(returning(EpochTracker.class, "isCacheTagCurrent", true)),
    /** Without version bits in the slot word. */
    VERSION_BITS(returning(BlockVersion.class, "slotBits", 0)),
    /** Versions start at 1 with each life of a key, instead of being unique for ever. */
    UNIQUE_VERSIONS(body(Records.class, "nextVersion")),
    /** An answer "absent" or an insert while a frozen or uninitialised word is seen. */
    RESTRUCTURING(returning(Lookups.class, "seesSplit", false)),
    /** Without the fence between a tentative CAS and the re-read, on devices that need it. */
    FENCE(doingNothing(Batch.class, "readsFollowAtomics")),
    /** An operation that waits for memory delays the epoch. */
    WAIT_OUTSIDE_EPOCH(body(PointOperations.class, "hasBegunToRead")),
    /** A repeated operation goes on without looking for the effect of its first attempt. */
    REPEAT_LOOKS(calling(RepeatStep.class, "start", MutatedSteps.class, "startRepeat")),
    /** A delete leaves an empty slot instead of a word that names the last block and itself. */
    TOMBSTONE(returning(Records.class, "tombstone", 0L)),
    /** An attempt whose answer was lost may have taken away a word that another one of its engine took away. */
    ONE_TAKER(doingNothing(SwapStep.class, "noteTaken").and(returning(RepeatStep.class, "leavesOwnWord", true))),
    /** A scan belongs to no epoch. */
    SCAN_IN_EPOCH(returning(TableScan.class, "heldEpoch", Long.MAX_VALUE)),
    /** A scan leaves out a record whose block is not what its word published, instead of reading the slot again. */
    SCAN_LOOKS_AGAIN(returning(TableScan.class, "isValid", true).and(body(TableScan.class, "isAhead"))),
    /** An insert places a committed word at once. */
    TENTATIVE(body(Inserts.class, "claimWord")
        .and(callingFirst(Inserts.class, "onCommittedRival", MutatedSteps.class, "judgeOwnWord"))),
    /** A split does not freeze empty slots. */
    FREEZE_EMPTY(calling(SlotMove.class, "frozen", MutatedSteps.class, "frozenUnlessEmpty")
        .and(calling(SlotMove.class, "isFrozen", MutatedSteps.class, "isFrozenOrEmpty"))),
    /** A split moves tentative words as if they were committed, instead of killing them. */
    FREEZE_KILLS(calling(SlotMove.class, "frozen", MutatedSteps.class, "frozenAlive")),
    /** A frozen word is taken for the value of its key. */
    FROZEN_IS_NO_VALUE(calling(Lookups.class, "isCurrent", MutatedSteps.class, "isCurrentOrFrozen")),
    /** A slot's word is moved to the next slot. */
    SAME_SLOT(body(SlotMoves.class, "newOffset")),
    /** Slots are frozen without a link in their bucket. */
    LINK_FIRST(returning(Freezing.class, "isLinked", true)),
    /** A subtable with slots that are not initialised is split. */
    WHOLE_BEFORE_SPLIT(
        returning(TableSplit.class, "isWhole", true).and(returning(SplitGroup.class, "isMissing", false))),
    /** Slots of a new subtable are formatted as empty, instead of not initialised. */
    UNINITIALISED(body(SubtableFormat.class, "formatBucket")),
    /** The window of a word that is moved stays as it was. */
    RENEW_WINDOW(returning(SlotMoves.class, "renews", false).and(returning(SplitGroup.class, "renews", false))),
    /** The bucket of a hinted location is read behind the block. */
    BUCKET_BEFORE_BLOCK(body(Lookups.class, "stageHintedRead")),

    /** A merge is decided without reserving as many slots as will be missing. */
    ROOM_FIRST(returning(MergeRoom.class, "full", MergeRoom.NONE).and(returning(MergeRoom.class, "needsMore", false))),
    /** Slots are frozen before the link of the sibling stands. */
    SIBLING_DECIDES(body(TableMerge.class, "onProposed")),
    /** A slot is initialised before all slots of both groups are frozen. */
    UNIT_FROZEN(calling(MergeUnit.class, "isFrozen", MutatedSteps.class, "isFrozenOnce")),
    /** A reader takes old words where some slots of the group were initialised. */
    UNIT_AT_ONCE(returning(SlotMoves.class, "mixedPairs", 0)),
    /** A word that cannot keep its slot goes to any bucket. */
    OWN_BUCKETS(body(MergePlacement.class, "freeSlot")),
    /** A word's window stays where the greater depth needed it. */
    WINDOW_BACK(body(MergePlacement.class, "merged")),
    /** Subtables with slots that are not initialised are merged. */
    WHOLE_BEFORE_MERGE(
        returning(TableMerge.class, "isWhole", true).and(returning(MergeUnit.class, "isMissing", false))),
    /** A scan that finds its subtable merged does not walk that again for what it had not come to. */
    WALK_AGAIN(returning(Cursor.class, "isMerged", false)),
    /** A scan returns the records of a group in the order of their slots, which moves change. */
    HASH_ORDER(returning(Cursor.class, "orderBits", 0)),
    /** A proposal is taken back before all have passed the epoch in which it was made. */
    STALE_ONLY(returning(TableMerge.class, "isStale", true)),

    /** Members of a batch are answered when its compare-and-swap is posted, not with its outcome. */
    MEMBERS_TOLD_LAST(callingFirst(OperationRunner.class, "onRing", MutatedSteps.class, "finishWhenPosted")),
    /** A batch holds operations of several kinds. */
    ONE_KIND(returning(Combiner.class, "isOfOneKind", true)),
    /** A member that was answered "unknown" is not remembered before its batch was posted. */
    MEMBER_NOTED(doingNothing(Combiner.class, "notePending")),
    /** A batch that is done again goes with those of its members that were answered "unknown". */
    AGAIN_WITHOUT_TOLD(doingNothing(Combiner.class, "dropReported")),
    /** A leader answers also those that did not wait before it had read anything. */
    ANSWERED_IN_TIME(returning(Answers.class, "isInTime", true)),
    /** A leader answers of which it is not certain what became of it. */
    ANSWERED_BY_CERTAINTY(returning(Answers.class, "tookEffect", true)),
    /** Whoever expects the version that a leader left or found is answered. */
    ANSWERED_BY_VERSION(returning(Answers.class, "isMismatch", true)),
    /** Whoever does not need what a leader waits for, memory or a split, waits behind it. */
    GOES_PAST(returning(Combiner.class, "needsTheSame", true));

    private final Mutation mutation;

    TableMutation(final Mutation mutation)
    {
        this.mutation = mutation;
    }

    /** The body of that name. */
    private static Mutation body(final Class<?> type, final String method)
    {
        return calling(type, method, MutatedSteps.class, method);
    }

    public Mutation mutation()
    {
        return mutation;
    }

    public Mutation.Opened open()
    {
        return mutation.open();
    }

    /** @param names of constants, with a plus sign between, or empty. */
    public static Mutation named(final String names)
    {
        return Arrays.stream(names.split("\\+")).filter(name -> !name.isEmpty()).map(name -> valueOf(name).mutation)
            .reduce(Mutation.NONE, Mutation::and);
    }
}
