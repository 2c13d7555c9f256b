package io.verbena.cli.admin;

import io.verbena.cli.cluster.ClientOptions;
import io.verbena.cli.cluster.ClusterFolder;
import io.verbena.cli.cluster.ProcessTable;
import io.verbena.cli.cluster.ProcessTable.Entry;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.OptionRange;
import io.verbena.cli.console.SettingsProvider;
import io.verbena.load.report.TextTable;
import io.verbena.load.report.Units;
import io.verbena.server.HealthServer;

import org.agrona.concurrent.SystemNanoClock;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.io.PrintWriter;
import java.time.LocalTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

/** {@code verbena top}. */
@Command(
    name = "top",
    description = "Show what the compute nodes on this host do now: operations a second and their times, by kind and " +
        "by node. On a terminal again and again, until Ctrl-C; elsewhere once.",
    footer = {"", "Times are from when a node took an operation to its answer, those of nodes without scans; " +
        "queued: the time before; busy: the share of its time that a node's thread worked. Exit status 0; 69: no " +
        "cluster is up."},
    defaultValueProvider = SettingsProvider.class)
public final class TopCommand implements Callable<Integer>
{
    private static final int MOST_SECONDS = 3_600;
    private static final int PERCENT = 100;
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT);
    private static final double BYTES_PER_MIB = 1 << 20;
    private static final String CLEAR = "\u001b[H\u001b[J";
    private static final String NONE = "-";

    @Spec
    private CommandSpec spec;

    @Mixin
    private ClientOptions clientOptions;

    @Option(names = "--interval-seconds", paramLabel = "N", defaultValue = "1",
        description = "Over how long rates are taken, 1 to 3600. Default: ${DEFAULT-VALUE}.")
    private int intervalSeconds = 1;

    @Option(names = "--count", paramLabel = "N",
        description = "How often to show it, 1 or more. Default: once, and on a terminal without end.")
    private Integer count;

    @Option(names = "--json", description = "As one JSON object a line.")
    private boolean json;

    @Override
    public Integer call() throws InterruptedException
    {
        OptionRange.check("--interval-seconds", intervalSeconds, 1, MOST_SECONDS);
        if (null != count)
        {
            OptionRange.check("--count", count, 1, Integer.MAX_VALUE);
        }
        if (clientOptions.namesCluster())
        {
            throw new CommandFailedException(ExitStatus.USAGE, "--cluster: top asks the processes that 'up' started " +
                "on this host; run it there, or open the dashboard of the meta server", null);
        }
        final boolean isTerminal = null != System.console() && System.console().isTerminal();
        final int times = null != count ? count : isTerminal && !json ? Integer.MAX_VALUE : 1;
        final PrintWriter out = spec.commandLine().getOut();
        List<Map<String, Object>> before = sample();
        long beforeNs = SystemNanoClock.INSTANCE.nanoTime();
        for (int i = 0; i < times && !out.checkError(); i++)
        {
            TimeUnit.SECONDS.sleep(intervalSeconds);
            final List<Map<String, Object>> now = sample();
            final long nowNs = SystemNanoClock.INSTANCE.nanoTime();
            final Map<String, Object> figures = TopFigures.between(before, now, nowNs - beforeNs);
            // Which second it is of shows whether it still refreshes.
            out.print((isTerminal && !json && times > 1 ? CLEAR + LocalTime.now().format(TIME) + "  " : "") +
                (json ? HealthServer.json(figures) + '\n' : text(figures)));
            out.flush();
            before = now;
            beforeNs = nowNs;
        }
        return ExitStatus.OK;
    }

    private List<Map<String, Object>> sample()
    {
        final ClusterFolder folder = clientOptions.folder();
        final List<Entry> entries = new ProcessTable(folder.processes()).entries();
        if (entries.isEmpty())
        {
            throw new CommandFailedException(
                ExitStatus.UNAVAILABLE, "no cluster is up in " + folder.path() + ": 'verbena up'", null);
        }
        return ProcessFigures.of(entries);
    }

    /** @return lines of text: a summary, faults, kinds, nodes. */
    static String text(final Map<String, Object> figures)
    {
        final StringBuilder text = new StringBuilder();
        text.append(rate(figures.get("operations_per_s"))).append(" operations/s, ")
            .append(rate(figures.get("failed_per_s"))).append(" failed/s\n");
        list(figures.get("errors")).forEach((line) -> text.append("error: ").append(line).append('\n'));
        list(figures.get("warnings")).forEach((line) -> text.append("warning: ").append(line).append('\n'));
        return text.append('\n').append(kinds(list(figures.get("kinds")))).append('\n')
            .append(nodes(list(figures.get("nodes")), 0 < (Double)figures.get("failed_per_s"))).toString();
    }

    private static String kinds(final List<?> kinds)
    {
        if (kinds.isEmpty())
        {
            return "  no operation so far\n";
        }
        final TextTable table = new TextTable().row("KIND", "PER s", "FAILED PER s", "MEDIAN", "P99");
        kinds.stream().map(Map.class::cast).forEach((kind) -> table.row(
            kind.get("kind").toString().replace('_', ' '), rate(kind.get("operations_per_s")),
            rate(kind.get("failed_per_s")), time(kind.get("median_us")), time(kind.get("p99_us"))));
        return table.toString();
    }

    /** Fits into 80 columns, unless operations fail. */
    private static String nodes(final List<?> nodes, final boolean hasFailures)
    {
        final TextTable table = new TextTable();
        row(table, hasFailures, "COMPUTE NODE", "PER s", "FAILED PER s", "BUSY", "QUEUED P99", "P99", "CLIENTS",
            "HELD MiB");
        nodes.stream().map(Map.class::cast).forEach((node) -> row(table, hasFailures,
            node.get("name").toString(), rate(node.get("operations_per_s")), rate(node.get("failed_per_s")),
            node.get("busy_share") instanceof final Double share ?
                String.format(Locale.ROOT, "%.0f %%", PERCENT * share) : NONE,
            time(node.get("queued_p99_us")), time(node.get("p99_us")),
            node.get("clients") instanceof final Long clients ? Units.count(clients) : NONE,
            node.get("held_bytes") instanceof final Long held ?
                String.format(Locale.ROOT, "%,.1f", held / BYTES_PER_MIB) : NONE));
        return table.toString();
    }

    private static void row(
        final TextTable table, final boolean hasFailures, final String name, final String perSecond,
        final String failed, final String... rest)
    {
        final List<String> cells = new ArrayList<>(List.of(name, perSecond));
        if (hasFailures)
        {
            cells.add(failed);
        }
        cells.addAll(List.of(rest));
        table.row(cells.toArray(String[]::new));
    }

    private static String rate(final Object perSecond)
    {
        final double rate = (Double)perSecond;
        return String.format(Locale.ROOT, rate == 0 || rate >= 10 ? "%,.0f" : "%.2f", rate);
    }

    private static String time(final Object us)
    {
        return null == us ? NONE : SlowlogText.time((Double)us);
    }

    private static List<?> list(final Object value)
    {
        return (List<?>)value;
    }
}
