package io.verbena.cli.cluster;

import io.verbena.cli.ExitStatus;

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
    description = "End the cluster of processes on this host, with all its records; also what is left of one that " +
        "crashed.",
    defaultValueProvider = SettingsProvider.class)
public final class DownCommand implements Callable<Integer>
{
    @Spec
    private CommandSpec spec;

    @Option(names = "--data", paramLabel = "DIR", description = "Folder of the cluster. Default: ~/.verbena/cluster.")
    private Path data;

    @Override
    public Integer call()
    {
        final PrintWriter out = spec.commandLine().getOut();
        try (LocalCluster cluster = LocalCluster.open(ClusterFolder.of(data)))
        {
            cluster.down((line) -> UpCommand.say(out, line));
        }
        UpCommand.say(out, "down");
        return ExitStatus.OK;
    }
}
