package io.verbena.load.demo;

import io.verbena.load.report.TextTable;
import io.verbena.load.report.Units;

/**
 * The report for people: figures first, then each check with what it rests on, the verdict last.
 */
public final class DemoReportText
{
    private static final int PARTICULARS_LINES = 12;

    private final DemoReport report;
    private final StringBuilder text = new StringBuilder();

    private DemoReportText(final DemoReport report)
    {
        this.report = report;
        head();
        latencies();
        costs();
        nodes();
        checks();
    }

    /**
     * A report as aligned text.
     *
     * @param report to show.
     * @return several lines.
     */
    public static String of(final DemoReport report)
    {
        return new DemoReportText(report).text.toString();
    }

    private void head()
    {
        final DemoPlan plan = report.plan;
        line("");
        line("Workload " + plan.workload() + ": " + Units.count(plan.records()) + " records, " + plan.threads() +
            " threads, " + (plan.rate() > 0 ? Units.count(plan.rate()) + " operations/s asked for" :
            "as fast as it goes") + ", " + plan.memoryNodes() + " memory nodes of " +
            Units.mebibytes(plan.memoryBytesPerNode()) + " on fabric " + report.fabric);
        line("");
        text.append(new TextTable()
            .row("throughput", Units.count(Math.round(report.throughputPerSecond())) + " operations/s",
                Units.count(report.counters.operations.sum()) + " in " + Units.duration(report.runNs))
            .row("loading", Units.count(Math.round(report.loadThroughputPerSecond())) + " records/s",
                Units.count(plan.records()) + " in " + Units.duration(report.loadNs)));
        if (report.counters.isFull())
        {
            line("  ended when " + Units.count(plan.insertedRecords()) +
                " records had been inserted, for which the table had room");
        }
        if (report.counters.notStarted.sum() > 0)
        {
            line("  " + Units.count(report.counters.notStarted.sum()) +
                " operations had not started when the run ended: the rate is too high for this machine");
        }
    }

    private void latencies()
    {
        line("");
        final TextTable table = new TextTable().row("latency", "count", "p50", "p99", "p99.9", "max");
        for (final LatencyFigures latency : report.latencies)
        {
            table.row(
                latency.operation().figureName().replace('_', '-'),
                Units.count(latency.count()),
                Units.duration(latency.p50Ns()),
                Units.duration(latency.p99Ns()),
                Units.duration(latency.p999Ns()),
                Units.duration(latency.maxNs()));
        }
        text.append(table);
        if (report.plan.rate() > 0)
        {
            line("  from the moment at which each operation was meant to start (no coordinated omission)");
        }
    }

    private void costs()
    {
        line("");
        final TextTable table = new TextTable().row("cost of one", "count", "round trips", "verbs", "doorbells");
        for (final OperationCost cost : report.costs)
        {
            table.row(
                cost.operation().replace('_', '-'),
                Units.count(cost.count()),
                Units.mean(cost.roundTrips()),
                Units.mean(cost.verbs()),
                Units.mean(cost.doorbells()));
        }
        text.append(table);
    }

    private void nodes()
    {
        final ElasticityFigures nodes = report.elasticity;
        line("");
        line("  compute node " + nodes.addedNodeId() + " came: ready after " + Units.duration(nodes.joinToReadyNs()) +
            ", first operation answered after " + (nodes.joinToFirstRequestNs() < 0 ? "(none came)" :
            Units.duration(nodes.joinToFirstRequestNs())) + "; " + Units.count(nodes.operationCount()) + " answered");
        line("    " + nodes.joinBreakdown());
        line("  compute node " + nodes.removedNodeId() + (nodes.isKilled() ?
            " was killed" + (nodes.isUnderLoad() ? "" : ", but the load had ended: give more --seconds") : " left"));
        final DemoReport.MemoryNodeDeath lost = report.memoryNodeDeath;
        if (null != lost)
        {
            line("  " + lost.name() + " was killed " + Units.duration(lost.diedAfterNs()) +
                " after the start; the table had " + report.plan.copies() + " copies");
        }
        final LeaderDeath death = report.leaderDeath;
        if (null != death)
        {
            line("  " + death.member() + ", which led the meta servers, was killed " +
                Units.duration(death.diedAfterNs()) + " after the start; a table was created " +
                Units.duration(death.controlCallNs()) + " later" +
                (1 == death.attempts() ? "" : ", at call " + death.attempts()));
        }
    }

    private void checks()
    {
        final VerbAgreement verbs = report.verbs;
        final RunCounters counters = report.counters;
        line("");
        text.append(new TextTable()
            .row("failed operations", yes(counters.errors.sum() == 0), Units.count(counters.errors.sum()) +
                (counters.mayBeUnknown() ? "; " + Units.count(counters.unknownOutcomes.sum()) +
                " writes of unknown outcome" : ""))
            .row("deadlines kept", yes(report.deadlines.late() == 0), "longest operation " +
                Units.duration(report.deadlines.longestNs()) + ", " + Units.count(report.deadlines.late()) + " late")
            .row("records not found", yes(counters.notFound.sum() == 0), Units.count(counters.notFound.sum()))
            .row("linearizable", verdict(report.register.linearizable()),
                Units.count(report.register.operations()) + " register operations, " +
                Units.count(report.register.deadlines()) + " with a deadline, in " +
                Units.duration(report.register.elapsedNs()))
            .row("reads verified", yes(report.reads.violations() == 0),
                Units.count(report.reads.reads()) + " reads during the run, " +
                Units.count(report.reads.violations()) + " wrong")
            .row("last writes kept", yes(report.audit.violations() == 0),
                Units.count(report.audit.records()) + " records read back, " + Units.count(report.audit.violations()) +
                " wrong")
            .row("table check", yes(report.tableCheck.holds() && !report.hasLeaked()),
                tableCheck(report.tableCheck))
            .row("verbs agree", verbs.isCounted() ? yes(verbs.holds()) : "-",
                !verbs.isCounted() ? "the queue pairs are in other processes" :
                    "loading " + Units.count(verbs.loadByOperations()) + " by operation, " +
                    Units.count(verbs.loadAtFabric()) + " at the fabric"));
        particulars(counters.firstError());
        particulars(report.reads.firstViolation());
        particulars(report.audit.firstViolation());
        particulars(report.tableCheck.firstProblem());
        particulars(report.register.explanation());
        line("");
        line(report.passed() ? "PASSED" : "FAILED");
    }

    private static String tableCheck(final TableCheckFigures check)
    {
        return Units.count(check.records()) + " records, " + Units.count(check.violations()) + " violations" +
            (TableCheckFigures.NOT_KNOWN == check.lostBytes() ? "" :
            ", " + Units.count(check.lostBytes()) + " bytes lost");
    }

    private void particulars(final String particulars)
    {
        if (particulars != null)
        {
            line("");
            particulars.lines().limit(PARTICULARS_LINES).forEach(particular -> line("  " + particular));
        }
    }

    private static String yes(final boolean holds)
    {
        return holds ? "ok" : "WRONG";
    }

    private static String verdict(final Boolean linearizable)
    {
        return linearizable == null ? "UNKNOWN" : linearizable ? "yes" : "NO";
    }

    private void line(final String line)
    {
        text.append(line).append('\n');
    }
}
