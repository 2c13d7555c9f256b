package io.verbena.rdma.roce.engine;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Random programs of RC queue pairs on a network with faults, judged by {@link ReliableProgram}. The seeds are fixed;
 * {@code -Dverbena.roce.seeds=FIRST-LAST} runs others.
 */
class ReliableSimTest
{
    private static final int SEEDS = 400;
    private static final int SEALED_SEEDS = 100;

    @Test
    void shouldExecuteEverythingOnceAndInOrderOnLossyNetwork()
    {
        final String[] range = System.getProperty("verbena.roce.seeds", "1-" + SEEDS).split("-");
        long stretchedReads = 0;
        for (long seed = Long.parseLong(range[0]); seed <= Long.parseLong(range[1]); seed++)
        {
            try
            {
                final ReliableProgram program = new ReliableProgram(seed);
                program.run();
                stretchedReads += program.stretchedReads();
            }
            catch (final RuntimeException | AssertionError ex)
            {
                throw new AssertionError("seed " + seed + " (-Dverbena.roce.seeds=" + seed + '-' + seed + ')', ex);
            }
        }
        if (System.getProperty("verbena.roce.seeds") == null)
        {
            assertThat(stretchedReads).isGreaterThan(1000);
        }
    }

    @Test
    void shouldExecuteEverythingOnceAndInOrderThoughSealedPacketsAreChangedAndReplayed()
    {
        final String[] range = System.getProperty("verbena.roce.seeds", "1-" + SEALED_SEEDS).split("-");
        long attacks = 0;
        for (long seed = Long.parseLong(range[0]); seed <= Long.parseLong(range[1]); seed++)
        {
            final SealedPathAttacker attacker = new SealedPathAttacker(seed * 13);
            try
            {
                new ReliableProgram(seed, attacker).run();
            }
            catch (final RuntimeException | AssertionError ex)
            {
                throw new AssertionError("seed " + seed + " (-Dverbena.roce.seeds=" + seed + '-' + seed + ')', ex);
            }
            attacks += attacker.attacks;
        }
        if (System.getProperty("verbena.roce.seeds") == null)
        {
            assertThat(attacks).isGreaterThan(1000);
        }
    }
}
