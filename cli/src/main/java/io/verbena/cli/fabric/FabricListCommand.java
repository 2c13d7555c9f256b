package io.verbena.cli.fabric;

import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.spi.FabricProvider;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.rdma.verbs.RdmaException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

import java.io.PrintWriter;

/** {@code verbena fabric list}: the providers, whether they can be used here, and their devices. */
@Command(
    name = "list",
    description = "List the verbs providers, whether they can be used here, and the devices present.",
    footer = {"", "Exit status 0."})
final class FabricListCommand implements Runnable
{
    private static final String ROW = "%-24s %-9s %s%n";

    @Spec
    private CommandSpec spec;

    @Override
    public void run()
    {
        final PrintWriter out = spec.commandLine().getOut();
        out.printf(ROW, "NAME", "USABLE", "DEVICES");
        for (final FabricProvider provider : Fabrics.providers())
        {
            final String reason = provider.unavailableReason();
            out.printf(ROW, FabricDevice.syntax(provider), reason == null ? "yes" : "no",
                reason == null ? devices(provider) : reason);
        }
        out.flush();
    }

    private static String devices(final FabricProvider provider)
    {
        try (Fabric fabric = provider.open(""))
        {
            final String names = String.join(", ", fabric.deviceNames());
            return names.isEmpty() ? "none open; each is made when it is opened" : names;
        }
        catch (final RdmaException ex)
        {
            return ex.getMessage();
        }
    }
}
