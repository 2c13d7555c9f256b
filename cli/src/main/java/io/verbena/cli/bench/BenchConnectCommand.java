package io.verbena.cli.bench;

import io.verbena.cli.cluster.ClusterTls;
import io.verbena.cli.cluster.LocalCluster;
import io.verbena.cli.cluster.NodeLauncher;
import io.verbena.cli.cluster.TemporaryCluster;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.OutputFile;
import io.verbena.cli.fabric.FabricDevice;
import io.verbena.client.KvClient;
import io.verbena.client.KvClientOptions;
import io.verbena.client.KvTable;
import io.verbena.client.TableOptions;
import io.verbena.load.connect.BareStart;
import io.verbena.load.connect.ConnectBenchmark;
import io.verbena.load.connect.ConnectRow;
import io.verbena.load.report.JsonWriter;
import io.verbena.load.report.Medians;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;

/**
 * {@code verbena bench connect}: what it costs to reach a peer.
 */
@Command(
    name = "connect",
    description = {
        "Measure on the soft fabric what it costs to reach a peer: one that is known; one that is not, by one READ " +
        "of the meta server's view, against that READ; by a queue pair made for it, with and without a device that " +
        "is open. Then exec of a compute node to its first GET, against exec of a JVM that opens a device, connects " +
        "and does one READ, and the same of a cluster with TLS. Medians."},
    footer = {"", "Exit status 0: all goals were reached; 1: one was not."})
final class BenchConnectCommand implements Callable<Integer>
{
    private static final String FABRIC = "soft:/dev/shm/verbena-bench-" + ProcessHandle.current().pid();
    private static final int MOST_SAMPLES = 100_000;
    private static final int MOST_STARTS = 100;
    private static final int MEMORY_MIB = 64;
    private static final double MOST_START_RATIO = 1.5;
    private static final double US_PER_MS = 1_000;
    private static final double MOST_TLS_US = 150 * US_PER_MS;
    private static final byte[] KEY = {'k'};
    private static final String ROW = "%-28s %,14.3f %14s %10.3f %10s %5s %5s%s";

    @Spec
    private CommandSpec spec;

    @Option(names = "--samples", paramLabel = "N", defaultValue = "1000",
        description = "Connections of each kind, after as many that only warm up, 1 to 100000. " +
            "Default: ${DEFAULT-VALUE}.")
    private int samples;

    @Option(names = "--starts", paramLabel = "N", defaultValue = "5",
        description = "Starts of a compute node and of a bare JVM, 1 to 100; 0 for none. Default: ${DEFAULT-VALUE}.")
    private int starts;

    @Option(names = "--json", paramLabel = "FILE", description = "Write the figures to this file too.")
    private Path json;

    @Override
    public Integer call() throws InterruptedException
    {
        if (samples < 1 || samples > MOST_SAMPLES || starts < 0 || starts > MOST_STARTS)
        {
            throw new CommandFailedException(ExitStatus.USAGE, "out of range: --samples " + samples + ", 1 to " +
                MOST_SAMPLES + "; --starts " + starts + ", 0 to " + MOST_STARTS, null);
        }
        final OutputFile output = OutputFile.open("--json", json);
        final PrintWriter out = spec.commandLine().getOut();
        out.printf("%-28s %14s %14s %10s %10s %5s %5s%n", "figure", "us", "reference us", "judged", "at most", "READs",
            "SENDs");
        final List<ConnectRow> rows = new ArrayList<>();
        FabricDevice.on("soft", () -> rows.addAll(ConnectBenchmark.run(FABRIC, samples, SystemNanoClock.INSTANCE)));
        rows.forEach((row) -> out.println(line(row)));
        out.flush();
        if (starts > 0)
        {
            final List<ConnectRow> started = start(SystemNanoClock.INSTANCE);
            rows.addAll(started);
            started.forEach((row) -> out.println(line(row)));
        }
        output.write(json(rows));
        return rows.stream().allMatch(ConnectRow::isReached) ? ExitStatus.OK : ExitStatus.FAILED;
    }

