package io.verbena.cli.admin;

import io.verbena.cli.cluster.ClusterFolder;
import io.verbena.cli.cluster.LocalCluster;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.SettingsProvider;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;

/** {@code verbena down}. */
@Command(
    name = "down",
    description = "End the cluster of processes on this host, also what is left of one that crashed. Its records are " +
        "kept in a checkpoint, from which the next 'verbena up' restores them.",
    defaultValueProvider = SettingsProvider.class)
public final class DownCommand implements Callable<Integer>
{
    @Spec
    private CommandSpec spec;

    @Option(names = "--data", paramLabel = "DIR", description = "Folder of the cluster. Default: ~/.verbena/cluster.")
    private Path data;

    @Option(names = "--discard", description = "Without a checkpoint: all records are gone.")
    private boolean discard;

    @Override
    public Integer call()
    {
        final PrintWriter out = spec.commandLine().getOut();
        try (LocalCluster cluster = LocalCluster.openExisting(ClusterFolder.of(data)))
        {
            if (discard)
            {
                cluster.down(out::println);
            }
            else if (!cluster.downWithCheckpoint(out::println))
            {
                throw new CommandFailedException(ExitStatus.FAILED, "processes have ended, but some records are in " +
                    "shared memory only: 'verbena down' tries again, 'verbena down --discard' removes them", null);
            }
        }
        out.println("down");
        return ExitStatus.OK;
    }
}
