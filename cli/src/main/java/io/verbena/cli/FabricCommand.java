package io.verbena.cli;

import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.spi.FabricProvider;
import io.verbena.rdma.verbs.RdmaException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

import java.util.function.Supplier;
import java.util.stream.Collectors;

/** {@code verbena fabric}: what a verbs provider is, can and costs. */
@Command(
    name = "fabric",
    description = "Look at verbs devices, check them against the contract, measure them.",
    subcommands = {
        FabricListCommand.class,
        FabricInfoCommand.class,
        FabricCheckCommand.class,
        FabricPerfCommand.class},
    footer = {"",
        "A device is named PROVIDER or PROVIDER:ARGUMENT, such as soft, soft:DIRECTORY, sim:SEED, ibverbs:DEVICE.",
        "soft:DIRECTORY,huge-pages asks for huge pages."})
final class FabricCommand implements Runnable
{
    @Spec
    private CommandSpec spec;

    @Override
    public void run()
    {
        throw new ParameterException(spec.commandLine(), "say what to do: list, info, check or perf");
    }

    /** Does what needs a device; what goes wrong becomes one line and a status. */
    static <T> T on(final String device, final Supplier<T> work)
    {
        final int colon = device.indexOf(':');
        final String name = colon < 0 ? device : device.substring(0, colon);
        final FabricProvider provider = Fabrics.providers().stream()
            .filter(known -> known.name().equals(name)).findFirst()
            .orElseThrow(() -> new CommandFailedException(ExitStatus.USAGE, "no such device: '" + device +
                "'; there are: " + Fabrics.providers().stream().map(FabricCommand::syntax)
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
