package io.verbena.cli.autoscale;

import io.verbena.cli.cluster.ClusterFolder;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.OptionRange;
import io.verbena.cli.console.SettingsProvider;

import org.agrona.concurrent.SystemNanoClock;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

/** {@code verbena autoscale}. */
@Command(
    name = "autoscale",
    description = "Start and end compute nodes as the demand changes, until Ctrl-C: processes of the cluster on this " +
        "host, or nodes elsewhere. Each decision is recorded with its reason: 'verbena autoscale explain'.",
    subcommands = ExplainCommand.class,
    defaultValueProvider = SettingsProvider.class)
public final class AutoscaleCommand implements Callable<Integer>
{
    @Spec
    private CommandSpec spec;

    @Mixin
    private AutoscaleOptions options;

    @Option(names = "--data", paramLabel = "DIR", description = "Folder of the cluster. Default: ~/.verbena/cluster.")
    private Path data;

    @Option(names = "--all", description = "Print each decision, also those that change nothing.")
    private boolean all;

    @Option(names = "--json", description = "Print decisions as JSON objects, one a line.")
    private boolean json;

    @Option(names = "--rounds", paramLabel = "N", defaultValue = "0",
        description = "End after so many decisions; 0: never. Default: ${DEFAULT-VALUE}.")
    private int rounds;

    @Override
    public Integer call() throws InterruptedException
    {
        options.limits();
        OptionRange.check("--rounds", rounds, 0, Integer.MAX_VALUE);
        final ClusterFolder folder = ClusterFolder.of(data);
        final PrintWriter out = spec.commandLine().getOut();
        try (Fleet fleet = options.launcher().open(folder, null != data, options.launchTimeoutS());
            DecisionLog log = DecisionLog.open(folder, DecisionLog.MOST_BYTES))
        {
            final Autoscaler autoscaler = options.autoscaler(fleet);
            boolean isLogFailing = false;
            for (int round = 1; !out.checkError(); round++)
            {
                final long beganNs = SystemNanoClock.INSTANCE.nanoTime();
                final Map<String, Object> record = autoscaler.step().json();
                final String failure = log.add(record);
                if (null != failure && !isLogFailing)
                {
                    spec.commandLine().getErr().println("verbena: decisions are not recorded: " + failure);
                }
                isLogFailing = null != failure;
                DecisionRecord.print(record, out, json, all);
                if (round == rounds)
                {
                    break;
                }
                Thread.sleep(Math.max(0, options.periodMs() -
                    TimeUnit.NANOSECONDS.toMillis(SystemNanoClock.INSTANCE.nanoTime() - beganNs)));
            }
        }
        return ExitStatus.OK;
    }
}
