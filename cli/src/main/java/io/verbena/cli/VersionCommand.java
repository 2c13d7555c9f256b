package io.verbena.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/**
 * {@code verbena version}: the same lines as {@code verbena --version}.
 */
@Command(name = "version", description = "Print the version and exit.")
final class VersionCommand implements Runnable
{
    @Spec
    private CommandSpec spec;

    @Override
    public void run()
    {
        spec.root().commandLine().printVersionHelp(spec.commandLine().getOut());
    }
}
