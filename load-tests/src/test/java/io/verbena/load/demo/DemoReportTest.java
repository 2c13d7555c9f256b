package io.verbena.load.demo;

import io.verbena.client.KvClient;
import io.verbena.client.KvTable;

import org.junit.jupiter.api.Test;

import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

import static org.assertj.core.api.Assertions.assertThat;

/** Each term of the verdict, planted by itself into a report that passes. */
class DemoReportTest
{
    private static final long TIMEOUT_NS = 1_000_000_000;

    private RunCounters counters = worked();
    private VerbAgreement verbs = new VerbAgreement(10, 10, 20, 21);
    private ElasticityFigures elasticity = new ElasticityFigures(3, 1, 5, 6, "", 7, false, true);
    private RegisterFigures register = new RegisterFigures(8, 0, true, null, 9);
    private WriteLedger.ReadFigures reads = new WriteLedger.ReadFigures(200, 0, null);
    private FinalAudit.Verdict audit = new FinalAudit.Verdict(100, 0, null);
    private TableCheckFigures tableCheck = new TableCheckFigures(100, 0, 0, 2, null);
    private long elapsedNs = TIMEOUT_NS;

    private static RunCounters worked()
    {
        final RunCounters counters = new RunCounters();
        counters.operations.add(1_000);
        counters.updateConflicts.add(4);
        counters.notStarted.add(5);
        return counters;
    }

    private boolean passed()
    {
        final AtomicLong nowNs = new AtomicLong();
        final DeadlineWatch deadlines = new DeadlineWatch(nowNs::get, TIMEOUT_NS);
        deadlines.watch(stub(KvClient.class, stub(KvTable.class, null))).table("t").name();
        final KvTable table = stub(KvTable.class, null);
        deadlines.watch(stub(KvClient.class, advancing(table, nowNs))).table("t").name();
        return new DemoReport(
            null, counters, 1, 1, List.of(), List.of(), verbs, elasticity, null, null, register, reads, audit,
            tableCheck, deadlines, "")
            .passed();
    }

    private static <T> T stub(final Class<T> type, final Object answer)
    {
        return type.cast(Proxy.newProxyInstance(
            DemoReportTest.class.getClassLoader(), new Class<?>[]{type}, (_, _, _) -> answer));
    }

    /** A table each of whose calls takes so long. */
    private KvTable advancing(final KvTable table, final AtomicLong nowNs)
    {
        return (KvTable)Proxy.newProxyInstance(
            DemoReportTest.class.getClassLoader(), new Class<?>[]{KvTable.class}, (_, method, args) ->
            {
                nowNs.addAndGet(elapsedNs);
                return method.invoke(table, args);
            });
    }

    @Test
    void shouldPassWhenAllHolds()
    {
        assertThat(passed()).isTrue();
    }

    @Test
    void shouldFailWithAnyOperationThatFailed()
    {
        counters.onError("an error");
        assertThat(passed()).isFalse();
        counters = worked();
        counters.notFound.increment();
        assertThat(passed()).isFalse();
    }

    @Test
    void shouldFailWhenNothingWasDoneOrAudited()
    {
        counters = new RunCounters();
        assertThat(passed()).isFalse();
        counters = worked();
        audit = new FinalAudit.Verdict(0, 0, null);
        assertThat(passed()).isFalse();
    }

    @Test
    void shouldFailWithoutALinearizableHistory()
    {
        register = new RegisterFigures(8, 0, false, "stale", 9);
        assertThat(passed()).isFalse();
        register = new RegisterFigures(8, 0, null, "the time was up", 9);
        assertThat(passed()).isFalse();
    }

    @Test
    void shouldFailWithAReadThatReturnedWhatItMustNot()
    {
        reads = new WriteLedger.ReadFigures(200, 1, "stale");
        assertThat(passed()).isFalse();
    }

    @Test
    void shouldFailWithARecordThatHoldsWhatItMustNot()
    {
        audit = new FinalAudit.Verdict(100, 1, "gone");
        assertThat(passed()).isFalse();
    }

    @Test
    void shouldFailWithAViolationInTheTableCheck()
    {
        tableCheck = new TableCheckFigures(100, 1, 0, 0, "a block with two owners");
        assertThat(passed()).isFalse();
    }

    @Test
    void shouldFailWithLeakedMemoryUnlessANodeWasKilled()
    {
        tableCheck = new TableCheckFigures(100, 0, 64, 0, null);
        assertThat(passed()).isFalse();
        elasticity = new ElasticityFigures(3, 1, 5, 6, "", 7, true, true);
        assertThat(passed()).isTrue();
        tableCheck = new TableCheckFigures(100, 0, TableCheckFigures.NOT_KNOWN, 0, null);
        elasticity = new ElasticityFigures(3, 1, 5, 6, "", 7, false, true);
        assertThat(passed()).as("not known").isTrue();
    }

    @Test
    void shouldFailWithAnOperationThatEndedAfterItsDeadline()
    {
        elapsedNs = TIMEOUT_NS + DeadlineWatch.TOLERANCE_NS;
        assertThat(passed()).isTrue();
        elapsedNs++;
        assertThat(passed()).isFalse();
    }

    @Test
    void shouldFailWhenVerbsAreCountedDifferently()
    {
        for (final long atFabric : new long[]{9, 11})
        {
            verbs = new VerbAgreement(10, atFabric, 20, 21);
            assertThat(passed()).as("%d at the queue pairs while loading", atFabric).isFalse();
        }
        verbs = new VerbAgreement(10, 10, 20, 19);
        assertThat(passed()).as("fewer at the queue pairs than by operations").isFalse();
        verbs = new VerbAgreement(10, -1, 20, 0);
        assertThat(passed()).as("not counted").isTrue();
    }

    @Test
    void shouldFailUnlessANodeCameTookOverWorkAndAnotherLeftUnderLoad()
    {
        elasticity = new ElasticityFigures(0, 1, 5, 6, "", 7, false, true);
        assertThat(passed()).as("none came").isFalse();
        elasticity = new ElasticityFigures(3, 0, 5, 6, "", 7, false, true);
        assertThat(passed()).as("none left").isFalse();
        elasticity = new ElasticityFigures(3, 1, 5, -1, "", 0, false, true);
        assertThat(passed()).as("no work").isFalse();
        elasticity = new ElasticityFigures(3, 1, 5, 6, "", 7, true, false);
        assertThat(passed()).as("killed when the load was over").isFalse();
        elasticity = new ElasticityFigures(3, 1, 5, 6, "", 7, false, false);
        assertThat(passed()).as("left in order when the load was over").isTrue();
    }
}
