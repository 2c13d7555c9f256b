package io.verbena.cli.table;

import io.verbena.cli.cluster.ClientOptions;
import io.verbena.cli.cluster.MetaCalls;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.SettingsProvider;
import io.verbena.client.TableOptions;
import io.verbena.client.TableStat;
import io.verbena.load.report.JsonWriter;
import io.verbena.load.report.TextTable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;

/** {@code verbena table}. */
@Command(
    name = "table",
    description = "Create, list, measure, check, inspect and drop tables.",
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {
        TableCommand.CreateCommand.class,
        TableCommand.ListCommand.class,
        TableCommand.StatCommand.class,
        TableCommand.DropCommand.class,
        TableCheckCommand.class,
        TableInspectCommand.class})
public final class TableCommand implements Runnable
{
    @Spec
    private CommandSpec spec;

    @Override
    public void run()
    {
        throw new ParameterException(spec.commandLine(), "no command given");
    }

    /** {@code verbena table create}. */
    @Command(name = "create", description = "Create a table.", defaultValueProvider = SettingsProvider.class)
    static final class CreateCommand implements Callable<Integer>
    {
        private static final String AUTO = "auto";

        @Spec
        private CommandSpec spec;

        @Mixin
        private ClientOptions clientOptions;

        @Parameters(paramLabel = "NAME", description = "1 to 128 letters, digits, '_', '-' or '.', " +
            "not beginning with '-' or '.'.")
        private String name;

        @Option(names = "--records", paramLabel = "N", defaultValue = "100000",
            description = "Records to make room for now; beyond that it grows as it fills. Default: ${DEFAULT-VALUE}.")
        private long records;

        @Option(names = "--replicas", paramLabel = "N", defaultValue = "1",
            description = "Copies of each record, each on another memory node, 1 to 3: all of these but one may be " +
            "lost; lost ones are not replaced in this version. They are put in different failure domains while there " +
            "are any. auto: as many as there are failure domains, at most 3. Default: ${DEFAULT-VALUE}.")
        private String replicas;

        @Override
        public Integer call()
        {
            final boolean isAuto = AUTO.equals(replicas);
            if (!isAuto && !replicas.matches("[1-" + TableOptions.MAX_COPIES + "]"))
            {
                throw new CommandFailedException(ExitStatus.USAGE, "--replicas " + replicas + ": must be 1 to " +
                    TableOptions.MAX_COPIES + ", each on another memory node, or " + AUTO, null);
            }
            if (records < 1 || records > TableOptions.MAX_EXPECTED_RECORDS)
            {
                throw new CommandFailedException(ExitStatus.USAGE,
                    "--records " + records + ": must be 1 to " + TableOptions.MAX_EXPECTED_RECORDS, null);
            }
            if (isAuto && clientOptions.isUser())
            {
                throw new CommandFailedException(ExitStatus.USAGE, "--replicas " + AUTO + ": memory nodes are listed " +
                    "with the cluster's token, and not for a user: give a number", null);
            }
            final int copies = isAuto ? CreatedCopies.possible(clientOptions) : Integer.parseInt(replicas);
            return clientOptions.with((client) ->
            {
                client.createTable(name, new TableOptions(records, copies));
                if ((isAuto || copies > 1) && !clientOptions.isUser())
                {
                    final PrintWriter out = spec.commandLine().getOut();
                    out.println(CreatedCopies.describe(clientOptions, name, isAuto));
                    out.flush();
                }
                return ExitStatus.OK;
            });
        }
    }

    /** {@code verbena table list}. */
    @Command(name = "list", description = "Print the names of all tables.",
        footer = {"", "--long takes the cluster's token, and not a user."},
        defaultValueProvider = SettingsProvider.class)
    static final class ListCommand implements Callable<Integer>
    {
        @Spec
        private CommandSpec spec;

        @Mixin
        private ClientOptions clientOptions;

        @Option(names = "--json", description = "As one JSON object, with the names in 'tables', and with --long " +
            "the others in 'places'.")
        private boolean json;

        @Option(names = {"-l", "--long"}, description = "Also how many copies each table has, and on which memory " +
            "nodes.")
        private boolean isLong;

        @Override
        public Integer call()
        {
            return clientOptions.with((client) ->
            {
                final List<String> tables = client.tables();
                final Map<String, TablePlaces> places = isLong ? places(clientOptions, tables) : Map.of();
                final PrintWriter out = spec.commandLine().getOut();
                out.print(json ? json(tables, places) : isLong ? text(places) :
                    tables.stream().map((name) -> name + System.lineSeparator()).collect(Collectors.joining()));
                out.flush();
                return ExitStatus.OK;
            });
        }

