package io.verbena.rdma.roce.host;

import io.verbena.rdma.roce.device.RoceFabricProvider;
import io.verbena.rdma.soft.SoftFabricProvider;
import io.verbena.rdma.spi.FabricProvider;
import io.verbena.rdma.spi.ProcessRole;
import io.verbena.rdma.verbs.Fabric;

/** Opens {@code soft:DIRECTORY,network=ADDRESS[,...]}; {@code soft} without a network is another provider's. */
public final class HostFabricProvider implements FabricProvider
{
    @Override
    public String name()
    {
        return "soft";
    }

    @Override
    public String argumentSyntax()
    {
        return HostFabricOptions.SYNTAX;
    }

    @Override
    public boolean takes(final String argument)
    {
        return HostFabricOptions.hasNetwork(argument);
    }

    @Override
    public String unavailableReason()
    {
        final String noMemory = new SoftFabricProvider().unavailableReason();
        return noMemory == null ? new RoceFabricProvider().unavailableReason() : noMemory;
    }

    @Override
    public Fabric open(final String argument)
    {
        return open(argument, ProcessRole.APPLICATION);
    }

    @Override
    public Fabric open(final String argument, final ProcessRole role)
    {
        return HostFabric.open(HostFabricOptions.parse(argument), role);
    }
}
