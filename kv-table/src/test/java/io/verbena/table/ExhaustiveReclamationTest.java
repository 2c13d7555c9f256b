package io.verbena.table;

import io.verbena.rdma.sim.explore.SimExplorationReport;
import io.verbena.table.operation.OperationKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;

import static io.verbena.table.ExplorationTotals.ALL_STEPS;
import static io.verbena.table.ExplorationTotals.DEEP;
import static io.verbena.table.ExplorationTotals.explore;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Every order of the verbs of a reaper and of one or two operations on one key, whose engines may crash; of two, more
 * kinds and verbs with {@code -Dverbena.table.deep=true}.
 */
class ExhaustiveReclamationTest
{
    /** Of three actors: those of the operations that race with reclamation. */
    private static final int[] TRIPLE_KINDS = DEEP ?
        new int[]{OperationKind.GET, OperationKind.PUT, OperationKind.PUT_IF_ABSENT, OperationKind.REPLACE,
            OperationKind.DELETE} :
        new int[]{OperationKind.PUT, OperationKind.REPLACE, OperationKind.DELETE};
    private static final int TRIPLE_STEPS = Integer.getInteger("verbena.table.tripleSteps", DEEP ? 16 : 12);

    /** An engine is taken for ended at any moment, cut off, and its memory given away; alone and beside another one. */
    @Test
    void shouldBeLinearizableWhenAnEngineIsCutOffAndItsMemoryTakenBack() throws IOException
    {
        final ExplorationTotals totals = exploreReaper(TableScenario.FENCE, 0);
        totals.report("cut off and reclaimed");
        totals.assertReached("76 races, 52 complete, 4273 states", "140 races, 129 complete, 11562 states");
    }

    @Test
    void shouldBeLinearizableWhileMemoryOfADeadEngineIsTakenBack() throws IOException
    {
        final ExplorationTotals totals = exploreReaper(TableScenario.RECLAIM, 1);
        totals.report("reclaimed, one crash");
        totals.assertReached("76 races, 52 complete, 11238 states", "140 races, 115 complete, 38318 states");
    }

    private static ExplorationTotals exploreReaper(final int reaper, final int mostCrashes)
    {
        final ExplorationTotals totals = new ExplorationTotals();
        for (int one = 0; one < ClientView.KINDS_WITHOUT_EXPIRE; one++)
        {
            for (int state = 0; state < TableScenario.Race.STATES; state++)
            {
                exploreReaper(new int[]{one, reaper}, state, mostCrashes, ALL_STEPS, totals);
            }
        }
        for (final int one : TRIPLE_KINDS)
        {
            for (final int other : TRIPLE_KINDS)
            {
                for (int state = 0; state < TableScenario.Race.STATES; state++)
                {
                    exploreReaper(new int[]{one, other, reaper}, state, 0, TRIPLE_STEPS, totals);
                }
            }
        }
        return totals;
    }

    private static void exploreReaper(
        final int[] kinds, final int state, final int mostCrashes, final int mostSteps, final ExplorationTotals totals)
    {
        final TableScenario.Race race = TableScenario.Race.of(kinds, state);
        final SimExplorationReport report = explore(race, mostCrashes, false, mostSteps);
        assertThat(report.violation()).as(race + ": " + report).isNull();
        assertThat(kinds.length > 2 || report.isComplete()).as(race + ": " + report).isTrue();
        totals.add(report, mostSteps);
    }

    /** Rights revoked after the memory is touched: the ended engine commits a block that is somebody else's. */
    @ParameterizedTest
    @CsvSource({"2, 0", "2, 2", "3, 0", "9, 1"})
    void shouldFindViolationWhenMemoryIsTakenBackBeforeTheEngineIsCutOff(final int kind, final int state)
    {
        final TableScenario.Race broken =
            TableScenario.Race.of(new int[]{kind, TableScenario.LATE_FENCE}, state);
        final SimExplorationReport report = explore(broken, 0, false, ALL_STEPS);
        assertThat(report.violation()).as(report.toString()).contains("corrupt");
    }
}
