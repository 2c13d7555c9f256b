package io.verbena.rdma.roce.device;

import io.verbena.rdma.spi.FabricProvider;
import io.verbena.rdma.verbs.Fabric;

/** Opens {@code roce} and {@code roce:ADDRESS[,...]}. */
public final class RoceFabricProvider implements FabricProvider
{
    @Override
    public String name()
    {
        return "roce";
    }

    @Override
    public String argumentSyntax()
    {
        return RoceFabricOptions.SYNTAX;
    }

    @Override
    public String unavailableReason()
    {
        return System.getProperty("os.name").equals("Linux") ?
            null : "it uses sockets as Linux has them: run it there";
    }

    @Override
    public Fabric open(final String argument)
    {
        return RoceFabric.open(RoceFabricOptions.parse(argument));
    }
}
