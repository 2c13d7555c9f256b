package io.verbena.cli.bench;

import io.verbena.cli.cluster.HealthProbe;
import io.verbena.cli.cluster.LocalCluster;
import io.verbena.cli.cluster.ProcessTable.Entry;
import io.verbena.cli.cluster.TemporaryCluster;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.OptionRange;
import io.verbena.cli.console.OutputFile;
import io.verbena.client.KvClient;
import io.verbena.client.KvClientOptions;
import io.verbena.client.KvException;
import io.verbena.client.KvTable;
import io.verbena.client.TableOptions;
import io.verbena.load.report.JsonWriter;
import io.verbena.load.report.Medians;
import io.verbena.protocol.bootstrap.BootstrapClient;
import io.verbena.protocol.bootstrap.ClusterAddress;
import io.verbena.protocol.bootstrap.ClusterToken;

import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

/** {@code verbena bench meta}: a group of three meta servers against a single one. */
@Command(
    name = "meta",
    description = {
        "Measure a group of three meta servers as processes on the soft fabric: control calls after the leader was " +
        "killed and stopped, registrations against a single meta server, disk syncs, a restart with many " +
        "registrations and tables against an empty one, exec of a compute node to its first GET."},
    footer = {"", "Exit status 0: all goals were reached; 1: one was not."})
final class BenchMetaCommand implements Callable<Integer>
{
    private static final String META = "meta-server";
    private static final int GROUP = 3;
    /** Memory of dropped tables is used again a lease after the last failover, and these may come faster. */
    private static final int MEMORY_MIB = 256;
    private static final int MOST_RUNS = 100;
    private static final int MOST_REGISTRATIONS = 1_000_000;
    private static final int MOST_TABLES = 100_000;
    private static final int RESTARTS = 3;
    private static final int TOGETHER = 100;
    private static final int TABLES_A_LEASE = 20;
    private static final int WARM_UP_ROUNDS = 3;
    private static final int LEADER_TIMEOUT_MS = 60_000;
    /** Nodes that have left are fenced, and forgotten, in less. */
    private static final long QUIET_NS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final int QUIET_LOOKS = 5;
    private static final long SETTLE_NS = TimeUnit.SECONDS.toNanos(20);
    private static final Duration DATA_TIMEOUT = Duration.ofSeconds(20);
    private static final double MOST_DEATH_MS = 3_000;
    private static final double MOST_STOP_MS = 5_000;
    private static final double LEAST_RATE_RATIO = 0.5;
    private static final double MOST_SYNCS = 20;
    private static final double MOST_RESTART_RATIO = 1.5;
    private static final double MOST_START_RATIO = 1.1;
    private static final double NS_PER_MS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final double NS_PER_S = TimeUnit.SECONDS.toNanos(1);
    private static final byte[] KEY = {'k'};

    /** What is measured. */
    enum Part
    {
        FAILOVER, JOIN, RESTART, START
    }

    private final NanoClock clock = SystemNanoClock.INSTANCE;

    @Spec
    private CommandSpec spec;

    @Option(names = "--parts", paramLabel = "PART,...", split = ",",
        description = "Only these: failover, join, restart, start. Default: all.")
    private Set<Part> parts = EnumSet.allOf(Part.class);

    @Option(names = "--failovers", paramLabel = "N", defaultValue = "3",
        description = "Deaths, and as many stops, of the leader, 1 to 100; 30 for what is published. " +
            "Default: ${DEFAULT-VALUE}.")
    private int failovers;

    @Option(names = "--rounds", paramLabel = "N", defaultValue = "10",
        description = "Rounds in which 100 nodes register at once, 1 to 100. Default: ${DEFAULT-VALUE}.")
    private int rounds;

    @Option(names = "--registrations", paramLabel = "N", defaultValue = "10000",
        description = "Registrations before a restart, 100 to 1000000. Default: ${DEFAULT-VALUE}.")
    private int registrations;

