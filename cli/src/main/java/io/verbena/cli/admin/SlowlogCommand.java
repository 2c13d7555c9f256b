package io.verbena.cli.admin;

import io.verbena.cli.cluster.ClientOptions;
import io.verbena.cli.cluster.ClusterFolder;
import io.verbena.cli.cluster.ProcessTable;
import io.verbena.cli.cluster.ProcessTable.Entry;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.OptionRange;
import io.verbena.cli.console.SettingsProvider;
import io.verbena.server.HealthServer;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.io.PrintWriter;
import java.time.ZoneId;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

/** {@code verbena slowlog}. */
@Command(
    name = "slowlog",
    description = "Show the last operations on records that were slow at the compute nodes on this host, and what " +
        "each of them did when: its batches of requests to memory nodes, and what it waited.",
    footer = {"", "Slow is what took 10 ms from its arrival at the node to its answer: 'compute-node " +
        "--slowlog-threshold-us'. A node keeps the last 128. Exit status 0, also when nothing was slow; 69: no " +
        "compute node answers."},
    defaultValueProvider = SettingsProvider.class)
public final class SlowlogCommand implements Callable<Integer>
{
    private static final int MOST = 1_000_000;
    private static final long FOLLOW_MS = 500;

    @Spec
    private CommandSpec spec;

    @Mixin
    private ClientOptions clientOptions;

    @Option(names = "--sampled",
        description = "Show the operations that were sampled, slow or not, instead: 'compute-node --slowlog-sample'.")
    private boolean sampled;

    @Option(names = "--limit", paramLabel = "N", defaultValue = "10",
        description = "Show the last N, 1 to 1000000. Default: ${DEFAULT-VALUE}.")
    private int limit = 10;

    @Option(names = "--follow", description = "Go on with what becomes slow from now on, until Ctrl-C.")
    private boolean follow;

    @Option(names = "--json", description = "As one JSON object a line.")
    private boolean json;

    /** By process, how far its operations were shown. */
    private final Map<Object, Long> shown = new HashMap<>();

    @Override
    public Integer call() throws InterruptedException
    {
        OptionRange.check("--limit", limit, 1, MOST);
        if (clientOptions.namesCluster())
        {
            throw new CommandFailedException(ExitStatus.USAGE, "--cluster: slowlog asks the processes that 'up' " +
                "started on this host; run it there, or ask the health port of a compute node for /slowlog", null);
        }
        final PrintWriter out = spec.commandLine().getOut();
        final List<Map<String, Object>> operations = gather();
        if (operations.isEmpty() && !json && !follow)
        {
            out.println(sampled ?
                "No operation was sampled: 'compute-node --slowlog-sample N' samples one in N, usually 10,000." :
                "No operation was slow: 'compute-node --slowlog-threshold-us US' says what is, usually 10 ms.");
        }
        print(operations.subList(Math.max(0, operations.size() - limit), operations.size()), out);
        while (follow && !out.checkError())
        {
            TimeUnit.MILLISECONDS.sleep(FOLLOW_MS);
            print(gather(), out);
        }
        return ExitStatus.OK;
    }

    private void print(final List<Map<String, Object>> operations, final PrintWriter out)
    {
        for (final Map<String, Object> operation : operations)
        {
            out.print(json ? HealthServer.json(operation) + '\n' : SlowlogText.of(operation, ZoneId.systemDefault()));
        }
        out.flush();
    }

    /** @return operations that were not gathered before, the latest last. */
    private List<Map<String, Object>> gather()
    {
        final ClusterFolder folder = clientOptions.folder();
        final List<Entry> entries = new ProcessTable(folder.processes()).entries();
        final List<Map<String, Object>> all = SlowOperations.of(entries, sampled ? "sampled" : "slow");
        if (null == all && !follow)
        {
            throw new CommandFailedException(ExitStatus.UNAVAILABLE, entries.isEmpty() ?
                "no cluster is up in " + folder.path() + ": 'verbena up'" :
                "no compute node in " + folder.path() + " answers: 'verbena status' says more", null);
        }
        return null == all ? List.of() : all.stream().filter(this::isNew).toList();
    }

    private boolean isNew(final Map<String, Object> operation)
    {
        final long number = SlowOperations.number("number").applyAsLong(operation);
        final long last = shown.getOrDefault(operation.get("pid"), 0L);
        shown.put(operation.get("pid"), Math.max(last, number));
        return number > last;
    }
}
