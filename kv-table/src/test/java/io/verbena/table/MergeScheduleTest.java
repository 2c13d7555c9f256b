package io.verbena.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.rdma.sim.explore.SimExplorationReport;
import io.verbena.rdma.sim.explore.SimExplorer;
import io.verbena.rdma.sim.explore.SimExplorerOptions;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.TableMutation;
import io.verbena.test.Mutation;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Every order of the verbs of a merge and an operation, with either of them crashing between any two verbs. The key's
 * word has to go to another slot. <em>Placing</em>: somebody who died has frozen all slots and initialised most; that
 * is explored to the end. <em>Freezing</em>: he has frozen all slots but three; <em>fresh</em>: the merge begins with
 * the race; of these every order of the first verbs is explored, of more verbs with {@code
 * -Dverbena.table.deep=true}. A small part by default, more races with {@code -Dverbena.table.allMerges=true}.
 */
class MergeScheduleTest
{
    private static final boolean ALL = Boolean.getBoolean("verbena.table.allMerges");
    private static final int ALL_STEPS = 600;
    private static final int STATES = TableScenario.Race.STATES;

    private static SimExplorationReport explore(
        final TableScenario.Race race, final int mostCrashes, final int mostSteps)
    {
        final Map<String, String> verdicts = new HashMap<>();
        return new SimExplorer(new SimExplorerOptions().mostSteps(mostSteps).mostCrashes(mostCrashes),
            () -> new TableScenario(race, verdicts)).explore();
    }

    @ParameterizedTest
    @CsvSource({
        "0, freezing, 16, '10 races, 0 complete, 2069 states'",
        "0, placing, 600, '10 races, 10 complete, 26213 states'",
        "0, fresh, 40, '10 races, 0 complete, 1766 states'",
        "1, freezing, 12, '10 races, 0 complete, 2366 states'",
        "1, fresh, 20, '10 races, 0 complete, 4169 states'"})
    void shouldBeLinearizableWhileAMergeGoesOn(
        final int mostCrashes, final String stage, final int mostSteps, final String reached)
    {
        shouldBeLinearizable(mostCrashes, stage, mostSteps, reached);
    }

    @ParameterizedTest
    @EnabledIfSystemProperty(named = "verbena.table.deep", matches = "true")
    @CsvSource({
        "0, freezing, 20, '10 races, 0 complete, 6487 states'",
        "1, freezing, 16, '10 races, 0 complete, 7352 states'",
        "1, fresh, 24, '10 races, 0 complete, 5459 states'"})
    void shouldBeLinearizableForLongerWhileAMergeGoesOn(
        final int mostCrashes, final String stage, final int mostSteps, final String reached)
    {
        shouldBeLinearizable(mostCrashes, stage, mostSteps, reached);
    }

    private static void shouldBeLinearizable(
        final int mostCrashes, final String stage, final int mostSteps, final String reached)
    {
        final ExplorationTotals totals = new ExplorationTotals();
        for (int kind = 0; kind < ClientView.KINDS_WITHOUT_EXPIRE; kind++)
        {
            for (int state = 0; state < STATES; state++)
            {
                if (!ALL && state != 2)
                {
                    continue;
                }
                final int merge = stage.equals("placing") ? TableScenario.MERGE_PLACING : TableScenario.MERGE;
                final TableScenario.Race race = new TableScenario.Race(
                    new int[]{kind, merge}, state > 0, state > 1, !stage.equals("fresh"), 1, state > 2);
                final SimExplorationReport report = explore(race, mostCrashes, mostSteps);
                assertThat(report.violation()).as(race + ": " + report).isNull();
                assertThat(report.isComplete()).as(race + ": " + report).isEqualTo(mostSteps == ALL_STEPS);
                totals.add(report, mostSteps);
            }
        }
        totals.assertReached(reached);
    }

    /** The slot that the key has had is initialised with another one's word, and its new one is not. */
    @Test
    void shouldFindViolationWhenAReaderTakesWordsOfAGroupThatIsNotComplete()
    {
        final TableScenario.Race race = new TableScenario.Race(
            new int[]{OperationKind.GET, TableScenario.MERGE_PLACING}, true, false, true);
        try (Mutation.Opened _ = TableMutation.UNIT_AT_ONCE.open())
        {
            assertThat(explore(race, 0, ALL_STEPS).violation()).contains("No order explains", "get 0 -> nil");
        }
    }
}
