package io.verbena.rdma.sim;

import io.verbena.rdma.sim.device.SimFabric;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.rdma.spi.FabricProvider;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.rdma.verbs.RdmaException;

/**
 * Opens {@code sim} (seed 1) and {@code sim:SEED}, at its most adversarial. Time stands still until whoever opened it
 * steps the {@link SimFabric}.
 */
public final class SimFabricProvider implements FabricProvider
{
    private static final long FIRST_SEED = 1;

    @Override
    public String name()
    {
        return "sim";
    }

    @Override
    public String argumentSyntax()
    {
        return "SEED";
    }

    @Override
    public String unavailableReason()
    {
        return null;
    }

    @Override
    public Fabric open(final String argument)
    {
        return new SimFabric(
            argument.isEmpty() ? FIRST_SEED : seed(argument), new SimFabricOptions().holdsCallersMemory(true));
    }

    private static long seed(final String argument)
    {
        try
        {
            return Long.parseLong(argument);
        }
        catch (final NumberFormatException ex)
        {
            throw new RdmaException("no such seed: '" + argument + "'; sim:SEED takes a whole number of 64 bits", ex);
        }
    }
}
