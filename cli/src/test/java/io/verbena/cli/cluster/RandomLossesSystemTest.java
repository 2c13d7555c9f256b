package io.verbena.cli.cluster;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;

/**
 * A table with copies, each node a process, of which random ones are killed or stopped while clients read and write:
 * all memory nodes but one, all compute nodes but one, meta servers, in any combination, while others come back and are
 * filled. What was acknowledged is there in the end, what clients saw is linearizable, and copies are equal. One run
 * with two rounds of losses; {@code -Dverbena.losses.runs=100 -Dverbena.losses.rounds=3} for more and longer ones,
 * {@code -Dverbena.losses.seed=N} for the first one's seed. {@link LossesHistoryTest} shows that lost writes are found.
 */
@Timeout(14_400)
class RandomLossesSystemTest
{
    private static final int RUNS = Integer.getInteger("verbena.losses.runs", 1);
    private static final int ROUNDS = Integer.getInteger("verbena.losses.rounds", 2);
    /** Takes the memory of two of three memory nodes, a compute node and the meta server at first. */
    private static final long DEFAULT_SEED = 84;
    private static final long FIRST_SEED = Long.getLong("verbena.losses.seed", DEFAULT_SEED);

    @TempDir
    private Path directory;

    @Test
    void shouldLoseNoAcknowledgedWrite() throws Exception
    {
        for (int i = 0; i < RUNS; i++)
        {
            new LossesRun(directory.resolve("run-" + i), FIRST_SEED + i, ROUNDS).run();
        }
    }
}
