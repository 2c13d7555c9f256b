package io.verbena.rdma.roce.engine;

import org.junit.jupiter.api.Test;

/**
 * Random programs of RC queue pairs on a network with faults, judged by {@link ReliableProgram}. The seeds are fixed;
 * {@code -Dverbena.roce.seeds=FIRST-LAST} runs others.
 */
class ReliableSimTest
{
    private static final int SEEDS = 400;

    @Test
    void shouldExecuteEverythingOnceAndInOrderOnLossyNetwork()
    {
        final String[] range = System.getProperty("verbena.roce.seeds", "1-" + SEEDS).split("-");
        for (long seed = Long.parseLong(range[0]); seed <= Long.parseLong(range[1]); seed++)
        {
            try
            {
                new ReliableProgram(seed).run();
            }
            catch (final RuntimeException | AssertionError ex)
            {
                throw new AssertionError("seed " + seed + " (-Dverbena.roce.seeds=" + seed + '-' + seed + ')', ex);
            }
        }
    }
}
