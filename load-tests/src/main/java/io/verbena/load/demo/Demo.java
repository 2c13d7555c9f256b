package io.verbena.load.demo;

import io.verbena.client.KvClient;
import io.verbena.client.KvException;
import io.verbena.client.KvTable;
import io.verbena.client.OperationStatistics;
import io.verbena.client.TableOptions;
import io.verbena.embedded.ComputeNodeHandle;
import io.verbena.embedded.EmbeddedClusterException;
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
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;

/**
 * One run of the demo: starts a cluster, in this process or as processes of its own, loads it, runs a workload while a
 * compute node comes and one leaves and register clients work on the same table, checks, reports. Used once, by one
 * thread. On Ctrl-C the cluster is closed before the process ends.
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
    private final DemoCluster.Starter starter;
    private final UnaryOperator<KvClient> clientDecorator;
    private final NanoClock clock = SystemNanoClock.INSTANCE;
    private LeaderDeath leaderDeath;
    private DemoReport.MemoryNodeDeath memoryNodeDeath;

    /**
     * Plans a run on a cluster in this process.
     *
     * @param options  what to run.
     * @param progress what to show meanwhile.
     * @throws LoadException when it cannot be run as asked.
     */
    public Demo(final DemoOptions options, final Progress progress)
    {
        this(options, progress, EmbeddedDemoCluster::start, UnaryOperator.identity());
    }

    /**
     * For tests that put a fault between load and store.
     */
    Demo(final DemoOptions options, final Progress progress, final UnaryOperator<KvClient> clientDecorator)
    {
        this(options, progress, EmbeddedDemoCluster::start, clientDecorator);
    }

    /**
     * Plans a run.
     *
     * @param options         what to run.
     * @param progress        what to show meanwhile.
     * @param starter         of the cluster, which has at first one compute node.
     * @param clientDecorator what to put between load and store: nothing, or a fault that the checks must find.
     * @throws LoadException when it cannot be run as asked.
     */
    public Demo(
        final DemoOptions options,
        final Progress progress,
        final DemoCluster.Starter starter,
        final UnaryOperator<KvClient> clientDecorator)
    {
        plan = DemoPlan.of(options);
        this.progress = progress;
        this.starter = starter;
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
        try (ClusterKeeper guard = new ClusterKeeper(progress))
        {
            try
            {
                return run(guard.start(starter, new DemoCluster.Needs(
                    plan.fabric(), plan.memoryNodes(), plan.memoryBytesPerNode(), plan.timeoutNs())));
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

    private DemoReport run(final DemoCluster cluster) throws InterruptedException
    {
        try
        {
            if (plan.history() != null)
            {
                return run(cluster, plan.history());
            }
            final Path history = TemporaryHistory.create();
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

    private DemoReport run(final DemoCluster cluster, final Path history) throws InterruptedException, IOException
    {
        progress.say("Started " + cluster.metaServers() + " meta server" + (1 == cluster.metaServers() ? "" : "s") +
            ", " + plan.memoryNodes() + " memory nodes of " +
            Units.mebibytes(plan.memoryBytesPerNode()) + " and 1 compute node on fabric " + cluster.fabric());
        final DeadlineWatch deadlines = new DeadlineWatch(clock, plan.timeoutNs());
        final KvClient client = deadlines.watch(clientDecorator.apply(cluster.client()));
        final KvTable table = client.createTable(
            plan.table(), new TableOptions(plan.expectedRecords(), plan.copies()));
        final WriteLedger ledger = new WriteLedger(clock);
        final YcsbLoad ycsb = new YcsbLoad(plan, client, ledger, clock);

        final Snapshot created = Snapshot.of(cluster);
        final long loadNs = load(ycsb);
        final Snapshot loaded = Snapshot.of(cluster);

        final RunCounters counters = new RunCounters(
            plan.insertedRecords() > 0 ? plan.insertedRecords() : Long.MAX_VALUE, cluster.kills());
        final RegisterWorkload registers = new RegisterWorkload(table, history, clock, counters);
        final long startNs = clock.nanoTime();
        final ElasticityFigures elasticity = runAll(cluster, ycsb, registers, counters, startNs, table);
        final long runNs = counters.endedNs.get() - startNs;
        final Snapshot ran = Snapshot.of(cluster);

        progress.say("Checking the register history and all tables, and reading back " + Units.count(plan.records()) +
            " records");
        registers.finishRecording();
        final RegisterFigures register = RegisterCheck.check(HistoryReader.read(history), registers.deadlines());
        final FinalAudit.Verdict audit = new FinalAudit(table, ledger).run(plan.threads());
        return new DemoReport(
            plan,
            counters,
            loadNs,
            runNs,
            latencies(ycsb),
            OperationCost.of(ran.statistics.since(loaded.statistics)),
            agreement(created, loaded, ran),
            elasticity,
            leaderDeath,
            memoryNodeDeath,
            register,
            ledger.reads(),
            audit,
            cluster.checkTables(),
            deadlines,
            cluster.fabric());
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
        final DemoCluster cluster,
        final YcsbLoad ycsb,
        final RegisterWorkload registers,
        final RunCounters counters,
        final long startNs,
        final KvTable table) throws InterruptedException
    {
        final long lengthNs = TimeUnit.SECONDS.toNanos(plan.seconds());
        final AtomicLong endNs = new AtomicLong(startNs + lengthNs);
        final WorkerThreads workers = ycsb.startRunning(counters, startNs, endNs::get);
        final WorkerThreads registerWorkers = registers.start(startNs, endNs::get);

        showUntil(startNs + lengthNs / 3, startNs, counters, workers);
        final ComputeNodeHandle added = add(cluster, startNs, endNs);
        progress.say("Compute node " + added.nodeId() + " came");
        memoryNodeDeath = DemoReport.MemoryNodeDeath.cause(cluster, plan.copies(), clock, startNs);
        if (null != memoryNodeDeath)
        {
            progress.say(memoryNodeDeath.name() + " was killed");
        }
        // A third of the run with the memory nodes that are left, before a compute node is lost as well.
        final long leastNs = null == memoryNodeDeath ? lengthNs / 6 : lengthNs / 3;
        final long killNs = Math.max(
            startNs + lengthNs * 2 / 3, cluster.kills() ? clock.nanoTime() + leastNs : Long.MIN_VALUE);
        endNs.set(cluster.kills() ? killNs + lengthNs / 3 : startNs + lengthNs);
        showUntil(killNs, startNs, counters, workers);
        final boolean isUnderLoad = !workers.join(0);
        final int removedNodeId = cluster.removeFirstComputeNode();
        progress.say("Compute node " + removedNodeId + (cluster.kills() ? " was killed" : " left"));
        showUntil(endNs.get(), startNs, counters, workers);

        workers.finish(END_TIMEOUT_NS);
        registerWorkers.finish(END_TIMEOUT_NS);
        if (added.joinToFirstRequestNs() < 0)
        {
            // A short run on a slow machine may be over before the node was ready. It is the only one now: ask it.
            table.get(NO_RECORD);
        }
        return new ElasticityFigures(
            added.nodeId(),
            removedNodeId,
            added.joinToReadyNs(),
            added.joinToFirstRequestNs(),
            added.joinBreakdown(),
            added.operationCount(),
            cluster.kills(),
            isUnderLoad);
    }

    /**
     * A process may take long to start, and the load must go on when the other one is killed: its end is put off. The
     * node joins at a meta server that has just begun to lead, when there is a group of them.
     */
    private ComputeNodeHandle add(final DemoCluster cluster, final long startNs, final AtomicLong endNs)
    {
        final long plannedNs = endNs.get();
        if (cluster.kills())
        {
            endNs.set(plannedNs + END_TIMEOUT_NS);
        }
        try
        {
            leaderDeath = LeaderDeath.cause(cluster, clock, startNs);
            if (null != leaderDeath)
            {
                progress.say(leaderDeath.member() + ", which led, was killed; a table was created " +
                    Units.duration(leaderDeath.controlCallNs()) + " later");
            }
            return cluster.addComputeNode();
        }
        catch (final RuntimeException ex)
        {
            endNs.set(plannedNs);
            throw ex;
        }
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

    private static VerbAgreement agreement(final Snapshot created, final Snapshot loaded, final Snapshot ran)
    {
        final boolean isCounted = created.fabricVerbs != DemoCluster.NOT_COUNTED;
        return new VerbAgreement(
            loaded.statistics.verbs() - created.statistics.verbs(),
            isCounted ? loaded.fabricVerbs - created.fabricVerbs : DemoCluster.NOT_COUNTED,
            ran.statistics.verbs() - loaded.statistics.verbs(),
            isCounted ? ran.fabricVerbs - loaded.fabricVerbs : DemoCluster.NOT_COUNTED);
    }

    private record Snapshot(OperationStatistics statistics, long fabricVerbs)
    {
        private static Snapshot of(final DemoCluster cluster)
        {
            return new Snapshot(cluster.client().statistics(), cluster.oneSidedVerbs());
        }
    }
}
