package io.verbena.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.table.operation.EngineCounters;
import io.verbena.table.operation.TableMutation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Engines that race on few keys while their subtables are split again and again, and the old memory is used again. */
class SplitRaceSimTest
{
    private static final long SEEDS = Long.getLong("verbena.table.splitSeeds", 200);
    private static final long FIRST_SEED = Long.getLong("verbena.table.firstSeed", 1);
    private static final int MOST_MUTATION_SEEDS = 2000;

    @Test
    void shouldStayLinearizableWhileSubtablesAreSplitAgainAndAgain()
    {
        final EngineCounters sum = new EngineCounters();
        long splits = 0;
        int deepest = 0;
        for (long seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++)
        {
            try (StepRun run = new StepRun(seed, StepShape.splitting(seed)))
            {
                assertThat(run.run()).isNull();
                splits += run.splits();
                deepest = Math.max(deepest, run.depth());
                sum.splitsFollowed += run.counters().splitsFollowed;
                sum.tombstonesCleared += run.counters().tombstonesCleared;
                sum.pairsHelped += run.counters().pairsHelped;
            }
        }
        System.out.println("splits=" + splits + " deepest=" + deepest + " followed=" + sum.splitsFollowed + " helped=" +
            sum.pairsHelped + " tombstones=" + sum.tombstonesCleared);
        assertThat(splits).isGreaterThan(SEEDS);
        assertThat(deepest).as("windows were renewed twice").isGreaterThan(8);
        assertThat(sum.splitsFollowed).isPositive();
        assertThat(sum.pairsHelped).isPositive();
        assertThat(sum.tombstonesCleared).as("marks of deletes that are cleared").isPositive();
    }

    /** A delete that was begun again was told as done twice in these, before marks that are not cleared were kept. */
    @ParameterizedTest
    @ValueSource(longs = {192, 765, 810})
    void shouldStayLinearizableInRunsThatFailedOnce(final long seed)
    {
        try (StepRun run = new StepRun(seed, StepShape.splitting(seed)))
        {
            assertThat(run.run()).isNull();
        }
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "RESTRUCTURING, a record is missed",
        "FREEZE_EMPTY, one key inserted twice",
        "FREEZE_KILLS, its block is damaged or was rewritten",
        "FROZEN_IS_NO_VALUE, stale answer",
        "SAME_SLOT, its key is also in slot",
        "LINK_FIRST, result restructuring",
        "WHOLE_BEFORE_SPLIT, waits for slots of the one at",
        "UNINITIALISED, one key inserted twice",
        "RENEW_WINDOW, its block holds a key that does not belong to this word"})
    void shouldFindViolationWhenMutated(final String name, final String symptom)
    {
        MutationSearch.shouldShow(symptom, MOST_MUTATION_SEEDS, TableMutation.named(name), StepShape::splitting);
    }
}
