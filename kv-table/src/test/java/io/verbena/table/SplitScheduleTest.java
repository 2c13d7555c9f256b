package io.verbena.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.rdma.sim.explore.SimExplorationReport;
import io.verbena.rdma.sim.explore.SimExplorer;
import io.verbena.rdma.sim.explore.SimExplorerOptions;
import io.verbena.table.operation.OperationKind;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Every order of the verbs of a split and an operation, with either of them crashing between any two verbs.
 * <em>Moving</em>: another splitter has moved all slots but four before it died; that is explored to the end. Else the
 * split begins with the race, and every order of the first verbs is explored: 24, and 18 where one may crash, unless
 * {@code -Dverbena.table.deep=true}. A small part of the races by default, all with
 * {@code -Dverbena.table.allSplits=true}.
 */
class SplitScheduleTest
{
    private static final boolean ALL = Boolean.getBoolean("verbena.table.allSplits");
    private static final int ALL_STEPS = 400;
    private static final int STATES = TableScenario.Race.STATES;

    private static SimExplorationReport explore(
        final TableScenario.Race race, final int mostCrashes, final int mostSteps)
    {
        final Map<String, String> verdicts = new HashMap<>();
        return new SimExplorer(new SimExplorerOptions().mostSteps(mostSteps).mostCrashes(mostCrashes),
            () -> new TableScenario(race, verdicts)).explore();
    }

    /** Cheap ones: absent keys that an operation may insert or move slots for make ten times the states. */
    private static boolean isSmall(final int kind, final int state, final int mostCrashes)
    {
        return state == 2 || OperationKind.isRead(kind) && (mostCrashes == 0 || ExplorationTotals.DEEP);
    }

    @ParameterizedTest
    @CsvSource({
        "0, true, 400, '16 races, 16 complete, 5624 states', '16 races, 16 complete, 5624 states'",
        "0, false, 24, '16 races, 0 complete, 2911 states', '16 races, 0 complete, 2911 states'",
        "1, true, 400, '10 races, 10 complete, 9520 states', '16 races, 16 complete, 14710 states'",
        "1, false, 18, '10 races, 0 complete, 4105 states', '16 races, 0 complete, 9103 states'"})
    void shouldBeLinearizableWhileASplitGoesOn(
        final int mostCrashes, final boolean isMoving, final int mostSteps, final String reached, final String deep)
    {
        shouldBeLinearizable(mostCrashes, isMoving, mostSteps, ExplorationTotals.DEEP ? deep : reached);
    }

    @ParameterizedTest
    @EnabledIfSystemProperty(named = "verbena.table.deep", matches = "true")
    @CsvSource("1, false, 24, '16 races, 0 complete, 21144 states'")
    void shouldBeLinearizableForLongerWhileASplitGoesOn(
        final int mostCrashes, final boolean isMoving, final int mostSteps, final String reached)
    {
        shouldBeLinearizable(mostCrashes, isMoving, mostSteps, reached);
    }

    private static void shouldBeLinearizable(
        final int mostCrashes, final boolean isMoving, final int mostSteps, final String reached)
    {
        final ExplorationTotals totals = new ExplorationTotals();
        for (int kind = 0; kind < ClientView.KINDS_WITHOUT_EXPIRE; kind++)
        {
            for (int state = 0; state < STATES; state++)
            {
                if (!ALL && !isSmall(kind, state, mostCrashes))
                {
                    continue;
                }
                final TableScenario.Race race =
                    new TableScenario.Race(
                        new int[]{kind, TableScenario.SPLIT}, state > 0, state > 1, isMoving, 1, state > 2);
                final SimExplorationReport report = explore(race, mostCrashes, mostSteps);
                assertThat(report.violation()).as(race + ": " + report).isNull();
                assertThat(report.isComplete()).as(race + ": " + report).isEqualTo(mostSteps == ALL_STEPS);
                totals.add(report, mostSteps);
            }
        }
        totals.assertReached(reached);
    }
}
