package io.verbena.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.rdma.sim.explore.SimExplorationReport;
import io.verbena.rdma.sim.explore.SimExplorer;
import io.verbena.rdma.sim.explore.SimExplorerOptions;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.TableMutation;
import io.verbena.test.Mutation;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * More about one pair than {@link SplitScheduleTest}: where windows begin anew and another key is there whose hash is
 * read, two operations and a splitter, an operation and two splitters. Another splitter has moved most slots before. A
 * part by default, all with {@code -Dverbena.table.allSplits=true}.
 */
class SplitPairScheduleTest
{
    private static final boolean ALL = Boolean.getBoolean("verbena.table.allSplits");
    private static final int SPLIT = TableScenario.SPLIT;
    private static final int RENEWING_DEPTH = 3;
    private static final int[] WRITERS = {
        OperationKind.PUT, OperationKind.PUT_IF_ABSENT, OperationKind.DELETE, OperationKind.INCREMENT};

    private final ExplorationTotals totals = new ExplorationTotals();

    private static SimExplorationReport report(
        final TableScenario.Race race, final int depth, final int crashes, final int steps)
    {
        final Map<String, String> verdicts = new HashMap<>();
        return new SimExplorer(new SimExplorerOptions().mostSteps(steps).mostCrashes(crashes),
            () -> new TableScenario(race, verdicts, depth)).explore();
    }

    private void explore(final int[] kinds, final int state, final int depth, final int crashes, final int steps)
    {
        final TableScenario.Race race =
            new TableScenario.Race(kinds, state > 0, state > 1, true, 1, state > 2);
        final SimExplorationReport report = report(race, depth, crashes, steps);
        totals.add(report, steps);
    }

    /** States 0 and 1: absent, where an insert moves the other key, and present. */
    @ParameterizedTest
    @CsvSource({
        "0, 12, 400, '20 races, 0 complete, 2112 states'",
        "1, 7, 400, '20 races, 0 complete, 1890 states'"})
    void shouldBeLinearizableWhereWindowsBeginAnew(
        final int crashes, final int steps, final int allSteps, final String reached)
    {
        for (int kind = 0; kind < ClientView.KINDS_WITHOUT_EXPIRE; kind++)
        {
            for (int state = 0; state < (ALL ? TableScenario.Race.STATES : 2); state++)
            {
                explore(new int[]{kind, SPLIT}, state, RENEWING_DEPTH, crashes, ALL ? allSteps : steps);
            }
        }
        totals.assertReached(reached);
    }

    /** An insert that moves the other key without reading its hash. */
    @Test
    void shouldFindViolationWhereWindowsDoNotBeginAnew()
    {
        final TableScenario.Race race = new TableScenario.Race(
            new int[]{OperationKind.PUT, SPLIT}, false, false, true);
        try (Mutation.Opened _ = TableMutation.RENEW_WINDOW.open())
        {
            assertThat(report(race, RENEWING_DEPTH, 0, 8).violation())
                .contains("its block holds a key that does not belong to this word");
        }
    }

    private static List<int[]> pairsOfWriters()
    {
        final List<int[]> pairs = new ArrayList<>();
        for (final int one : WRITERS)
        {
            for (final int other : WRITERS)
            {
                if (one <= other && (ALL || one == OperationKind.PUT))
                {
                    pairs.add(new int[]{one, other});
                }
            }
        }
        return pairs;
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0, 6, 14, '8 races, 0 complete, 687 states'",
        "3, 0, 6, 14, '8 races, 0 complete, 731 states'",
        "0, 1, 3, 9, '8 races, 0 complete, 440 states'",
        "3, 1, 3, 9, '8 races, 0 complete, 472 states'"})
    void shouldBeLinearizableWithTwoOperationsAndASplitter(
        final int depth, final int crashes, final int steps, final int allSteps, final String reached)
    {
        for (final int[] pair : pairsOfWriters())
        {
            for (int state = 0; state < 2; state++)
            {
                explore(new int[]{pair[0], pair[1], SPLIT}, state, depth, crashes, ALL ? allSteps : steps);
            }
        }
        totals.assertReached(reached);
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0, 6, 14, '8 races, 0 complete, 684 states'",
        "3, 0, 6, 14, '8 races, 0 complete, 720 states'",
        "0, 1, 3, 9, '8 races, 0 complete, 456 states'",
        "3, 1, 3, 9, '8 races, 0 complete, 472 states'"})
    void shouldBeLinearizableWithTwoSplitters(
        final int depth, final int crashes, final int steps, final int allSteps, final String reached)
    {
        for (final int kind : WRITERS)
        {
            for (int state = 0; state < 2; state++)
            {
                explore(new int[]{kind, SPLIT, SPLIT}, state, depth, crashes, ALL ? allSteps : steps);
            }
        }
        totals.assertReached(reached);
    }
}
