package io.verbena.load.demo;

import io.verbena.client.KvClient;
import io.verbena.client.KvException;
import io.verbena.client.KvTable;
import io.verbena.client.OperationStatistics;
import io.verbena.client.TableOptions;
import io.verbena.embedded.ComputeNodeHandle;
import io.verbena.embedded.EmbeddedCluster;
import io.verbena.embedded.EmbeddedClusterException;
import io.verbena.embedded.EmbeddedClusterOptions;
import io.verbena.elle.history.HistoryReader;
import io.verbena.load.LoadException;
import io.verbena.load.report.Progress;
import io.verbena.load.report.Units;
import org.HdrHistogram.Histogram;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

/**
 * One run of the demo: starts a cluster in this process, loads it, runs a workload while a compute node comes and one
 * leaves and register clients work on the same table, checks, reports. Used once, by one thread. On Ctrl-C the cluster
 * is closed before the process ends.
 */
public final class Demo
{
    private static final long LOAD_TIMEOUT_NS = TimeUnit.HOURS.toNanos(1);
    private static final byte[] NO_RECORD = {0};
    private static final long END_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(60);
    private static final long PROGRESS_INTERVAL_MS = 200;
    private static final double NS_PER_S = 1_000_000_000.0;

    private final DemoPlan plan;
    private final Progress progress;
    private final UnaryOperator<KvClient> clientDecorator;
    private final NanoClock clock = SystemNanoClock.INSTANCE;

    /**
     * Plans a run.
     *
     * @param options  what to run.
     * @param progress what to show meanwhile.
     * @throws LoadException when it cannot be run as asked.
     */
    public Demo(final DemoOptions options, final Progress progress)
    {
        this(options, progress, UnaryOperator.identity());
    }

    /**
     * For tests that put a fault between load and store.
     */
    Demo(final DemoOptions options, final Progress progress, final UnaryOperator<KvClient> clientDecorator)
    {
        plan = DemoPlan.of(options);
        this.progress = progress;
        this.clientDecorator = clientDecorator;
    }

    /**
     * Runs it; blocks for as long as that takes.
     *
     * @return what was measured and checked.
     * @throws LoadException           when the store could not be started or loaded.
     * @throws InterruptedRunException when the process is ending.
     * @throws InterruptedException    when the calling thread was interrupted.
     */
    public DemoReport run() throws InterruptedException
    {
        try (ClusterGuard guard = new ClusterGuard(progress))
        {
            try
            {
                return run(guard.start(new EmbeddedClusterOptions()
                    .fabric(plan.fabric())
                    .memoryNodes(plan.memoryNodes())
                    .memoryBytesPerNode(plan.memoryBytesPerNode())
                    .computeNodes(1)));
            }
            catch (final LoadException | KvException | EmbeddedClusterException ex)
            {
                guard.throwIfEnding(ex);
                throw ex instanceof final LoadException known ? known :
                    new LoadException(LoadException.Reason.FAILED, ex.getMessage(), ex);
            }
        }
        finally
        {
            progress.clear();
        }
    }

    private DemoReport run(final EmbeddedCluster cluster) throws InterruptedException
    {
        try
        {
            if (plan.history() != null)
            {
                return run(cluster, plan.history());
            }
            final Path history = Files.createTempFile("verbena-registers-", ".history");
            history.toFile().deleteOnExit();
            try
            {
                return run(cluster, history);
            }
            finally
            {
                Files.delete(history);
            }
        }
        catch (final IOException ex)
        {
            throw new LoadException(
                LoadException.Reason.CANNOT_CREATE, "the register history cannot be written: " + ex, ex);
        }
    }

    private DemoReport run(final EmbeddedCluster cluster, final Path history) throws InterruptedException, IOException
    {
        progress.say("Started 1 meta server, " + plan.memoryNodes() + " memory nodes of " +
            Units.mebibytes(plan.memoryBytesPerNode()) + " and 1 compute node on fabric " + plan.fabric());
        final KvClient client = clientDecorator.apply(cluster.client());
        final KvTable table = client.createTable(plan.table(), new TableOptions(plan.expectedRecords()));
        final WriteLedger ledger = new WriteLedger(clock);
        final YcsbLoad ycsb = new YcsbLoad(plan, client, ledger, clock);

        final Snapshot created = Snapshot.of(cluster);
        final long loadNs = load(ycsb);
        final Snapshot loaded = Snapshot.of(cluster);

        final RunCounters counters =
            plan.insertedRecords() > 0 ? new RunCounters(plan.insertedRecords()) : new RunCounters();
        final RegisterWorkload registers = new RegisterWorkload(table, history, clock, counters);
        final long startNs = clock.nanoTime();
        final ElasticityFigures elasticity = runAll(cluster, ycsb, registers, counters, startNs, table);
        final long runNs = counters.endedNs.get() - startNs;
        final Snapshot ran = Snapshot.of(cluster);

        progress.say("Checking the register history and reading back " + Units.count(plan.records()) + " records");
        registers.finishRecording();
        final RegisterFigures register = RegisterCheck.check(HistoryReader.read(history));
        final FinalAudit.Verdict audit = new FinalAudit(table, ledger).run(plan.threads());
        return new DemoReport(
            plan,
            counters,
            loadNs,
            runNs,
            latencies(ycsb),
            OperationCost.of(ran.statistics.since(loaded.statistics)),
            new VerbAgreement(
                loaded.statistics.verbs() - created.statistics.verbs(),
                loaded.fabricVerbs - created.fabricVerbs,
                ran.statistics.verbs() - loaded.statistics.verbs(),
                ran.fabricVerbs - loaded.fabricVerbs),
            elasticity,
            register,
            audit);
    }

