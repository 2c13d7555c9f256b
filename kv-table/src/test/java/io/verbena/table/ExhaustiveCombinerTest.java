package io.verbena.table;

import io.verbena.rdma.sim.SimExplorationReport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;

import static io.verbena.table.ExplorationTotals.ALL_STEPS;
import static io.verbena.table.ExplorationTotals.MOST_STEPS;
import static io.verbena.table.ExplorationTotals.explore;
import static io.verbena.table.ExplorationTotals.mayInsert;
import static org.assertj.core.api.Assertions.assertThat;

/** Every order of the verbs of engines that combine writers of one key, and crash between any two. */
class ExhaustiveCombinerTest
{
    private static final int COMBINED = 3;
    private static final int COMBINED_STEPS = Integer.getInteger("verbena.table.combinedSteps", 14);
    private static final int[][] COMBINED_KINDS = {
        {OperationKind.PUT}, {OperationKind.INCREMENT},
        {OperationKind.PUT, OperationKind.PUT}, {OperationKind.INCREMENT, OperationKind.INCREMENT},
        {OperationKind.PUT, OperationKind.INCREMENT}};

    /** Three writers of each engine that go together: one leads, two become a batch when it has ended. */
    @Test
    void shouldBeLinearizableWhenCombinedWritersCrashBetweenAnyTwoVerbs() throws IOException
    {
        final ExplorationTotals totals = new ExplorationTotals();
        for (final int[] kinds : COMBINED_KINDS)
        {
            for (int state = 0; state < TableScenario.Race.STATES - 1; state++)
            {
                final boolean isEndless = state == 0 && mayInsert(kinds[kinds.length - 1]) && kinds.length > 1;
                final TableScenario.Race race =
                    new TableScenario.Race(kinds, state > 0, state > 1, 0, false, COMBINED, 0);
                final SimExplorationReport report =
                    explore(race, kinds.length, false, isEndless ? COMBINED_STEPS : ALL_STEPS);
                assertThat(report.violation()).as(race + ": " + report).isNull();
                totals.add(report);
            }
        }
        totals.report("combined writers, up to two crashes");
        assertThat(totals.schedules()).as(totals.toString()).isGreaterThan(100_000);
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({"MEMBERS_TOLD_LAST, 7, 2", "MEMBERS_TOLD_LAST, 2, 0"})
    void shouldFindViolationWhenGuardOfTheCombinerIsDropped(final String guard, final int kind, final int state)
        throws ReflectiveOperationException
    {
        final int bit = (int)CombinerGuard.class.getDeclaredField(guard).get(null);
        final TableScenario.Race broken =
            new TableScenario.Race(new int[]{kind, kind}, state > 0, state > 1, 0, false, COMBINED, bit);
        final SimExplorationReport report = explore(broken, 1, false, MOST_STEPS);
        assertThat(report.violation()).as(report.toString()).isNotNull();
    }
}
