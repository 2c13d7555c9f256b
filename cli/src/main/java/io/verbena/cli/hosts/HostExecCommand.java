package io.verbena.cli.hosts;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;

import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

/** {@code verbena dev exec}. */
@Command(
    name = "exec",
    description = "Run a command in a host of ./verbena dev hosts; from any terminal, or in another host.",
    footer = {"", "Exit status: that of the command.", "", "Example: verbena dev exec h2 -- ping -c 3 h1"})
public final class HostExecCommand implements Callable<Integer>
{
    @Parameters(index = "0", paramLabel = "HOST", description = "Host: h1, h2, ...")
    private String host;

    @Parameters(index = "1..*", paramLabel = "-- COMMAND", arity = "1..*",
        description = "Command with its arguments.")
    private List<String> command;

    @Override
    public Integer call() throws InterruptedException
    {
        final List<String> words = new ArrayList<>(List.of(HostsFolder.find().script(host).toString()));
        words.addAll(command);
        try
        {
            return new ProcessBuilder(words).inheritIO().start().waitFor();
        }
        catch (final IOException ex)
        {
            throw new CommandFailedException(
                ExitStatus.UNAVAILABLE, "no command can be run in " + host + ": " + ex.getMessage(), ex);
        }
    }
}
