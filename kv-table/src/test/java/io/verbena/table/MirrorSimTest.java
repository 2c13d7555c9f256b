package io.verbena.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.table.operation.EngineCounters;
import org.junit.jupiter.api.Test;

/**
 * Seeded runs over two and three copies. {@code -Dverbena.table.mirrorSeeds=N} for more of them, {@code
 * -Dverbena.table.firstMirrorSeed=N} for others.
 */
class MirrorSimTest
{
    private static final int SEEDS = Integer.getInteger("verbena.table.mirrorSeeds", 500);
    private static final int CHECKED_SEEDS = Integer.getInteger("verbena.table.checkedMirrorSeeds", 20);
    private static final int WIDE_SEEDS = Integer.getInteger("verbena.table.wideMirrorSeeds", 60);
    private static final int FIRST = Integer.getInteger("verbena.table.firstMirrorSeed", 1);

    @Test
    void shouldLoseNothingThatWasAcknowledged()
    {
        int losses = 0;
        long committed = 0;
        long finished = 0;
        for (long seed = FIRST; seed < FIRST + SEEDS; seed++)
        {
            try (MirrorRun run = new MirrorRun(seed, MirrorRun.Shape.of(seed)))
            {
                assertThat(run.run()).isNull();
                losses += run.losses();
                committed += run.committed();
                finished += run.finished();
            }
        }
        System.out.println("mirror: seeds=" + SEEDS + " losses=" + losses + " committed=" + committed + " finished=" +
            finished);
        assertThat(losses).isPositive();
        assertThat(finished).isPositive();
    }

    /** What a check of the copies reports beside engines is what somebody began and nobody will finish. */
    @Test
    void shouldFindNothingWrongInCopiesThatChange()
    {
        int checks = 0;
        int differences = 0;
        for (long seed = FIRST; seed < FIRST + CHECKED_SEEDS; seed++)
        {
            try (MirrorRun run = new MirrorRun(seed, MirrorRun.Shape.checked(seed)))
            {
                final String problem = run.run();
                assertThat(problem != null && problem.contains("a bound was hit") ? null : problem).isNull();
                checks += run.checks;
                differences += run.differences;
            }
        }
        System.out.println("mirror checked: seeds=" + CHECKED_SEEDS + " checks=" + checks + " left=" + differences);
        assertThat(checks).isGreaterThan(CHECKED_SEEDS);
    }

    /** Also batches, appends, deadlines, sweeps and scans. {@code -Dverbena.table.wideMirrorSeeds=N} for more seeds. */
    @Test
    void shouldLoseNothingWithAllOperations()
    {
        int undecided = 0;
        int losses = 0;
        long scanned = 0;
        final EngineCounters sum = new EngineCounters();
        for (long seed = FIRST; seed < FIRST + WIDE_SEEDS; seed++)
        {
            try (MirrorRun run = new MirrorRun(seed, MirrorRun.Shape.wide(seed)))
            {
                final String problem = run.run();
                final boolean isUndecided = problem != null && problem.contains("a bound was hit");
                undecided += isUndecided ? 1 : 0;
                assertThat(isUndecided ? null : problem).as("seed %d", seed).isNull();
                losses += run.losses();
                scanned += run.workload.scanned;
                sum.combined += run.counters().combined;
                sum.expiredSwept += run.counters().expiredSwept;
            }
        }
        System.out.println("mirror with all operations: seeds=" + WIDE_SEEDS + " losses=" + losses + " scanned=" +
            scanned + " swept=" + sum.expiredSwept + " combined=" + sum.combined + " undecided=" + undecided);
        assertThat(undecided).as("more than the checker can think of").isLessThanOrEqualTo(1 + WIDE_SEEDS / 100);
        assertThat(losses).isPositive();
        assertThat(scanned).isPositive();
        assertThat(sum.expiredSwept).isPositive();
        assertThat(sum.combined).isPositive();
    }
}
