package io.verbena.table;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/**
 * Seeded runs of growing tables over two and three copies. {@code -Dverbena.table.growingMirrorSeeds=N} for more of
 * them, {@code -Dverbena.table.firstMirrorSeed=N} for others.
 */
class GrowingMirrorSimTest
{
    private static final int SEEDS = Integer.getInteger("verbena.table.growingMirrorSeeds", 100);
    private static final int FIRST = Integer.getInteger("verbena.table.firstMirrorSeed", 1);

    @Test
    void shouldLoseNothingWhileSubtablesAreSplitAndMerged()
    {
        final StringBuilder wrong = new StringBuilder();
        int losses = 0;
        long splits = 0;
        long merges = 0;
        long withdrawals = 0;
        long finished = 0;
        for (long seed = FIRST; seed < FIRST + SEEDS; seed++)
        {
            try (GrowingMirrorRun run = new GrowingMirrorRun(seed, seed % 4 == 0 ?
                GrowingMirrorRun.Shape.proposing(seed) : GrowingMirrorRun.Shape.of(seed)))
            {
                final String problem = run.run();
                wrong.append(problem == null ? "" : problem + "\n");
                losses += run.losses;
                splits += run.splits;
                merges += run.merges;
                withdrawals += run.withdrawals;
                finished += run.finished;
            }
        }
        System.out.println("growing mirror: seeds=" + SEEDS + " losses=" + losses + " splits=" + splits + " merges=" +
            merges + " withdrawals=" + withdrawals + " finished=" + finished);
        assertThat(wrong.toString()).isEmpty();
        assertThat(losses).isPositive();
        assertThat(splits).isPositive();
        assertThat(merges).isPositive();
        assertThat(withdrawals).isPositive();
        assertThat(finished).isPositive();
    }
}