        private String json(final List<String> tables, final Map<String, TablePlaces> places)
        {
            final Map<String, Object> figures = new LinkedHashMap<>();
            figures.put("tables", tables);
            if (isLong)
            {
                figures.put("places", places.entrySet().stream().map((place) ->
                {
                    final Map<String, Object> figuresOfTable = new LinkedHashMap<>();
                    figuresOfTable.put("table", place.getKey());
                    figuresOfTable.putAll(place.getValue().figures());
                    return figuresOfTable;
                }).toList());
            }
            return JsonWriter.write(figures);
        }

        private static String text(final Map<String, TablePlaces> places)
        {
            final TextTable rows = new TextTable().row("TABLE", "COPIES", "MEMORY NODES");
            places.forEach((name, place) -> rows.row(name, Integer.toString(place.copies()), place.text()));
            return rows.toString();
        }
    }

    private static Map<String, TablePlaces> places(final ClientOptions options, final List<String> tables)
    {
        try (MetaCalls meta = options.openMeta())
        {
            return TablePlaces.of(meta, tables, options.timeoutNs());
        }
    }

    /** {@code verbena table stat}. */
    @Command(name = "stat", description = "Count what is in a table, by its slots, and print where it is.",
        footer = {"", "As a --user: without how many copies it has, and on which memory nodes."},
        defaultValueProvider = SettingsProvider.class)
    public static final class StatCommand implements Callable<Integer>
    {
        @Spec
        private CommandSpec spec;

        @Mixin
        private ClientOptions clientOptions;

        @Option(names = "--json", description = "As one JSON object.")
        private boolean json;

        @Parameters(paramLabel = "NAME", arity = "0..1", defaultValue = "default",
            description = "Of the table. Default: ${DEFAULT-VALUE}.")
        private String name;

        @Override
        public Integer call()
        {
            return clientOptions.with((client) ->
            {
                final TableStat stat = client.table(name).stat();
                final TablePlaces places = clientOptions.isUser() ? null :
                    places(clientOptions, List.of(name)).get(name);
                final Map<String, Object> figures = figures(name, stat);
                if (null != places)
                {
                    figures.putAll(places.figures());
                }
                final PrintWriter out = spec.commandLine().getOut();
                out.print(json ? JsonWriter.write(figures) : String.format(Locale.ROOT,
                    "records          %,d%nfill             %.3f of %,d slots%n" +
                    "groups           %,d in %,d subtables%ndepth            %d%n" +
                    "bytes            %,d of records, %,d of the index%n" +
                    "undecided        %,d inserts under way, or tombstones%n" +
                    "growth           %,d splits and merges under way: %,d slots frozen, %,d not initialised; " +
                    "%,d pairs helped%n" +
                    "false matches    %,d of fingerprints%n",
                    stat.records(), stat.fill(), stat.slots(), stat.groups(), stat.subtables(), stat.depth(),
                    stat.blockBytes(), stat.indexBytes(), stat.undecided(), stat.splitsUnderWay(), stat.frozen(),
                    stat.uninitialised(), stat.pairsHelped(), stat.falseMatches()) + (null == places ? "" :
                    String.format("copies           %d, on memory nodes %s%n", places.copies(), places.text())));
                out.flush();
                return ExitStatus.OK;
            });
        }

        public static Map<String, Object> figures(final String name, final TableStat stat)
        {
            final Map<String, Object> figures = new LinkedHashMap<>();
            figures.put("table", name);
            figures.put("records", stat.records());
            figures.put("fill", stat.fill());
            figures.put("slots", stat.slots());
            figures.put("groups", stat.groups());
            figures.put("subtables", stat.subtables());
            figures.put("record_bytes", stat.blockBytes());
            figures.put("index_bytes", stat.indexBytes());
            figures.put("undecided", stat.undecided());
            figures.put("depth", stat.depth());
            figures.put("splits_under_way", stat.splitsUnderWay());
            figures.put("frozen_slots", stat.frozen());
            figures.put("uninitialised_slots", stat.uninitialised());
            figures.put("pairs_helped", stat.pairsHelped());
            figures.put("false_matches", stat.falseMatches());
            return figures;
        }
    }

    /** {@code verbena table drop}. */
    @Command(name = "drop", description = "Drop a table with all its records.",
        defaultValueProvider = SettingsProvider.class)
    static final class DropCommand implements Callable<Integer>
    {
        @Mixin
        private ClientOptions clientOptions;

        @Parameters(paramLabel = "NAME", description = "Of the table.")
        private String name;

        @Override
        public Integer call()
        {
            return clientOptions.with((client) ->
            {
                client.dropTable(name);
                return ExitStatus.OK;
            });
        }
    }
}
