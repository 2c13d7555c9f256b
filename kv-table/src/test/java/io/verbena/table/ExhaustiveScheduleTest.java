package io.verbena.table;

import io.verbena.rdma.sim.SimExplorationReport;
import io.verbena.rdma.sim.SimExplorer;
import io.verbena.rdma.sim.SimExplorerOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.HashMap;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Every order of the verbs of two operations on one key, with engines that crash between any two verbs and whose last
 * requests land late or never. Complete for all pairs but those that may both insert, which can hinder each other for
 * ever: there every order of the first verbs, after which one runs to its end and then the other.
 */
class ExhaustiveScheduleTest
{
    private static final int MOST_STEPS = Integer.getInteger("verbena.table.mostSteps", 18);
    private static final int ALL_STEPS = 60;
    private static final int STATES = 3;

    /** Sums over many races. */
    private static final class Totals
    {
        private long races;
        private long complete;
        private long states;
        private long transitions;
        private long runs;
        private long schedules;

        private void add(final SimExplorationReport report)
        {
            races++;
            complete += report.isComplete() ? 1 : 0;
            states += report.states();
            transitions += report.transitions();
            runs += report.runs();
            schedules += report.schedules();
        }

        @Override
        public String toString()
        {
            return "races=" + races + ", complete=" + complete + ", states=" + states + ", transitions=" +
                transitions + ", runs=" + runs + ", schedules=" + schedules;
        }
    }

    private static boolean mayInsert(final int kind)
    {
        return kind == OperationKind.PUT || kind == OperationKind.PUT_IF_ABSENT || kind == OperationKind.INCREMENT ||
            kind == OperationKind.APPEND;
    }

    private static SimExplorationReport explore(
        final TableScenario.Race race, final int mostCrashes, final boolean weakOrder, final int mostSteps)
    {
        final Map<String, String> verdicts = new HashMap<>();
        final SimExplorerOptions options =
            new SimExplorerOptions().mostSteps(mostSteps).mostCrashes(mostCrashes).weakOrder(weakOrder);
        return new SimExplorer(options, () -> new TableScenario(race, verdicts)).explore();
    }

    private static Totals exploreAll(final int mostCrashes, final boolean weakOrder)
    {
        final Totals totals = new Totals();
        for (int one = 0; one < OperationKind.COUNT; one++)
        {
            for (int other = 0; other <= one; other++)
            {
                for (int state = 0; state < STATES; state++)
                {
                    final boolean isEndless = state == 0 && mayInsert(one) && mayInsert(other);
                    final TableScenario.Race race =
                        new TableScenario.Race(new int[]{one, other}, state > 0, state > 1, 0);
                    final SimExplorationReport report =
                        explore(race, mostCrashes, weakOrder, isEndless ? MOST_STEPS : ALL_STEPS);
                    assertThat(report.violation()).as(race + ", crashes up to " + mostCrashes + ": " + report).isNull();
                    assertThat(report.isComplete()).as(race + ": " + report).isNotEqualTo(isEndless);
                    totals.add(report);
                }
            }
        }
        return totals;
    }

    @Test
    void shouldBeLinearizableInEverySchedule()
    {
        final Totals totals = exploreAll(0, false);
        assertThat(totals.schedules).as(totals.toString()).isGreaterThan(50_000);
    }

    @Test
    void shouldBeLinearizableWhenBothEnginesMayCrashBetweenAnyTwoVerbs()
    {
        final Totals totals = exploreAll(2, false);
        assertThat(totals.schedules).as(totals.toString()).isGreaterThan(2_000_000);
    }

    @Test
    void shouldBeLinearizableWhenRequestsOvertakeWhereTheyMay()
    {
        final Totals totals = exploreAll(1, true);
        assertThat(totals.schedules).as(totals.toString()).isGreaterThan(500_000);
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "RE_READ, 2, 2, 0, false",
        "SLOT_READ, 2, 0, 2, false",
        "FAILED_KILL, 2, 2, 0, false",
        "COMMIT, 3, 3, 0, false",
        "WRITE_BEFORE_CAS, 2, 0, 1, false",
        "KILL, 2, 2, 0, false",
        "NEVER_RETURNED_WORD, 2, 2, 1, false",
        "KILL_SEEN_AGAIN, 2, 2, 0, false",
        "FENCE, 2, 2, 0, true"})
    void shouldFindViolationWhenGuardIsDropped(
        final String guard, final int one, final int other, final int state, final boolean weakOrder)
        throws ReflectiveOperationException
    {
        final int bit = (int)Guard.class.getDeclaredField(guard).get(null);
        final int[] kinds = {one, other};
        final TableScenario.Race broken = new TableScenario.Race(kinds, state > 0, state > 1, bit);
        final SimExplorationReport report = explore(broken, 0, weakOrder, MOST_STEPS);
        assertThat(report.violation()).as(report.toString()).isNotNull();
        assertThat(report.schedule()).hasSizeBetween(1, MOST_STEPS);
        final TableScenario.Race whole = new TableScenario.Race(kinds, state > 0, state > 1, 0);
        assertThat(explore(whole, 0, weakOrder, MOST_STEPS).violation()).isNull();
    }
}
