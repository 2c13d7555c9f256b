package io.verbena.table;

import io.verbena.rdma.sim.explore.SimExplorationReport;
import io.verbena.rdma.sim.explore.SimExplorer;
import io.verbena.rdma.sim.explore.SimExplorerOptions;
import io.verbena.table.operation.OperationKind;
import org.junit.jupiter.api.Test;

import java.util.HashMap;
import java.util.Map;

import static io.verbena.table.ExplorationTotals.ALL_STEPS;
import static io.verbena.table.ExplorationTotals.MOST_STEPS;
import static io.verbena.table.ExplorationTotals.mayInsert;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Every order of the verbs of two operations on one key that is digits, or absent, one of which is an increment; with
 * engines that crash between any two verbs. To one of the engines numbers are digits, to the other 8 bytes.
 */
class ExhaustiveCounterFormTest
{
    /** 2, of all races, takes a minute or two; 1 is for those that begin with the key there. */
    private static final int MOST_CRASHES = Integer.getInteger("verbena.table.formCrashes", 1);

    private static SimExplorationReport explore(
        final TableScenario.Race race, final int mostCrashes, final boolean weakOrder, final int mostSteps)
    {
        final Map<String, String> verdicts = new HashMap<>();
        final SimExplorationReport report = new SimExplorer(
            new SimExplorerOptions().mostSteps(mostSteps).mostCrashes(mostCrashes).weakOrder(weakOrder), () ->
        {
            final TableScenario scenario = new TableScenario(race, verdicts);
            scenario.areDigits = true;
            scenario.byState = !weakOrder;
            return scenario;
        }).explore();
        assertThat(verdicts.keySet()).as(race.toString()).isNotEmpty()
            .noneMatch(outcome -> outcome.contains("not_a_counter"));
        return report;
    }

    private static ExplorationTotals exploreAll(final int mostCrashes, final boolean weakOrder)
    {
        final ExplorationTotals totals = new ExplorationTotals();
        for (int other = 0; other < ClientView.KINDS_WITHOUT_EXPIRE; other++)
        {
            // Digits behind digits are digits, which the checker would have to know.
            for (int i = 0; i < 2 * TableScenario.Race.STATES && other != OperationKind.APPEND; i++)
            {
                final int state = i / 2;
                if (mostCrashes != 1 || (state == 1 || state == 2) && (other + i) % 2 == 0)
                {
                    final int[] kinds = i % 2 == 0 ?
                        new int[]{OperationKind.INCREMENT, other} : new int[]{other, OperationKind.INCREMENT};
                    final boolean isEndless = state == 0 && mayInsert(other);
                    final int mostSteps = isEndless ? MOST_STEPS : ALL_STEPS;
                    final TableScenario.Race race = TableScenario.Race.of(kinds, state);
                    final SimExplorationReport report = explore(race, mostCrashes, weakOrder, mostSteps);
                    assertThat(report.violation()).as(race + ": " + report).isNull();
                    totals.add(report, mostSteps);
                }
            }
        }
        return totals;
    }

    @Test
    void shouldBeLinearizableInEverySchedule()
    {
        exploreAll(0, false).assertReached("72 races, 66 complete, 5218 states");
    }

    @Test
    void shouldBeLinearizableWhenAnEngineMayCrashBetweenAnyTwoVerbs()
    {
        exploreAll(MOST_CRASHES, false).assertReached("18 races, 18 complete, 2318 states");
    }

    @Test
    void shouldBeLinearizableWhenRequestsOvertakeWhereTheyMay()
    {
        exploreAll(MOST_CRASHES - 1, true).assertReached("72 races, 66 complete, 5786 states");
    }
}
