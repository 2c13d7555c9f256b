package io.verbena.cli.autoscale;

import io.verbena.cli.cluster.ClusterFolder;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.OptionRange;
import io.verbena.cli.console.SettingsProvider;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

/** {@code verbena autoscale explain}. */
@Command(
    name = "explain",
    description = "Print the last decisions of 'verbena autoscale' with their reasons, oldest first.",
    defaultValueProvider = SettingsProvider.class)
final class ExplainCommand implements Callable<Integer>
{
    private static final int MOST = 1_000_000;

    @Spec
    private CommandSpec spec;

    @Option(names = "--data", paramLabel = "DIR", description = "Folder of the cluster. Default: ~/.verbena/cluster.")
    private Path data;

    @Option(names = "--last", paramLabel = "N", defaultValue = "20",
        description = "So many decisions. Default: ${DEFAULT-VALUE}.")
    private int last;

    @Option(names = "--all", description = "Also decisions that changed nothing.")
    private boolean all;

    @Option(names = "--json", description = "As JSON objects, one a line.")
    private boolean json;

    @Override
    public Integer call()
    {
        OptionRange.check("--last", last, 1, MOST);
        final List<Map<String, Object>> records = DecisionLog.read(ClusterFolder.of(data));
        final List<Map<String, Object>> wanted =
            records.stream().filter((record) -> all || DecisionRecord.isEvent(record)).toList();
        wanted.subList(Math.max(0, wanted.size() - last), wanted.size()).forEach((record) ->
            DecisionRecord.print(record, spec.commandLine().getOut(), json, true));
        if (wanted.isEmpty() && !records.isEmpty() && !json)
        {
            spec.commandLine().getOut().println("nothing was changed in " + records.size() +
                " decisions; the last: " + DecisionRecord.line(records.getLast()));
        }
        return ExitStatus.OK;
    }
}
