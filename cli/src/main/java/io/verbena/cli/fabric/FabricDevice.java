package io.verbena.cli.fabric;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.spi.FabricProvider;
import io.verbena.rdma.verbs.RdmaException;

import java.util.function.Supplier;
import java.util.stream.Collectors;

/** The device that a command names. Stateless. */
public final class FabricDevice
{
    private FabricDevice()
    {
    }

    /**
     * Does what needs a device.
     *
     * @param device as the user names it.
     * @param work   to do.
     * @param <T>    of its result.
     * @return its result.
     * @throws CommandFailedException with one line and a status: there is no such device, or it failed.
     */
    public static <T> T on(final String device, final Supplier<T> work)
    {
        final int colon = device.indexOf(':');
        final String name = colon < 0 ? device : device.substring(0, colon);
        final FabricProvider provider = Fabrics.providers().stream()
            .filter(known -> known.name().equals(name) && known.takes(device.substring(colon + 1))).findFirst()
            .orElseThrow(() -> new CommandFailedException(ExitStatus.USAGE, "no such device: '" + device +
                "'; there are: " + Fabrics.providers().stream().map(FabricDevice::syntax)
                .collect(Collectors.joining(", ")), null));
        final String reason = provider.unavailableReason();
        if (reason != null)
        {
            throw new CommandFailedException(ExitStatus.UNAVAILABLE, device + ": " + reason, null);
        }
        try
        {
            return work.get();
        }
        catch (final RdmaException ex)
        {
            throw new CommandFailedException(ExitStatus.UNAVAILABLE, device + ": " + ex.getMessage(), ex);
        }
    }

    static String syntax(final FabricProvider provider)
    {
        return provider.name() + "[:" + provider.argumentSyntax() + "]";
    }
}
