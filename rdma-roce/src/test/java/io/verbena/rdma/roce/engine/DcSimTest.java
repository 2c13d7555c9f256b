package io.verbena.rdma.roce.engine;

import org.junit.jupiter.api.Test;

/**
 * Random programs of DC initiators on a network with faults and late packets, judged by {@link DcProgram}. The seeds
 * are fixed; {@code -Dverbena.roce.seeds=FIRST-LAST} runs others.
 */
class DcSimTest
{
    private static final int SEEDS = 200;

    @Test
    void shouldExecuteEverythingOnceAndInOrderWithFewerContextsThanInitiators()
    {
        final String[] range = System.getProperty("verbena.roce.seeds", "1-" + SEEDS).split("-");
        for (long seed = Long.parseLong(range[0]); seed <= Long.parseLong(range[1]); seed++)
        {
            try
            {
                new DcProgram(seed).run();
            }
            catch (final RuntimeException | AssertionError ex)
            {
                throw new AssertionError("seed " + seed + " (-Dverbena.roce.seeds=" + seed + '-' + seed + ')', ex);
            }
        }
    }
}
