package io.verbena.table;

import io.verbena.table.operation.EngineCounters;
import io.verbena.table.operation.OperationResult;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Records with deadlines under racing engines whose clocks differ and step: each record goes at one instant between the
 * clock that is most ahead and the one that is most behind, for everybody, through sweeps, splits, merges, lost
 * connections and repeated operations.
 */
class ExpirySimTest
{
    private static final long SEEDS = Long.getLong("verbena.table.seeds", 300);
    /** The history of seed 24 is sound, but takes 22 million states to judge: more than a test has time for. */
    private static final long FIRST_SEED = Long.getLong("verbena.table.firstSeed", 25);

    @Test
    void shouldEndRecordsAtOneInstantForEverybody()
    {
        long elapsed = 0;
        long removed = 0;
        long swept = 0;
        long notMet = 0;
        long splits = 0;
        long merges = 0;
        for (long seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++)
        {
            try (StepRun run = new StepRun(seed, StepShape.expiring(seed)))
            {
                assertThat(run.run()).isNull();
                final EngineCounters counters = run.counters();
                elapsed += run.elapsed();
                removed += counters.expiredRemoved;
                swept += counters.expiredSwept;
                notMet += counters.results[OperationResult.CONDITION_NOT_MET];
                splits += run.splits();
                merges += run.merges();
            }
        }
        System.out.println("elapsed=" + elapsed + " removed=" + removed + " swept=" + swept +
            " notMet=" + notMet + " splits=" + splits +
            " merges=" + merges);
        // The runs contain what they are meant to contain.
        assertThat(elapsed).isGreaterThan(SEEDS);
        assertThat(removed).isGreaterThan(SEEDS / 2);
        assertThat(swept).isGreaterThan(SEEDS / 4);
        assertThat(notMet).isPositive();
        assertThat(splits).isPositive();
        assertThat(merges).isPositive();
    }
}
