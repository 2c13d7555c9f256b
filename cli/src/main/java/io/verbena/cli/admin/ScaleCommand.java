package io.verbena.cli.admin;

import io.verbena.cli.cluster.ClusterFolder;
import io.verbena.cli.cluster.LocalCluster;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.OptionRange;
import io.verbena.cli.console.SettingsProvider;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;

/** {@code verbena scale}. */
@Command(
    name = "scale",
    description = "Start or end compute nodes of the cluster of processes on this host; also instead of dead ones.",
    defaultValueProvider = SettingsProvider.class)
public final class ScaleCommand implements Callable<Integer>
{
    private static final int MAX_NODES = 30;

    @Spec
    private CommandSpec spec;

    @Option(names = "--data", paramLabel = "DIR", description = "Folder of the cluster. Default: ~/.verbena/cluster.")
    private Path data;

    @Option(names = "--compute-nodes", paramLabel = "N", required = true, description = "Compute nodes, 0 or more.")
    private int computeNodes;

    @Override
    public Integer call()
    {
        OptionRange.check("--compute-nodes", computeNodes, 0, MAX_NODES);
        final PrintWriter out = spec.commandLine().getOut();
        final ClusterFolder folder = ClusterFolder.of(data);
        try (LocalCluster cluster = LocalCluster.openExisting(folder))
        {
            if (cluster.live().isEmpty())
            {
                throw new CommandFailedException(
                    ExitStatus.UNAVAILABLE, "no cluster is up in " + folder.path() + ": 'verbena up'", null);
            }
            cluster.scale(computeNodes, out::println);
        }
        return ExitStatus.OK;
    }
}
