package io.verbena.rdma.ibverbs;

import io.verbena.rdma.ibverbs.library.Libibverbs;
import io.verbena.rdma.ibverbs.library.LibraryCheck;
import io.verbena.rdma.spi.FabricProvider;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.rdma.verbs.RdmaException;

import java.util.List;

/** Opens {@code ibverbs} and {@code ibverbs:DEVICE[,...]}. */
public final class IbverbsFabricProvider implements FabricProvider
{
    @Override
    public String name()
    {
        return "ibverbs";
    }

    @Override
    public String argumentSyntax()
    {
        return IbverbsOptions.SYNTAX;
    }

    @Override
    public String unavailableReason()
    {
        final String problem = LibraryCheck.problem();
        if (problem != null)
        {
            return problem;
        }
        try
        {
            return Libibverbs.deviceNames().isEmpty() ? noDevice() : null;
        }
        catch (final RdmaException ex)
        {
            return ex.getMessage();
        }
    }

    @Override
    public Fabric open(final String argument)
    {
        final IbverbsOptions options = IbverbsOptions.parse(argument);
        final String problem = unavailableReason();
        if (problem != null)
        {
            throw new RdmaException(problem);
        }
        final List<String> names = Libibverbs.deviceNames();
        if (!options.device().isEmpty() && !names.contains(options.device()))
        {
            throw new RdmaException(
                "no RDMA device '" + options.device() + "'; there are: " + String.join(", ", names));
        }
        return new IbverbsFabric(options, names);
    }

    private static String noDevice()
    {
        return "no RDMA device: load the driver of the RNIC, or make a Soft-RoCE one ('modprobe rdma_rxe', " +
            "'rdma link add rxe0 type rxe netdev INTERFACE'); ./verbena dev guest has one";
    }
}
