package io.verbena.cli.admin;

import io.verbena.cli.cluster.ClusterFolder;
import io.verbena.cli.cluster.HealthProbe;
import io.verbena.cli.cluster.ProcessTable;
import io.verbena.cli.cluster.ProcessTable.Entry;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.SettingsProvider;
import io.verbena.cli.table.TableCommand;
import io.verbena.client.KvClient;
import io.verbena.client.KvClientOptions;
import io.verbena.client.KvException;
import io.verbena.server.HealthServer;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

/** {@code verbena status}. */
@Command(
    name = "status",
    description = "Show the processes of the cluster on this host, the figures of each, and the tables.",
    footer = {"", "Exit status 0: all of them are ready; 1: one is dead, or not ready; 69: no cluster is up."},
    defaultValueProvider = SettingsProvider.class)
public final class StatusCommand implements Callable<Integer>
{
    private static final long WATCH_MS = 1_000;
    private static final long CLIENT_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(2);
    private static final String CLEAR = "\u001b[H\u001b[J";

    @Spec
    private CommandSpec spec;

    @Option(names = "--data", paramLabel = "DIR", description = "Folder of the cluster. Default: ~/.verbena/cluster.")
    private Path data;

    @Option(names = "--json", description = "As one JSON object.")
    private boolean json;

    @Option(names = "--watch", description = "Again each second, until Ctrl-C, or until nobody reads it.")
    private boolean watch;

    @Option(names = "--no-tables", description = "Without the tables, whose slots are counted for it.")
    private boolean noTables;

    @Override
    public Integer call() throws InterruptedException
    {
        final ClusterFolder folder = ClusterFolder.of(data);
        final ProcessTable processes = new ProcessTable(folder.processes());
        int status = show(folder, processes);
        while (watch && !spec.commandLine().getOut().checkError())
        {
            Thread.sleep(WATCH_MS);
            status = show(folder, processes);
        }
        return status;
    }

    private int show(final ClusterFolder folder, final ProcessTable processes)
    {
        final List<Entry> entries = processes.entries();
        if (entries.isEmpty())
        {
            throw new CommandFailedException(
                ExitStatus.UNAVAILABLE, "no cluster is up in " + folder.path() + ": 'verbena up'", null);
        }
        final List<Map<String, Object>> shown = new ArrayList<>();
        boolean areReady = true;
        for (final Entry entry : entries)
        {
            final boolean isLive = entry.isLive();
            final Map<String, Object> health = isLive ? HealthProbe.figures(entry) : null;
            areReady &= null != health && Boolean.TRUE.equals(health.get("ready"));
            final Map<String, Object> process = new LinkedHashMap<>();
            process.put("name", entry.name());
            process.put("pid", entry.pid());
            process.put("live", isLive);
            process.put("health", health);
            shown.add(process);
        }
        final Map<String, Object> all = new LinkedHashMap<>();
        all.put("address", folder.address());
        all.put("ready", areReady);
        all.put("processes", shown);
        all.put("tables", noTables ? null : tables(folder));
        final PrintWriter out = spec.commandLine().getOut();
        final boolean redraws = watch && !json && null != System.console() && System.console().isTerminal();
        out.print((redraws ? CLEAR : "") + (json ? HealthServer.json(all) + '\n' : StatusText.of(all)));
        out.flush();
        return areReady ? ExitStatus.OK : ExitStatus.FAILED;
    }

    /** What is in each table; null when it is not known. */
    private static List<Map<String, Object>> tables(final ClusterFolder folder)
    {
        try (KvClient client = KvClient.connect(folder.address(),
            new KvClientOptions().tokenFile(folder.token()).timeoutNs(CLIENT_TIMEOUT_NS)))
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
