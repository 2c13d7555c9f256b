package io.verbena.embedded;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.ArrayList;
import java.util.List;
import java.util.PrimitiveIterator;
import java.util.function.LongConsumer;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

import static org.assertj.core.api.Assertions.assertThat;

/** Each guard of {@code docs/protocol/durability.md} left out alone: a run must show it, so that the runs can fail. */
class DurabilityMutationSimTest
{
    private static final long MOST_SEEDS = Long.getLong("verbena.sim.mutationSeeds", 600);
    /** The least seeds that show the rarest symptoms, when they were last searched for: they are tried first. */
    private static final long HALF_A_BATCH_SEED = 25;
    private static final long FROZEN_SEED = 20;
    private static final long MERGED_SEED = 36;

    @ParameterizedTest
    @CsvSource({
        "RESTORED, which is free|CORRUPT|doubly owned|NOT linearizable", "SUPERBLOCK_LAST, found again is damaged",
        "BATCH_SYNCED, NOT linearizable", "NAMES_SYNCED, has become node" })
    void shouldShowInARestorationWhatAGuardIsFor(final Flaw flaw, final String symptom)
    {
        assertSeen(symptom, (seed) -> DurabilityRun.restoration(seed, flaw));
    }

    @Test
    void shouldBringBackWhatWasDeletedWhenHalfABatchIsWritten()
    {
        assertSeen("NOT linearizable", HALF_A_BATCH_SEED,
            (seed) -> DurabilityRun.cutShortAndWhole(seed, Flaw.BATCH_WHOLE));
    }

    @Test
    void shouldLoseWhatIsFrozenWhenItIsNotFollowed()
    {
        assertSeen("and not restored", FROZEN_SEED,
            (seed) -> DurabilityRun.growingWhileSplittersEnd(seed, Flaw.FOLLOW_FROZEN));
    }

    @Test
    void shouldLoseWhatMovesToWhereItHasLookedWhenItLooksOnce()
    {
        assertSeen("and not restored", (seed) -> DurabilityRun.growingInLittleMemory(seed, Flaw.LOOK_AGAIN));
    }

    @Test
    void shouldLoseWhatMergesToWhereItHasLookedWhenItLooksOnce()
    {
        assertSeen("and not restored", MERGED_SEED,
            (seed) -> DurabilityRun.shrinkingWhileMergersEnd(seed, Flaw.LOOK_AGAIN));
    }

    @Test
    void shouldLoseWhatMovedWhenItIsRemovedBeforeItIsWrittenAgain()
    {
        assertSeen("and not restored", (seed) -> DurabilityRun.growingCutShort(seed, Flaw.REMOVE_LAST));
    }

    @Test
    void shouldShowATornBlockInACheckpoint()
    {
        assertSeen("is not whole", (seed) -> DurabilityRun.torn(Flaw.WHOLE_BLOCK));
    }

    @Test
    void shouldShowMemoryThatNobodyFindsWhenThoseThatEndedMeanwhileAreNotForgotten()
    {
        assertSeen("bytes lost", (seed) -> DurabilityRun.away(seed, Flaw.ORPHAN_UNLESS));
    }

    @Test
    void shouldShowANodeThatNeverStartsAgain()
    {
        assertSeen("has format version none", (steps) -> DurabilitySimTest.firstLife((int)steps, Flaw.RENAME));
    }

    @Test
    void shouldShowMemoryThatIsNotFoundAgainWhenTheFolderIsAheadOfIt()
    {
        assertSeen("is gone", (steps) -> DurabilitySimTest.secondLife((int)steps, Flaw.SUPERBLOCK_FIRST));
    }

    @Test
    void shouldShowHalfACheckpointThatIsTakenForAWholeOne()
    {
        assertSeen("NOT linearizable", (steps) -> DurabilitySimTest.firstCheckpoint((int)steps, Flaw.STATE_LAST));
    }

    @Test
    void shouldNotNoticeDamageWhenMemoryIsNotWalked()
    {
        assertThat(DurabilitySimTest.damaged(Flaw.WALK)).isEmpty();
    }

    /** Some number shows it; the least that does is the same each time. */
    private static void assertSeen(final String symptom, final LongConsumer run)
    {
        assertSeen(symptom, 1, run);
    }

    /** The same; what is known to show it comes first, and if it does not any more, the others as always. */
    private static void assertSeen(final String symptom, final long known, final LongConsumer run)
    {
        final List<String> seen = new ArrayList<>();
        final Predicate<String> isIt = Pattern.compile(symptom).asPredicate();
        final PrimitiveIterator.OfLong numbers =
            LongStream.concat(LongStream.of(known), LongStream.rangeClosed(1, MOST_SEEDS)).iterator();
        while (numbers.hasNext() && seen.stream().noneMatch(isIt))
        {
            try
            {
                run.accept(numbers.nextLong());
            }
            catch (final AssertionError | RuntimeException ex)
            {
                seen.add(ex.getMessage().lines().limit(2).collect(Collectors.joining(" ")));
            }
        }
        assertThat(seen).anyMatch(isIt);
    }
}
