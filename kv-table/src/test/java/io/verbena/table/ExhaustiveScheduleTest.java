package io.verbena.table;

import io.verbena.rdma.sim.explore.SimExplorationReport;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.TableMutation;
import io.verbena.test.Mutation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

import static io.verbena.table.ExplorationTotals.ALL_STEPS;
import static io.verbena.table.ExplorationTotals.DEEP;
import static io.verbena.table.ExplorationTotals.GOES_TO_THE_END;
import static io.verbena.table.ExplorationTotals.MOST_STEPS;
import static io.verbena.table.ExplorationTotals.NO_BOUND;
import static io.verbena.table.ExplorationTotals.explore;
import static io.verbena.table.ExplorationTotals.mayInsert;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Every order of the verbs of two operations on one key, with engines that crash between any two verbs and whose last
 * requests land late or never. Complete for all pairs but those that may both insert, which can hinder each other for
 * ever: there every order of the first verbs, after which one runs to its end and then the other. Their states are
 * finite all the same, so that they too are explored to the end where nobody crashes, and else, in some minutes, with
 * {@code -Dverbena.table.toTheEnd=true}. Where one may crash six of the ten kinds; all, and one more crash, with {@code
 * -Dverbena.table.deep=true}.
 */
class ExhaustiveScheduleTest
{
    /** The least that show that a fence is missing. */
    private static final int WEAK_STEPS = 17;
    private static final Set<Integer> CRASHING_KINDS = Set.of(
        OperationKind.GET, OperationKind.PUT, OperationKind.PUT_IF_ABSENT, OperationKind.REPLACE, OperationKind.DELETE,
        OperationKind.APPEND);
    private static final int MOST_CRASHES_COMPARED = Integer.getInteger("verbena.table.crashesCompared", 0);

    /** Which kinds race where engines may crash, which takes most: all of them if deep. */
    private static boolean isExplored(final int kind, final int mostCrashes)
    {
        return mostCrashes == 0 || DEEP || CRASHING_KINDS.contains(kind);
    }

    private static ExplorationTotals exploreAll(final int mostCrashes, final boolean weakOrder)
    {
        final ExplorationTotals totals = new ExplorationTotals();
        for (int one = 0; one < ClientView.KINDS_WITHOUT_EXPIRE; one++)
        {
            for (int other = 0; other <= one; other++)
            {
                final boolean isExplored = isExplored(one, mostCrashes) && isExplored(other, mostCrashes);
                for (int state = 0; isExplored && state < TableScenario.Race.STATES; state++)
                {
                    final boolean isEndless = state == 0 && mayInsert(one) && mayInsert(other);
                    final boolean goesToTheEnd = !isEndless || GOES_TO_THE_END || mostCrashes == 0 && !weakOrder;
                    final TableScenario.Race race =
                        TableScenario.Race.of(new int[]{one, other}, state);
                    final int mostSteps = !goesToTheEnd ? MOST_STEPS : isEndless ? NO_BOUND : ALL_STEPS;
                    final SimExplorationReport report = explore(race, mostCrashes, weakOrder, mostSteps);
                    assertThat(report.violation()).as(race + ", crashes up to " + mostCrashes + ": " + report).isNull();
                    assertThat(report.isComplete()).as(race + ": " + report).isEqualTo(goesToTheEnd);
                    totals.add(report, mostSteps);
                }
            }
        }
        return totals;
    }

    @Test
    void shouldBeLinearizableInEverySchedule() throws IOException
    {
        final ExplorationTotals totals = exploreAll(0, false);
        totals.report("pairs");
        totals.assertReached("220 races, 220 complete, 43088 states");
    }

    @Test
    void shouldBeLinearizableWhenEnginesMayCrashBetweenAnyTwoVerbs() throws IOException
    {
        final ExplorationTotals totals = exploreAll(DEEP ? 2 : 1, false);
        totals.report("pairs, up to " + (DEEP ? "two crashes" : "one crash"));
        totals.assertReached("84 races, 78 complete, 20877 states", "220 races, 210 complete, 67565 states");
    }

    @Test
    void shouldBeLinearizableWhenRequestsOvertakeWhereTheyMay() throws IOException
    {
        final ExplorationTotals totals = exploreAll(DEEP ? 1 : 0, true);
        totals.report("pairs, weak order, " + (DEEP ? "one crash" : "no crash"));
        totals.assertReached("220 races, 210 complete, 11856 states", "220 races, 210 complete, 51541 states");
    }

    /** What engines are may be taken for what they saw: no outcome is missed by that. */
    @Test
    void shouldMeetTheSameOutcomesByStatesAsByHistories()
    {
        for (int one = 0; one < ClientView.KINDS_WITHOUT_EXPIRE; one++)
        {
            for (int state = 0; state < TableScenario.Race.STATES; state++)
            {
                final TableScenario.Race race =
                    TableScenario.Race.of(new int[]{one, OperationKind.PUT_IF_PRESENT}, state);
                assertThat(outcomes(race, true)).as(race.toString()).isEqualTo(outcomes(race, false)).isNotEmpty();
            }
        }
    }

    private static Set<String> outcomes(final TableScenario.Race race, final boolean byState)
    {
        final Map<String, String> verdicts = new HashMap<>();
        assertThat(explore(race, MOST_CRASHES_COMPARED, false, ALL_STEPS, byState, verdicts).isComplete()).isTrue();
        return verdicts.keySet();
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "RE_READ, 2, 2, 0, false, 'two committed words of one key'",
        "SLOT_READ, 2, 0, 2, false, 'get 0 -> [100 '",
        "FAILED_KILL, 2, 2, 0, false, 'two committed words of one key'",
        "COMMIT, 3, 3, 0, false, 'put-if-absent 0 102 -> 1'",
        "WRITE_BEFORE_CAS, 2, 0, 1, false, 'AssertionError: corrupt'",
        "KILL, 2, 2, 0, false, 'two committed words of one key'",
        "NEVER_RETURNED_WORD, 2, 2, 1, false, 'get 0 -> [101 '",
        "KILL_SEEN_AGAIN, 2, 2, 0, false, 'does not end: engine-1'",
        "FENCE, 2, 2, 0, true, 'two committed words of one key'"})
    void shouldFindViolationWhenMutated(
        final String name,
        final int one,
        final int other,
        final int state,
        final boolean weakOrder,
        final String symptom)
    {
        final TableScenario.Race race = TableScenario.Race.of(new int[]{one, other}, state);
        try (Mutation.Opened _ = TableMutation.named(name).open())
        {
            // In weak order the search for the shortest schedule takes three times as long with one verb more.
            final SimExplorationReport report = explore(race, 0, weakOrder, weakOrder ? WEAK_STEPS : MOST_STEPS);
            assertThat(report.violation()).as(report.toString()).contains(symptom);
            assertThat(report.schedule()).hasSizeBetween(1, MOST_STEPS);
        }
        assertThat(explore(race, 0, weakOrder, MOST_STEPS).violation()).isNull();
    }
}
