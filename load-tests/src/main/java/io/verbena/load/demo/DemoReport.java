package io.verbena.load.demo;

import io.verbena.load.report.JsonWriter;

import org.agrona.concurrent.NanoClock;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * All that a demo has measured and checked. Immutable; {@link DemoReportText} is for people,
 * {@link #json()} for programs.
 */
public final class DemoReport
{
    private static final double NS_PER_S = 1_000_000_000.0;

    /**
     * The memory node that was killed while tables with several copies were used.
     *
     * @param name        of its process.
     * @param diedAfterNs from the start of the run until it was killed.
     */
    record MemoryNodeDeath(String name, long diedAfterNs)
    {
        private static final double NS_PER_US = 1_000.0;

        /**
         * Kills a memory node, where there are copies and it is a process.
         *
         * @return what happened; null when none was killed.
         */
        static MemoryNodeDeath cause(
            final DemoCluster cluster, final int copies, final NanoClock clock, final long startNs)
        {
            final String name = copies > 1 ? cluster.killMemoryNode() : null;
            return null == name ? null : new MemoryNodeDeath(name, clock.nanoTime() - startNs);
        }

        static void addTo(final MemoryNodeDeath death, final Map<String, Object> figures)
        {
            figures.put("memory_node_killed", null == death ? null : death.name);
            figures.put("memory_node_died_after_us", null == death ? null : death.diedAfterNs / NS_PER_US);
        }
    }

    final DemoPlan plan;
    final RunCounters counters;
    final long loadNs;
    final long runNs;
    final List<LatencyFigures> latencies;
    final List<OperationCost> costs;
    final VerbAgreement verbs;
    final ElasticityFigures elasticity;
    final LeaderDeath leaderDeath;
    final MemoryNodeDeath memoryNodeDeath;
    final RegisterFigures register;
    final WriteLedger.ReadFigures reads;
    final FinalAudit.Verdict audit;
    final TableCheckFigures tableCheck;
    final DeadlineWatch deadlines;
    final String fabric;

    DemoReport(
        final DemoPlan plan,
        final RunCounters counters,
        final long loadNs,
        final long runNs,
        final List<LatencyFigures> latencies,
        final List<OperationCost> costs,
        final VerbAgreement verbs,
        final ElasticityFigures elasticity,
        final LeaderDeath leaderDeath,
        final MemoryNodeDeath memoryNodeDeath,
        final RegisterFigures register,
        final WriteLedger.ReadFigures reads,
        final FinalAudit.Verdict audit,
        final TableCheckFigures tableCheck,
        final DeadlineWatch deadlines,
        final String fabric)
    {
        this.plan = plan;
        this.counters = counters;
        this.loadNs = loadNs;
        this.runNs = runNs;
        this.latencies = latencies;
        this.costs = costs;
        this.verbs = verbs;
        this.elasticity = elasticity;
        this.leaderDeath = leaderDeath;
        this.memoryNodeDeath = memoryNodeDeath;
        this.register = register;
        this.reads = reads;
        this.audit = audit;
        this.tableCheck = tableCheck;
        this.deadlines = deadlines;
        this.fabric = fabric;
    }

    /**
     * Whether no operation failed and each check holds.
     *
     * @return false also when a check came to no verdict, and when nothing was done.
     */
    public boolean passed()
    {
        return counters.errors.sum() == 0 && counters.notFound.sum() == 0 &&
            Boolean.TRUE.equals(register.linearizable()) && reads.violations() == 0 && audit.violations() == 0 &&
            tableCheck.holds() && !hasLeaked() && deadlines.late() == 0 && verbs.holds() &&
            elasticity.isComplete() && hasWorked();
    }

    /** Of a node that was killed, the memory that it had not used yet is found by a later sweep. */
    boolean hasLeaked()
    {
        return tableCheck.lostBytes() > 0 && !elasticity.isKilled();
    }

    /** A run that did nothing and an audit that read nothing have found no fault either. */
    private boolean hasWorked()
    {
        return counters.operations.sum() > 0 && audit.records() > 0;
    }

    /**
     * Whether the register history is linearizable.
     *
     * @return null when the checker came to no verdict.
     */
    public Boolean linearizable()
    {
        return register.linearizable();
    }

    /**
     * Operations of the workload a second, over the whole run.
     *
     * @return throughput.
     */
    public double throughputPerSecond()
    {
        return counters.operations.sum() * NS_PER_S / runNs;
    }

    double loadThroughputPerSecond()
    {
        return plan.records() * NS_PER_S / loadNs;
    }

    /**
     * Every figure by its name; {@code docs/benchmarks/demo.md} says what each means.
     *
     * @return a JSON object.
     */
    public String json()
    {
        return JsonWriter.write(figures());
    }

    Map<String, Object> figures()
    {
        final Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("workload", plan.workload());
        figures.put("records", plan.records());
        figures.put("threads", plan.threads());
        figures.put("rate_ops_per_s", plan.rate());
        figures.put("corrected_for_coordinated_omission", plan.rate() > 0);
        figures.put("cpus", Runtime.getRuntime().availableProcessors());
        figures.put("java_version", Runtime.version().toString());
        figures.put("fabric", fabric);
        figures.put("processes", elasticity.isKilled());
        figures.put("memory_nodes", plan.memoryNodes());
        figures.put("memory_bytes_per_node", plan.memoryBytesPerNode());
        figures.put("load_seconds", loadNs / NS_PER_S);
        figures.put("load_throughput_ops_per_s", loadThroughputPerSecond());
        figures.put("run_seconds", runNs / NS_PER_S);
        figures.put("operations", counters.operations.sum());
        figures.put("throughput_ops_per_s", throughputPerSecond());
        figures.put("errors", counters.errors.sum());
        figures.put("first_error", counters.firstError());
        figures.put("unknown_outcomes", counters.unknownOutcomes.sum());
        figures.put("late_operations", deadlines.late());
        figures.put("longest_operation_ns", deadlines.longestNs());
        figures.put("not_found", counters.notFound.sum());
        figures.put("not_started", counters.notStarted.sum());
        figures.put("ended_when_full", counters.isFull());
        figures.put("update_conflicts", counters.updateConflicts.sum());
        latencies.forEach(latency -> latency.addTo(figures));
        costs.forEach(cost -> cost.addTo(figures));
        verbs.addTo(figures);
        elasticity.addTo(figures);
        LeaderDeath.addTo(leaderDeath, figures);
        figures.put("copies", plan.copies());
        MemoryNodeDeath.addTo(memoryNodeDeath, figures);
        register.addTo(figures);
        figures.put("verified_reads", reads.reads());
        figures.put("read_violations", reads.violations());
        figures.put("first_read_violation", reads.firstViolation());
        figures.put("audited_records", audit.records());
        figures.put("audit_violations", audit.violations());
        figures.put("first_audit_violation", audit.firstViolation());
        tableCheck.addTo(figures);
        figures.put("passed", passed());
        return figures;
    }
}