    /** A cluster that is up, and the record that a node serves first. */
    private record Started(LocalCluster cluster, KvClient client, KvTable table) implements AutoCloseable
    {
        static Started up(final TemporaryCluster temporary, final boolean isTls)
        {
            final LocalCluster cluster = temporary.open();
            if (isTls)
            {
                new ClusterTls(temporary.folder()).create(Instant.now(), List.of("127.0.0.1"));
            }
            cluster.up(LocalCluster.ANY_PORT, 1, MEMORY_MIB, 1, (line) -> {});
            final KvClient client = KvClient.connect(temporary.folder().address(),
                new KvClientOptions().tokenFile(temporary.folder().token()).timeout(Duration.ofSeconds(60)));
            final KvTable table = client.createTable("bench", new TableOptions(1_000));
            table.put(KEY, KEY);
            return new Started(cluster, client, table);
        }

        double firstGetUs(final NanoClock clock) throws InterruptedException
        {
            return StartBenchmark.firstGetMs(new StartBenchmark(1, clock).run(cluster, table, KEY)) * US_PER_MS;
        }

        @Override
        public void close()
        {
            client.close();
        }
    }

    /** All in turn, on clusters whose meta server and memory node are up. */
    private List<ConnectRow> start(final NanoClock clock) throws InterruptedException
    {
        try (TemporaryCluster temporary = TemporaryCluster.create("verbena-bench-connect-");
            TemporaryCluster withTls = TemporaryCluster.create("verbena-bench-connect-tls-");
            BareStart bare = new BareStart(FABRIC, (mainClass, arguments) ->
                NodeLauncher.commandLine(NodeLauncher.NODE_FLAGS, mainClass, arguments), clock))
        {
            try (Started plain = Started.up(temporary, false); Started tls = Started.up(withTls, true))
            {
                final double[] bareUs = new double[starts];
                final double[] plainUs = new double[starts];
                final double[] tlsUs = new double[starts];
                final double[] moreUs = new double[starts];
                for (int i = 0; i < starts; i++)
                {
                    bareUs[i] = bare.startMs() * US_PER_MS;
                    plainUs[i] = plain.firstGetUs(clock);
                    tlsUs[i] = tls.firstGetUs(clock);
                    moreUs[i] = tlsUs[i] - plainUs[i];
                }
                return List.of(
                    ConnectRow.ratio("exec_to_first_get", Medians.of(plainUs), Medians.of(bareUs), MOST_START_RATIO),
                    ConnectRow.ratio("exec_to_first_get_tls", Medians.of(tlsUs), Medians.of(plainUs), Double.NaN),
                    ConnectRow.alone("tls_of_first_get", Medians.of(moreUs), MOST_TLS_US));
            }
            finally
            {
                withTls.end();
                temporary.end();
            }
        }
    }

    private static String line(final ConnectRow row)
    {
        return String.format(Locale.ROOT, ROW, row.figure(), row.ownUs(), optional(row.referenceUs()), row.judged(),
            optional(row.goal()), count(row.readsCount()), count(row.sendsCount()),
            row.isReached() ? "" : " MISSED").stripTrailing();
    }

    private static String optional(final double value)
    {
        return Double.isNaN(value) ? "" : String.format(Locale.ROOT, "%,.3f", value);
    }

    private static String count(final long count)
    {
        return count < 0 ? "" : Long.toString(count);
    }

    private String json(final List<ConnectRow> rows)
    {
        final Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("benchmark", "connect");
        fields.put("jvm", Runtime.version().toString());
        fields.put("processors_count", Runtime.getRuntime().availableProcessors());
        fields.put("samples_count", samples);
        fields.put("starts_count", starts);
        fields.put("rows", rows.stream().map(ConnectRow::fields).toList());
        return JsonWriter.write(fields);
    }
}
