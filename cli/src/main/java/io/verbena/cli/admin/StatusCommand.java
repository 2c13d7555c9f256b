package io.verbena.cli.admin;

import io.verbena.cli.cluster.ClientOptions;
import io.verbena.cli.cluster.ClusterFolder;
import io.verbena.cli.cluster.ProcessTable;
import io.verbena.cli.cluster.ProcessTable.Entry;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.SettingsProvider;
import io.verbena.cli.table.TableCommand;
import io.verbena.client.KvClient;
import io.verbena.client.KvClientOptions;
import io.verbena.client.KvException;
import io.verbena.protocol.view.FillProgress;
import io.verbena.protocol.view.GroupHealth;
import io.verbena.protocol.view.View;
import io.verbena.server.DashboardFigures;
import io.verbena.server.HealthServer;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

/** {@code verbena status}. */
@Command(
    name = "status",
    description = "Show the processes of the cluster on this host, the figures of each, and the tables; of the " +
        "cluster at --cluster, its nodes, whatever their hosts, and the tables.",
    footer = {"", "Exit status 0: all of them are ready, or the cluster elsewhere has nodes of both roles; 1: one is " +
        "dead, or not ready; 69: no cluster is up."},
    defaultValueProvider = SettingsProvider.class)
public final class StatusCommand implements Callable<Integer>
{
    private static final long WATCH_MS = 1_000;
    private static final long CLIENT_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(2);
    private static final String CLEAR = "\u001b[H\u001b[J";

    @Spec
    private CommandSpec spec;

    @Mixin
    private ClientOptions clientOptions;

    @Option(names = "--json", description = "As one JSON object.")
    private boolean json;

    @Option(names = "--all", description = "Also limits of which less than half is in use, figures that are zero, " +
        "and those that only developers need.")
    private boolean isWhole;

    @Option(names = "--watch", description = "Again each second, until Ctrl-C, or until nobody reads it.")
    private boolean watch;

    @Option(names = "--no-tables", description = "Without the tables, whose slots are counted for it.")
    private boolean noTables;

    @Override
    public Integer call() throws InterruptedException
    {
        int status = show();
        while (watch && !spec.commandLine().getOut().checkError())
        {
            Thread.sleep(WATCH_MS);
            status = show();
        }
        return status;
    }

    private int show()
    {
        if (clientOptions.namesCluster())
        {
            return showNodes();
        }
        final ClusterFolder folder = clientOptions.folder();
        return show(folder, new ProcessTable(folder.processes()));
    }

    /** Of a cluster elsewhere: health endpoints answer on their own hosts only. */
    private int showNodes()
    {
        final List<View> views = new ArrayList<>();
        final List<FillProgress> fills = new ArrayList<>();
        final Map<Integer, String> domains = new HashMap<>();
        final List<Map<String, Object>> nodes = RemoteStatus.nodes(clientOptions, views, fills, domains);
        final boolean isReady = RemoteStatus.isReady(nodes);
        final Map<String, Object> all = new LinkedHashMap<>();
        all.put("address", clientOptions.address());
        all.put("ready", isReady);
        all.put("nodes", nodes);
        all.put("groups", DashboardFigures.groups(views, domains, fills));
        all.put("errors", GroupHealth.problems(views, fills));
        all.put("tables", noTables ? null : tables());
        print(all);
        return isReady ? ExitStatus.OK : ExitStatus.FAILED;
    }

    private int show(final ClusterFolder folder, final ProcessTable processes)
    {
        final List<Entry> entries = processes.entries();
        if (entries.isEmpty())
        {
            throw new CommandFailedException(
                ExitStatus.UNAVAILABLE, "no cluster is up in " + folder.path() + ": 'verbena up'", null);
        }
        final List<Map<String, Object>> shown = ProcessFigures.of(entries);
        final boolean areReady = shown.stream().allMatch(ProcessFigures::isReady);
        final Map<String, Object> all = new LinkedHashMap<>();
        all.put("address", folder.address());
        all.put("ready", areReady);
        all.put("processes", shown);
        all.put("tables", noTables ? null : tables());
        print(all);
        return areReady ? ExitStatus.OK : ExitStatus.FAILED;
    }

    private void print(final Map<String, Object> all)
    {
        final PrintWriter out = spec.commandLine().getOut();
        final boolean redraws = watch && !json && null != System.console() && System.console().isTerminal();
        out.print((redraws ? CLEAR : "") + (json ? HealthServer.json(all) + '\n' : StatusText.of(all, isWhole)));
        out.flush();
    }

    /** What is in each table; null when it is not known. */
    private List<Map<String, Object>> tables()
    {
        try (KvClient client = clientOptions.connect(new KvClientOptions(), CLIENT_TIMEOUT_NS))
        {
            final List<Map<String, Object>> tables = new ArrayList<>();
            for (final String name : client.tables())
            {
                tables.add(TableCommand.StatCommand.figures(name, client.table(name).stat()));
            }
            return tables;
        }
        catch (final KvException ex)
        {
            return null; // what the processes say of themselves shows why
        }
    }
}
