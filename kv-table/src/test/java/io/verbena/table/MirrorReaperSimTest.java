package io.verbena.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.table.operation.MirrorMutation;
import io.verbena.test.Mutation;
import org.junit.jupiter.api.Test;

/** Seeded runs of a reaper over two and three copies. {@code -Dverbena.table.mirrorReaperSeeds=N} for more of them. */
class MirrorReaperSimTest
{
    private static final int SEEDS = Integer.getInteger("verbena.table.mirrorReaperSeeds", 500);

    @Test
    void shouldGiveNothingAwayThatACopyNames()
    {
        long killed = 0;
        long named = 0;
        for (long seed = 1; seed <= SEEDS; seed++)
        {
            try (MirrorReaperRun run = new MirrorReaperRun(seed))
            {
                assertThat(run.run()).isNull();
                killed += run.killed;
                named += run.named;
            }
        }
        System.out.println("mirror reaper: seeds=" + SEEDS + " killed=" + killed + " named=" + named + " bytes");
        assertThat(killed).isPositive();
        assertThat(named).isPositive();
    }

    /** What a claim or a decision at the head names is given away. */
    @Test
    void shouldFindViolationWhenHeadsAreNotRead()
    {
        String last = null;
        long seed = 0;
        try (Mutation.Opened _ = MirrorMutation.SCAN_HEADS.open())
        {
            while (last == null && ++seed <= SEEDS)
            {
                last = run(seed);
            }
        }
        assertThat(last).as("in %d seeds", SEEDS).isNotNull();
        assertThat(run(seed)).as("not mutated, seed %d", seed).isNull();
    }

    private static String run(final long seed)
    {
        try (MirrorReaperRun run = new MirrorReaperRun(seed))
        {
            return run.run();
        }
    }
}
