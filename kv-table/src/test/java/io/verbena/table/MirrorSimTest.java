package io.verbena.table;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/**
 * Seeded runs over two and three copies. {@code -Dverbena.table.mirrorSeeds=N} for more of them, {@code
 * -Dverbena.table.firstMirrorSeed=N} for others.
 */
class MirrorSimTest
{
    private static final int SEEDS = Integer.getInteger("verbena.table.mirrorSeeds", 1500);
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
}
