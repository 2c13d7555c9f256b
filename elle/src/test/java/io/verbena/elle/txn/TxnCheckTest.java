package io.verbena.elle.txn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.elle.Validity;
import io.verbena.elle.history.History;
import io.verbena.elle.history.HistoryBuilder;
import io.verbena.elle.txn.isolation.AnomalyType;
import io.verbena.elle.txn.isolation.ConsistencyModel;
import io.verbena.elle.txn.isolation.CycleShape;
import io.verbena.elle.txn.isolation.EdgeKind;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

class TxnCheckTest
{
    private static final String[] READ_SKEW = {"ax1 ay1", "rx1 ry"};
    private static final String[] LONG_READ_SKEW = {"ax1", "rx1 ay1", "ry1 az1", "rz1 au1", "ru1 rx"};
    private static final TxnOptions HURRIED = new TxnOptions(true, false, false, 1, 8, () -> false);

    @Test
    void shouldNotKnowWhenNothingDependsOnAnything()
    {
        final TxnVerdict verdict = check(TxnNotation.lists("ax1", "ay1"), TxnOptions.defaults());
        assertThat(verdict.validity()).isEqualTo(Validity.UNKNOWN);
        assertThat(verdict.unknownReasons()).singleElement().asString().contains("depends on");
    }

    @Test
    void shouldNotKnowWhenStopped()
    {
        final TxnVerdict verdict = check(TxnNotation.lists(READ_SKEW), TxnOptions.defaults().stoppedBy(() -> true));
        assertThat(verdict.validity()).isEqualTo(Validity.UNKNOWN);
        assertThat(verdict.unknownReasons()).singleElement().asString().contains("stopped");
    }

    /** The answers of a condition: true at one call only, so that whoever was given it must remember. */
    private static final class StopAt implements BooleanSupplier
    {
        private final int call;
        private int calls;

        StopAt(final int call)
        {
            this.call = call;
        }

        @Override
        public boolean getAsBoolean()
        {
            return ++calls == call;
        }
    }

    @Test
    void shouldNotKnowWhenAnyPartOfTheSearchIsCutOff()
    {
        // Two components, each without what read committed forbids.
        final History history = TxnNotation.lists("ax1 ay1", "rx1 ry", "au1 av1", "ru1 rv");
        final StopAt never = new StopAt(0);
        assertThat(TxnCheck.check(history, TxnWorkload.LIST_APPEND, ConsistencyModel.READ_COMMITTED,
            TxnOptions.defaults().stoppedBy(never)).validity()).isEqualTo(Validity.VALID);
        assertThat(never.calls).as("or no search could be cut off").isGreaterThan(2 * CycleShape.variants());
        for (int call = 1; call <= never.calls; call++)
        {
            final TxnVerdict verdict = TxnCheck.check(history, TxnWorkload.LIST_APPEND,
                ConsistencyModel.READ_COMMITTED, TxnOptions.defaults().stoppedBy(new StopAt(call)));
            assertThat(verdict.validity()).as("stopped at question %d", call).isEqualTo(Validity.UNKNOWN);
            assertThat(verdict.unknownReasons()).singleElement().asString().contains("stopped");
            assertThat(check(history, TxnOptions.defaults().stoppedBy(new StopAt(call))).validity())
                .as("not serializable, stopped at question %d", call).isNotEqualTo(Validity.VALID);
        }
    }

    @Test
    void shouldNotKnowOfAHistoryInWhichNothingHappened()
    {
        for (final History history :
            List.of(new HistoryBuilder().build(), TxnNotation.lists("fail ax1", "fail ay1 rx")))
        {
            final TxnVerdict verdict = check(history, TxnOptions.defaults());
            assertThat(verdict.validity()).isEqualTo(Validity.UNKNOWN);
            assertThat(verdict.unknownReasons()).singleElement().asString().contains("shows nothing");
        }
    }

    @Test
    void shouldKnowWhenStoppedWithNothingLeftToDo()
    {
        final TxnVerdict verdict = check(TxnNotation.lists("ax1", "rx1"), TxnOptions.defaults().stoppedBy(() -> true));
        assertThat(verdict.validity()).isEqualTo(Validity.VALID);
    }

    @Test
    void shouldBeInvalidWhenStoppedAfterWhatReadsGaveAway()
    {
        final TxnVerdict verdict = check(TxnNotation.lists("ax1 ay1", "rx1 ry", "fail az1", "rz1"),
            TxnOptions.defaults().stoppedBy(() -> true));
        assertThat(verdict.validity()).isEqualTo(Validity.INVALID);
    }

    @Test
    void shouldRuleModelsOutEvenIfThereIsNoTimeForExamples()
    {
        final TxnVerdict verdict = check(TxnNotation.lists(LONG_READ_SKEW), HURRIED);
        assertThat(verdict.counts()).isEmpty();
        assertThat(verdict.validity()).isEqualTo(Validity.INVALID);
        assertThat(verdict.rulesOut(ConsistencyModel.SNAPSHOT_ISOLATION)).isTrue();
        assertThat(verdict.rulesOut(ConsistencyModel.READ_COMMITTED)).isFalse();
        assertThat(verdict.unknownReasons()).singleElement().asString().contains("G-single");
    }