    private long load(final YcsbLoad ycsb) throws InterruptedException
    {
        final RunCounters counters = new RunCounters();
        final long startNs = clock.nanoTime();
        final WorkerThreads workers = ycsb.startLoading(counters);
        while (!workers.join(PROGRESS_INTERVAL_MS))
        {
            final long loaded = counters.operations.sum();
            showProgress("load", (double)loaded / plan.records(), startNs, loaded);
        }
        workers.finish(LOAD_TIMEOUT_NS);
        final long elapsedNs = clock.nanoTime() - startNs;
        showProgress("load", 1, startNs, plan.records());
        return elapsedNs;
    }

    private ElasticityFigures runAll(
        final EmbeddedCluster cluster,
        final YcsbLoad ycsb,
        final RegisterWorkload registers,
        final RunCounters counters,
        final long startNs,
        final KvTable table) throws InterruptedException
    {
        final long lengthNs = TimeUnit.SECONDS.toNanos(plan.seconds());
        final WorkerThreads workers = ycsb.startRunning(counters, startNs, startNs + lengthNs);
        final WorkerThreads registerWorkers = registers.start(startNs, startNs + lengthNs);
        final ComputeNodeHandle first = cluster.computeNodes().getFirst();

        showUntil(startNs + lengthNs / 3, startNs, counters, workers);
        final ComputeNodeHandle added = cluster.addComputeNode();
        progress.say("Compute node " + added.nodeId() + " came");
        showUntil(startNs + lengthNs * 2 / 3, startNs, counters, workers);
        cluster.removeComputeNode(first.nodeId());
        progress.say("Compute node " + first.nodeId() + " left");
        showUntil(startNs + lengthNs, startNs, counters, workers);

        workers.finish(END_TIMEOUT_NS);
        registerWorkers.finish(END_TIMEOUT_NS);
        if (added.joinToFirstRequestNs() < 0)
        {
            // A short run on a slow machine may be over before the node was ready. It is the only one now: ask it.
            table.get(NO_RECORD);
        }
        return new ElasticityFigures(
            added.nodeId(),
            first.nodeId(),
            added.joinToReadyNs(),
            added.joinToFirstRequestNs(),
            added.joinBreakdown(),
            added.operationCount());
    }

    private void showUntil(
        final long untilNs, final long startNs, final RunCounters counters, final WorkerThreads workers)
        throws InterruptedException
    {
        final long lengthNs = TimeUnit.SECONDS.toNanos(plan.seconds());
        long leftNs = untilNs - clock.nanoTime();
        while (leftNs > 0 && !workers.hasFailed())
        {
            if (workers.join(Math.clamp(TimeUnit.NANOSECONDS.toMillis(leftNs), 1, PROGRESS_INTERVAL_MS)))
            {
                return;
            }
            final double fraction = (double)(clock.nanoTime() - startNs) / lengthNs;
            showProgress("run", fraction, startNs, counters.operations.sum());
            leftNs = untilNs - clock.nanoTime();
        }
    }

    private void showProgress(final String phase, final double fraction, final long startNs, final long operations)
    {
        final long nowNs = clock.nanoTime();
        final double seconds = Math.max(1, nowNs - startNs) / NS_PER_S;
        progress.update(nowNs, phase, fraction,
            Units.count(operations) + " operations, " + Units.count((long)(operations / seconds)) + "/s");
    }

    private static List<LatencyFigures> latencies(final YcsbLoad ycsb)
    {
        final List<LatencyFigures> figures = new ArrayList<>();
        for (final YcsbOperation operation : YcsbOperation.values())
        {
            final Histogram histogram = ycsb.latencies(operation);
            if (histogram.getTotalCount() > 0)
            {
                figures.add(LatencyFigures.of(operation, histogram));
            }
        }
        return figures;
    }

    private record Snapshot(OperationStatistics statistics, long fabricVerbs)
    {
        private static Snapshot of(final EmbeddedCluster cluster)
        {
            return new Snapshot(cluster.client().statistics(), VerbAgreement.oneSided(cluster.computeVerbCounters()));
        }
    }
}