    @Option(names = "--tables", paramLabel = "N", defaultValue = "1000",
        description = "Tables before a restart, 1 to 100000. Default: ${DEFAULT-VALUE}.")
    private int tables;

    @Option(names = "--starts", paramLabel = "N", defaultValue = "3",
        description = "Starts of a compute node, 1 to 100. Default: ${DEFAULT-VALUE}.")
    private int starts;

    @Option(names = "--json", paramLabel = "FILE", description = "Write the figures to this file too.")
    private Path json;

    @Override
    public Integer call() throws InterruptedException
    {
        OptionRange.check("--failovers", failovers, 1, MOST_RUNS);
        OptionRange.check("--rounds", rounds, 1, MOST_RUNS);
        OptionRange.check("--registrations", registrations, TOGETHER, MOST_REGISTRATIONS);
        OptionRange.check("--tables", tables, 1, MOST_TABLES);
        OptionRange.check("--starts", starts, 1, MOST_RUNS);
        final OutputFile output = OutputFile.open("--json", json);
        final PrintWriter out = spec.commandLine().getOut();
        out.println(MetaRow.head());
        final List<MetaRow> rows = new ArrayList<>();
        for (final Part part : parts)
        {
            final List<MetaRow> measured = measure(part);
            measured.forEach((row) -> out.println(row.line()));
            out.flush();
            rows.addAll(measured);
        }
        output.write(json(rows));
        return rows.stream().allMatch(MetaRow::isReached) ? ExitStatus.OK : ExitStatus.FAILED;
    }

    private List<MetaRow> measure(final Part part) throws InterruptedException
    {
        return switch (part)
        {
            case FAILOVER -> failover();
            case JOIN -> join();
            case RESTART -> restart();
            case START -> start();
        };
    }

    /** A cluster of its own that is up. */
    private record Up(TemporaryCluster temporary, LocalCluster cluster) implements AutoCloseable
    {
        static Up start(final int metaServers, final int computeNodes)
        {
            final TemporaryCluster temporary = TemporaryCluster.create("verbena-bench-meta-");
            try
            {
                final LocalCluster cluster = temporary.open();
                cluster.metaServers(metaServers);
                cluster.metaOptions(List.of("--max-nodes", "1024"));
                cluster.up(LocalCluster.ANY_PORT, 1, MEMORY_MIB, computeNodes, (line) -> {});
                return new Up(temporary, cluster);
            }
            catch (final RuntimeException ex)
            {
                temporary.close();
                throw ex;
            }
        }

        KvClient connect()
        {
            return KvClient.connect(temporary.folder().address(),
                new KvClientOptions().tokenFile(temporary.folder().token()).timeout(DATA_TIMEOUT));
        }

        List<Entry> metaServers()
        {
            return cluster.entries().stream().filter((entry) -> entry.name().startsWith(META)).toList();
        }

        @Override
        public void close()
        {
            temporary.close();
        }
    }

    private List<MetaRow> failover() throws InterruptedException
    {
        try (Up up = Up.start(GROUP, 1); KvClient client = up.connect();
            FailoverBenchmark benchmark =
                new FailoverBenchmark(up.cluster(), up.temporary().folder(), client, clock))
        {
            final List<FailoverBenchmark.Took> deaths = new ArrayList<>();
            final List<FailoverBenchmark.Took> stops = new ArrayList<>();
            try
            {
                for (int i = 0; i < failovers; i++)
                {
                    deaths.add(benchmark.run(true));
                    stops.add(benchmark.run(false));
                }
            }
            catch (final KvException | CommandFailedException ex)
            {
                up.temporary().throwIfEnding(ex);
                throw up.temporary().withLogs(ex);
            }
            benchmark.failures().forEach((text, count) ->
                spec.commandLine().getErr().println("failed " + count + " times: " + text));
            final List<MetaRow> rows = new ArrayList<>(took("death", deaths, MOST_DEATH_MS));
            rows.addAll(took("stop", stops, MOST_STOP_MS));
            rows.add(MetaRow.most("data_operations_count", benchmark.operations(), Double.NaN));
            rows.add(MetaRow.most("data_operations_failed_count",
                benchmark.failures().values().stream().mapToInt(Integer::intValue).sum(), 0));
            return rows;
        }
    }

