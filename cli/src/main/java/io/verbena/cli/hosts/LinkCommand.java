package io.verbena.cli.hosts;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;

import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

import java.util.List;
import java.util.concurrent.Callable;

/** Cuts or restores links of hosts, and returns when that is so. */
public abstract class LinkCommand implements Callable<Integer>
{
    private static final int POLLS = 250;
    private static final long POLL_MS = 20;

    private final boolean isCut;

    @Parameters(paramLabel = "HOST", arity = "1..*", description = "Host: h1, h2, ...")
    private List<String> hosts;

    private LinkCommand(final boolean isCut)
    {
        this.isCut = isCut;
    }

    @Override
    public Integer call() throws InterruptedException
    {
        final HostsFolder folder = HostsFolder.find();
        hosts.forEach(folder::script);
        hosts.forEach((host) -> folder.requestCut(host, isCut));
        for (int i = 0; i < POLLS; i++)
        {
            if (hosts.stream().allMatch((host) -> folder.links().contains(host) == isCut))
            {
                return ExitStatus.OK;
            }
            Thread.sleep(POLL_MS);
        }
        throw new CommandFailedException(ExitStatus.UNAVAILABLE, "the switch of the hosts in " + folder.path() +
            " does not answer within " + POLLS * POLL_MS + " ms: end './verbena dev hosts' and start it again", null);
    }

    /** {@code verbena dev cut}. */
    @Command(
        name = "cut",
        description = "Cut the links of hosts of ./verbena dev hosts: frames from and to them are dropped, and " +
            "nothing says so.",
        footer = {"", "Example: verbena dev cut h2"})
    public static final class CutCommand extends LinkCommand
    {
        CutCommand()
        {
            super(true);
        }
    }

    /** {@code verbena dev restore}. */
    @Command(
        name = "restore",
        description = "Restore the links of hosts that ./verbena dev cut has cut.",
        footer = {"", "Example: verbena dev restore h2"})
    public static final class RestoreCommand extends LinkCommand
    {
        RestoreCommand()
        {
            super(false);
        }
    }
}