    @Test
    void shouldNotKnowOfModelsThatHangOnAnExampleThereWasNoTimeFor()
    {
        final TxnVerdict verdict = TxnCheck.check(TxnNotation.lists(LONG_READ_SKEW), TxnWorkload.LIST_APPEND,
            ConsistencyModel.CONSISTENT_VIEW, HURRIED);
        assertThat(verdict.validity()).isEqualTo(Validity.UNKNOWN);
        final TxnVerdict weaker = TxnCheck.check(TxnNotation.lists(LONG_READ_SKEW), TxnWorkload.LIST_APPEND,
            ConsistencyModel.READ_COMMITTED, HURRIED);
        assertThat(weaker.validity()).isEqualTo(Validity.VALID);
    }

    @Test
    void shouldExplainEachStepOfACycle()
    {
        final TxnVerdict verdict = check(TxnNotation.lists(READ_SKEW), TxnOptions.defaults());
        final Anomaly anomaly = verdict.anomalies().getFirst();
        assertThat(anomaly.type()).isEqualTo(AnomalyType.G_SINGLE);
        assertThat(anomaly.cycle()).extracting(CycleStep::explanation).containsExactly(
            "T1 read key \"y\" as [] and so did not see the append of 1 by T0",
            "T1 read key \"x\" as [1], whose last element 1 is of T0");
        assertThat(anomaly.transactions()).containsExactly(1, 0);
        assertThat(anomaly.text()).endsWith("so T1 comes before itself");
    }

    @Test
    void shouldFindTheShortestCycle()
    {
        // A ring of five by ww and wr, and a shortcut that leaves three of it.
        final TxnVerdict verdict = check(TxnNotation.lists(
            "ax1 rv1", "rx1 ay1", "ry1 az1", "rz1 aw1 rx1", "rw1 av1", "rw1 au1 rx1", "ru1 av2", "rv12"),
            TxnOptions.defaults());
        assertThat(verdict.anomalies().getFirst().cycle()).hasSizeLessThanOrEqualTo(5);
        assertThat(verdict.counts()).containsOnlyKeys(AnomalyType.G1C);
    }

    @Test
    void shouldDrawOneStepOfRealTimeHoweverMuchLiesBetween()
    {
        final List<String> lines = new ArrayList<>(List.of("@0-1 ax1"));
        for (int i = 1; i < 40; i++)
        {
            lines.add("@" + 2 * i + "-" + (2 * i + 1) + " ay" + i);
        }
        lines.add("@90-91 rx");
        final TxnVerdict verdict = check(TxnNotation.lists(lines.toArray(new String[0])), TxnOptions.defaults());
        assertThat(verdict.anomalies()).singleElement().satisfies(anomaly ->
            assertThat(anomaly.cycle()).extracting(CycleStep::kind)
                .containsExactlyInAnyOrder(EdgeKind.RW, EdgeKind.REALTIME));
    }

    @Test
    void shouldNeedFewEdgesWhenAStoreLosesEveryAppend()
    {
        final int each = 3_000;
        final String[] lines = new String[2 * each];
        for (int i = 0; i < each; i++)
        {
            lines[i] = "ax" + (i + 1);
            lines[each + i] = "@1001-1002 rx";
        }
        final TxnVerdict verdict = check(TxnNotation.lists(lines), TxnOptions.defaults());
        assertThat(verdict.counts()).containsKey(AnomalyType.G_SINGLE_REALTIME);
        assertThat(verdict.statistics().edges()).isLessThan(10 * lines.length);
    }

    @Test
    void shouldCountWhatItDoesNotDescribe()
    {
        final String[] lines = new String[50];
        for (int i = 0; i < lines.length; i += 2)
        {
            lines[i] = "fail a" + (char)('A' + i / 2) + "1";
            lines[i + 1] = "r" + (char)('A' + i / 2) + "1";
        }
        final TxnVerdict verdict = check(TxnNotation.lists(lines), TxnOptions.defaults());
        assertThat(verdict.counts()).containsEntry(AnomalyType.G1A, 25);
        assertThat(verdict.anomalies()).hasSize(TxnOptions.defaults().maxExamples());
    }

    @Test
    void shouldNameTheWorkloadsWhenOneIsUnknown()
    {
        assertThatThrownBy(() -> TxnWorkload.ofWord("bank")).hasMessageContaining("list-append");
    }

    private static TxnVerdict check(final History history, final TxnOptions options)
    {
        return TxnCheck.check(history, TxnWorkload.LIST_APPEND, ConsistencyModel.STRICT_SERIALIZABLE, options);
    }
}