    private static List<MetaRow> took(
        final String what, final List<FailoverBenchmark.Took> all, final double mostMs)
    {
        final double[] joinMs = all.stream().mapToDouble(FailoverBenchmark.Took::joinMs).toArray();
        final double[] createMs = all.stream().mapToDouble(FailoverBenchmark.Took::createMs).toArray();
        final double[] longestMs = all.stream().mapToDouble(FailoverBenchmark.Took::longestMs).toArray();
        return List.of(
            MetaRow.most(what + "_join_median_ms", Medians.of(joinMs), Double.NaN),
            MetaRow.most(what + "_create_median_ms", Medians.of(createMs), Double.NaN),
            MetaRow.most(what + "_median_ms", Medians.of(longestMs), Double.NaN),
            MetaRow.most(what + "_join_longest_ms", longest(joinMs), Double.NaN),
            MetaRow.most(what + "_create_longest_ms", longest(createMs), Double.NaN),
            MetaRow.most(what + "_longest_ms", longest(longestMs), mostMs));
    }

    /** In turn, on both at the same time there. */
    private List<MetaRow> join()
    {
        try (Up group = Up.start(GROUP, 0); Up single = Up.start(1, 0);
            MetaJoiners ofGroup = new MetaJoiners(group.temporary().folder(), TOGETHER);
            MetaJoiners ofSingle = new MetaJoiners(single.temporary().folder(), TOGETHER))
        {
            final double[] groupNs = new double[rounds];
            final double[] singleNs = new double[rounds];
            double mostSyncs = 0;
            for (int i = -WARM_UP_ROUNDS; i < rounds; i++)
            {
                final List<Long> before = settledSyncs(group);
                final long joinedNs = ofGroup.joinNs();
                final List<Long> after = settledSyncs(group);
                final long singleJoinedNs = ofSingle.joinNs();
                ofGroup.leave();
                ofSingle.leave();
                if (i >= 0)
                {
                    groupNs[i] = joinedNs;
                    singleNs[i] = singleJoinedNs;
                    mostSyncs = Math.max(mostSyncs, IntStream.range(0, before.size()).mapToLong((member) ->
                        after.get(member) - before.get(member)).max().orElseThrow());
                }
            }
            return List.of(
                MetaRow.leastOfReference("registrations_per_s", TOGETHER * NS_PER_S / Medians.of(groupNs),
                    TOGETHER * NS_PER_S / Medians.of(singleNs), LEAST_RATE_RATIO),
                MetaRow.most("syncs_of_100_joins_count", mostSyncs, MOST_SYNCS));
        }
    }

    /** When nothing is written any more: what an earlier round left behind, or this one, is over. */
    private List<Long> settledSyncs(final Up group)
    {
        final long endNs = clock.nanoTime() + SETTLE_NS;
        List<Long> last = syncs(group);
        long sinceNs = clock.nanoTime();
        while (clock.nanoTime() - sinceNs < QUIET_NS)
        {
            LockSupport.parkNanos(QUIET_NS / QUIET_LOOKS);
            final List<Long> now = syncs(group);
            if (!now.equals(last))
            {
                last = now;
                sinceNs = clock.nanoTime();
            }
            if (clock.nanoTime() - endNs > 0)
            {
                throw new CommandFailedException(ExitStatus.UNAVAILABLE, "the group still writes its log after " +
                    TimeUnit.NANOSECONDS.toSeconds(SETTLE_NS) + " s in which no node came or went", null);
            }
        }
        return last;
    }

