package io.verbena.table.operation;

import static io.verbena.test.Mutation.calling;
import static io.verbena.test.Mutation.callingFirst;
import static io.verbena.test.Mutation.doingNothing;
import static io.verbena.test.Mutation.returning;

import io.verbena.table.access.SlotRound;
import io.verbena.table.check.OrphanScan;
import io.verbena.table.growth.EngineGrowth;
import io.verbena.table.growth.TableMerge;
import io.verbena.table.mirror.MutatedRounds;
import io.verbena.table.mirror.SlotReconciliation;
import io.verbena.test.Mutation;

/** Operations on several copies without one of the checks that decision 0019 lists. */
public enum MirrorMutation
{
    /** Whoever has lost a round is answered before the round is over. */
    LOSER_SETTLES(calling(Rounds.TYPE, "onLost", MutatedRounds.class, "answerAtOnce")),
    /** The primary is swapped, whatever stands on the middle. */
    MIDDLES_FIRST(returning(Rounds.TYPE, "isMiddleEqual", true)),
    /** A middle is changed without looking whether the primary is where it was. */
    PRIMARY_UNMOVED(returning(Rounds.TYPE, "isOver", false)),
    /** Whoever finishes a round for somebody else does not write the block. */
    BLOCK_WITH_HELP(returning(Rounds.TYPE, "needsBlock", false)),
    /** READs go to the head. */
    READ_PRIMARY(returning(Rounds.TYPE, "readMember", 0)),
    /** A writer is answered when the head is swapped. */
    ACK_AFTER_PRIMARY(callingFirst(Rounds.TYPE, "onDecided", MutatedRounds.class, "answerAtHead")),
    /** What became of an attempt is looked for before the rounds of its slot are over. */
    RESOLVE_BEHIND_ROUND(calling(Batch.class, "readSettled", MutatedSteps.class, "readSettled")),
    /** A repeated operation goes on without looking for the effect of its first attempt. */
    RESOLVE_BEFORE_REPEAT(calling(RepeatStep.class, "start", MutatedSteps.class, "startRepeat")),
    /** Whoever has lost a round proposes on the word that the head returned. */
    BASE_FROM_PRIMARY(callingFirst(SwapStep.class, "goOnFrom", MutatedSteps.class, "swapReturnedWord")),
    /** Without killing rival tentative words at higher slots. */
    KILL(returning(Inserts.class, "hasVictims", false)),
    /** A claim is killed at the head and the primary only. */
    KILL_ON_MIDDLES(calling(Rounds.TYPE, "afterKill", MutatedRounds.class, "publish")),
    /** Without the re-read at the head. */
    RE_READ(calling(MirroredInserts.class, "judgeReRead", MutatedSteps.class, "judgeReRead")),
    /** What is absent at the head is taken to be absent. */
    SETTLE_CHANGED_ABSENT(calling(MirroredInserts.class, "mayConcern", MutatedSteps.class, "isOfKey")),
    /** A record that is found at the head beside the own claim is no matter. */
    SETTLE_RECORDS(calling(MirroredInserts.class, "mayConcern", MutatedSteps.class, "isNoRecord")),
    /** What is moved ahead of a claim is taken to be what the look has judged. */
    JUDGE_MOVED(returning(MirroredInserts.class, "isMoved", false)),
    /** Where a record is to be moved to is cached before it is there. */
    CACHE_MOVED(returning(Operation.class, "isTargetThere", true)),
    /** Slots are frozen in one batch with the link, as with one copy. */
    LINK_FIRST(returning(Mutation.type("io.verbena.table.mirror.MirrorBatch"), "isBehindLink", false)),
    /** A proposal is taken back where the primary does not have its decision. */
    REFUSE_FIRST(returning(TableMerge.class, "mayBeDecidedElsewhere", false)),
    /** The reaper does not read the head. */
    SCAN_HEADS(returning(OrphanScan.class, "firstMember", 1)),
    /** The reaper proposes an emptied word on a claim, instead of killing it. */
    SCAN_KILLS(calling(SlotRound.class, "kill", MutatedSteps.class, "proposeOnClaim")),
    /** Operations go on with blocks that a memory node which has come in does not have. */
    WRITE_AGAIN(doingNothing(PointOperations.class, "writeAgain")),
    /** Subtables are linked that a memory node which has come in does not have. */
    FORMAT_AGAIN(doingNothing(EngineGrowth.class, "writeAgain")),
    /** The claims of an only member stay when another one comes in, and those who made them go on. */
    EMPTY_CLAIMS(returning(SlotReconciliation.class, "isOnlyMember", false)
        .and(doingNothing(PointOperations.class, "writeAgain"))),
    /** Links are judged as slot words are. */
    LINKS_ARE_NO_SLOTS(returning(Mutation.type("io.verbena.table.mirror.MirrorRequest"), "isOfSlot", true));

    /** Its class is another package's. */
    private static final class Rounds
    {
        static final Class<?> TYPE = Mutation.type("io.verbena.table.mirror.MirrorRound");
    }

    private final Mutation mutation;

    MirrorMutation(final Mutation mutation)
    {
        this.mutation = mutation;
    }

    public Mutation.Opened open()
    {
        return mutation.open();
    }
}
