package io.verbena.table;

import static org.assertj.core.api.Assertions.assertThat;

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
    @CsvSource({"RESTRUCTURING", "FREEZE_EMPTY", "FREEZE_KILLS", "FROZEN_IS_NO_VALUE", "SAME_SLOT", "LINK_FIRST",
        "WHOLE_BEFORE_SPLIT", "UNINITIALISED", "RENEW_WINDOW"})
    void shouldFindViolationWhenGuardIsDropped(final String guard) throws ReflectiveOperationException
    {
        final int bits = (int)Guard.class.getDeclaredField(guard).get(null);
        String found = null;
        long seed = 0;
        while (found == null && ++seed <= MOST_MUTATION_SEEDS)
        {
            final StepShape shape = StepShape.splitting(seed);
            shape.droppedGuards = bits;
            try (StepRun run = new StepRun(seed, shape))
            {
                found = run.run();
            }
        }
        System.out.println(guard + " seed " + seed + ": " + (found == null ? null : found.lines().findFirst()));
        assertThat(found).as("violation with guard %s dropped", guard).isNotNull();
    }
}