    /** Of each member: how often its log was synced to the disk so far. */
    private static List<Long> syncs(final Up group)
    {
        return group.metaServers().stream().map((entry) ->
        {
            final Map<String, Object> figures = HealthProbe.figures(entry);
            if (null == figures || !(figures.get("group_log_syncs") instanceof final Number count))
            {
                throw new CommandFailedException(ExitStatus.UNAVAILABLE, entry.name() + " does not answer", null);
            }
            return count.longValue();
        }).toList();
    }

    private List<MetaRow> restart()
    {
        try (Up up = Up.start(GROUP, 0))
        {
            final double emptyMs = restartMs(up);
            try (MetaJoiners joiners = new MetaJoiners(up.temporary().folder(), TOGETHER))
            {
                for (int done = 0; done < registrations; done += TOGETHER)
                {
                    joiners.joinNs();
                    joiners.leave();
                }
            }
            for (int done = 0; done < tables; done += TABLES_A_LEASE)
            {
                try (MetaJoiners creator = new MetaJoiners(up.temporary().folder(), 1))
                {
                    creator.joinNs();
                    creator.createTables(done, Math.min(TABLES_A_LEASE, tables - done));
                    creator.leave();
                }
            }
            return List.of(MetaRow.mostOfReference("restart_ms", restartMs(up), emptyMs, MOST_RESTART_RATIO));
        }
    }

    /** From the start of the first process again until a leader answers; all were killed. */
    private double restartMs(final Up up)
    {
        final double[] tookMs = new double[RESTARTS];
        for (int i = 0; i < RESTARTS; i++)
        {
            for (final Entry entry : up.metaServers())
            {
                entry.process().ifPresent((process) ->
                {
                    process.destroyForcibly();
                    process.onExit().join();
                });
            }
            final long startNs = clock.nanoTime();
            up.cluster().up(LocalCluster.ANY_PORT, 1, null, null, (line) -> {});
            BootstrapClient.ask(ClusterAddress.parse(up.temporary().folder().address()),
                ClusterToken.read(up.temporary().folder().token()), LEADER_TIMEOUT_MS);
            tookMs[i] = (clock.nanoTime() - startNs) / NS_PER_MS;
        }
        return Medians.of(tookMs);
    }

    private List<MetaRow> start() throws InterruptedException
    {
        try (Up group = Up.start(GROUP, 1); Up single = Up.start(1, 1);
            KvClient ofGroup = group.connect(); KvClient ofSingle = single.connect())
        {
            final KvTable groupTable = table(ofGroup);
            final KvTable singleTable = table(ofSingle);
            final double[] groupMs = new double[starts];
            final double[] singleMs = new double[starts];
            for (int i = 0; i < starts; i++)
            {
                groupMs[i] = firstGetMs(group, groupTable);
                singleMs[i] = firstGetMs(single, singleTable);
            }
            return List.of(MetaRow.mostOfReference(
                "exec_to_first_get_ms", Medians.of(groupMs), Medians.of(singleMs), MOST_START_RATIO));
        }
    }

    private static KvTable table(final KvClient client)
    {
        final KvTable table = client.createTable("bench", new TableOptions(1_000));
        table.put(KEY, KEY);
        return table;
    }

    private double firstGetMs(final Up up, final KvTable table) throws InterruptedException
    {
        return StartBenchmark.firstGetMs(new StartBenchmark(1, clock).run(up.cluster(), table, KEY));
    }

    private static double longest(final double[] values)
    {
        return Arrays.stream(values).max().orElseThrow();
    }

    private String json(final List<MetaRow> rows)
    {
        final Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("benchmark", "meta");
        fields.put("jvm", Runtime.version().toString());
        fields.put("processors_count", Runtime.getRuntime().availableProcessors());
        fields.put("failovers_count", failovers);
        fields.put("rounds_count", rounds);
        fields.put("registrations_count", registrations);
        fields.put("tables_count", tables);
        fields.put("starts_count", starts);
        fields.put("rows", rows.stream().map(MetaRow::fields).toList());
        return JsonWriter.write(fields);
    }
}
