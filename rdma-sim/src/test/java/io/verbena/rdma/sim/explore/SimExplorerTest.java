package io.verbena.rdma.sim.explore;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.HashSet;
import java.util.Set;
import java.util.TreeSet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** All orders means all: counted by hand, against plain enumeration, and with bugs that only some orders show. */
class SimExplorerTest
{
    private static SimExplorationReport explore(
        final SimExplorerOptions options, final CounterScenario.Kind kind, final int writers)
    {
        return new SimExplorer(options, () -> new CounterScenario(kind, writers)).explore();
    }

    @Test
    void shouldProveCounterOfTwoWritersWithSwap()
    {
        final SimExplorationReport report =
            explore(new SimExplorerOptions(), CounterScenario.Kind.COMPARE_SWAP, 2);
        assertThat(report.violation()).as(report.toString()).isNull();
        assertThat(report.isComplete()).as(report.toString()).isTrue();
        assertThat(report.ends()).isPositive();
        assertThat(report.cutShort()).isZero();
    }

    @Test
    void shouldProveCounterWhenWritersCrashBetweenAnyTwoVerbs()
    {
        final SimExplorationReport report =
            explore(new SimExplorerOptions().mostCrashes(2), CounterScenario.Kind.COMPARE_SWAP, 2);
        assertThat(report.isComplete()).as(report.toString()).isTrue();
    }

    @Test
    void shouldFindLostUpdateOfReadThenWriteByShortestSchedule()
    {
        final SimExplorer explorer = new SimExplorer(
            new SimExplorerOptions(), () -> new CounterScenario(CounterScenario.Kind.READ_THEN_WRITE, 2));
        final SimExplorationReport report = explorer.explore();
        assertThat(report.isComplete()).isFalse();
        assertThat(report.violation()).contains("counter is 1, acknowledged 2");
        // Both read before either writes: four requests.
        assertThat(report.schedule()).hasSize(4);
        assertThat(report.schedule().subList(0, 2)).allMatch(line -> line.contains("READ"));
        assertThat(report.schedule().subList(2, 4)).allMatch(line -> line.contains("WRITE"));
        assertThat(explorer.replay(report.choices())).isEqualTo(report.violation());
        assertThat(explorer.replay()).isNull();
    }

    @Test
    void shouldLandLateWriteOfCrashedWriterOrNot()
    {
        // Another writer takes over from a dead one without fencing it: only a late request shows that this is wrong.
        final SimExplorerOptions options = new SimExplorerOptions();
        assertThat(explore(options, CounterScenario.Kind.TAKE_OVER, 2).violation()).isNull();
        final SimExplorationReport report =
            explore(options.mostCrashes(1), CounterScenario.Kind.TAKE_OVER, 2);
        assertThat(report.violation()).as(report.toString()).isNotNull();
        assertThat(report.schedule()).anyMatch(line -> line.endsWith("crashes"))
            .anyMatch(line -> line.contains("(crashed): WRITE"));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void shouldMeetEveryOutcomeThatPlainEnumerationMeets(final int writers)
    {
        final Set<String> pruned = new TreeSet<>();
        final SimExplorationReport report = new SimExplorer(
            new SimExplorerOptions(), () -> new CounterScenario(CounterScenario.Kind.RECORD_FOUND, writers, pruned))
            .explore();
        final Set<String> all = new TreeSet<>();
        final long orders = CounterScenario.enumerate(writers, all);
        assertThat(pruned).isEqualTo(all);
        assertThat(report.isComplete()).isTrue();
        assertThat(report.runs()).isLessThanOrEqualTo(orders);
        assertThat(report.schedules()).isEqualTo(orders);
        assertThat(report.transitions()).isEqualTo(report.states() - 1 + report.pruned());
    }

    /** Of steps that commute one order is run; no state and no outcome gets lost, and no schedule is left uncounted. */
    @ParameterizedTest
    @EnumSource(CounterScenario.Kind.class)
    void shouldMeetTheSameStatesInFewerOrders(final CounterScenario.Kind kind)
    {
        final Set<String> outcomes = new TreeSet<>();
        final SimExplorationReport reduced = exploreLines(kind, false, outcomes);
        final Set<String> all = new TreeSet<>();
        final SimExplorationReport full = exploreLines(kind, true, all);
        assertThat(outcomes).isEqualTo(all);
        assertThat(reduced.violation() == null).isEqualTo(full.violation() == null);
        assertThat(reduced.schedule()).hasSameSizeAs(full.schedule());
        if (full.violation() == null)
        {
            assertThat(reduced.states()).isEqualTo(full.states());
            assertThat(reduced.schedules()).isEqualTo(full.schedules());
            assertThat(reduced.transitions()).isLessThan(full.transitions());
        }
    }

    private static SimExplorationReport exploreLines(
        final CounterScenario.Kind kind, final boolean everyOrder, final Set<String> outcomes)
    {
        return new SimExplorer(new SimExplorerOptions().lines(true).mostCrashes(1).everyOrder(everyOrder),
            () -> new CounterScenario(kind, 3, outcomes)).explore();
    }

    @Test
    void shouldSayWhichBoundWasHit()
    {
        final SimExplorationReport steps =
            explore(new SimExplorerOptions().mostSteps(3), CounterScenario.Kind.COMPARE_SWAP, 2);
        assertThat(steps.isComplete()).isFalse();
        assertThat(steps.cutShort()).isPositive();
        assertThat(steps.longest()).isEqualTo(3);
        final SimExplorationReport states =
            explore(new SimExplorerOptions().mostStates(4), CounterScenario.Kind.COMPARE_SWAP, 2);
        assertThat(states.isComplete()).isFalse();
        assertThat(states.isStateBoundHit()).isTrue();
        assertThat(states.states()).isEqualTo(4);
        assertThat(states.toString()).contains("not complete").contains("bound of states hit");
    }

    @Test
    void shouldTearByLinesOnlyWhenAsked()
    {
        final Set<String> whole = new HashSet<>();
        final Set<String> torn = new HashSet<>();
        new SimExplorer(new SimExplorerOptions(),
            () -> new CounterScenario(CounterScenario.Kind.TWO_LINES, 2, whole)).explore();
        new SimExplorer(new SimExplorerOptions().lines(true),
            () -> new CounterScenario(CounterScenario.Kind.TWO_LINES, 2, torn)).explore();
        assertThat(whole).containsExactlyInAnyOrder("00", "11");
        assertThat(torn).containsExactlyInAnyOrder("00", "11", "01", "10");
    }

    @Test
    void shouldOvertakeOnlyWhenAsked()
    {
        final Set<String> strict = new HashSet<>();
        final Set<String> weak = new HashSet<>();
        new SimExplorer(new SimExplorerOptions(),
            () -> new CounterScenario(CounterScenario.Kind.ADD_THEN_READ, 1, strict)).explore();
        new SimExplorer(new SimExplorerOptions().weakOrder(true),
            () -> new CounterScenario(CounterScenario.Kind.ADD_THEN_READ, 1, weak)).explore();
        assertThat(strict).containsExactly("1");
        assertThat(weak).containsExactlyInAnyOrder("0", "1");
    }

    @Test
    void shouldRefuseScenarioThatIsNotDeterministic()
    {
        final int[] runs = new int[1];
        assertThatThrownBy(() -> new SimExplorer(new SimExplorerOptions(),
            () -> new CounterScenario(CounterScenario.Kind.COMPARE_SWAP, 2 - runs[0]++ % 2)).explore())
            .isInstanceOf(IllegalStateException.class).hasMessageContaining("deterministic");
    }
}
