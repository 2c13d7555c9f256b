package io.verbena.table;

import io.verbena.rdma.sim.explore.SimExplorationReport;
import io.verbena.rdma.sim.explore.SimExplorer;
import io.verbena.rdma.sim.explore.SimExplorerOptions;
import io.verbena.table.operation.OperationKind;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Every order of the verbs of operations and sweeps on a key whose record is behind its deadline by the clocks of some
 * of their engines, or of all, which may crash between any two verbs.
 */
class ExhaustiveExpiryTest
{
    private static final int MOST_STEPS = ExplorationTotals.ALL_STEPS;
    /** Of three actors, those whose first verbs are explored in every order. */
    private static final int TRIPLE_STEPS = Integer.getInteger("verbena.table.tripleSteps", 16);
    private static final int[] TRIPLE_KINDS = {OperationKind.GET, OperationKind.PUT, OperationKind.EXPIRE};
    /** By whose clocks the deadline has passed. */
    private static final List<Set<Integer>> AHEAD = List.of(Set.of(1), Set.of(2), Set.of(1, 2));

    private static void explore(
        final int[] kinds, final Set<Integer> ahead, final int crashes, final int mostSteps,
        final ExplorationTotals totals)
    {
        for (int state = 1; state < TableScenario.Race.STATES; state++)
        {
            final TableScenario.Race race = TableScenario.Race.of(kinds, state);
            final Map<String, String> verdicts = new HashMap<>();
            final SimExplorerOptions options =
                new SimExplorerOptions().mostSteps(mostSteps).mostCrashes(crashes);
            final SimExplorationReport report = new SimExplorer(options, () ->
            {
                final TableScenario scenario = new TableScenario(race, verdicts);
                scenario.expireFor(ahead);
                return scenario;
            }).explore();
            assertThat(report.violation()).as(race + " ahead " + ahead + ": " + report).isNull();
            totals.add(report, mostSteps);
        }
    }

    @Test
    void shouldEndARecordOnceBesideASweep() throws IOException
    {
        final ExplorationTotals totals = new ExplorationTotals();
        for (int kind = 0; kind < OperationKind.COUNT; kind++)
        {
            for (final Set<Integer> ahead : AHEAD)
            {
                explore(new int[]{kind, TableScenario.SWEEP}, ahead, 0, MOST_STEPS, totals);
            }
        }
        totals.report("expiry, with a sweep");
        totals.assertReached("99 races, 99 complete, 2655 states");
    }

    @Test
    void shouldEndARecordOnceWhereEnginesAndSweepsCrash() throws IOException
    {
        final ExplorationTotals totals = new ExplorationTotals();
        for (int kind = 0; kind < OperationKind.COUNT; kind++)
        {
            explore(new int[]{kind, TableScenario.SWEEP}, Set.of(1, 2), 2, MOST_STEPS, totals);
        }
        explore(new int[]{TableScenario.SWEEP, TableScenario.SWEEP}, Set.of(1, 2), 2, MOST_STEPS, totals);
        totals.report("expiry, with a sweep, up to two crashes");
        totals.assertReached("36 races, 36 complete, 7712 states");
    }

    @Test
    void shouldEndARecordOnceForTwoOperationsBesideASweep() throws IOException
    {
        final ExplorationTotals totals = new ExplorationTotals();
        for (final int one : TRIPLE_KINDS)
        {
            for (final int other : TRIPLE_KINDS)
            {
                explore(new int[]{one, other, TableScenario.SWEEP}, Set.of(1, 3), 0, TRIPLE_STEPS, totals);
            }
        }
        totals.report("expiry, two operations and a sweep");
        totals.assertReached("27 races, 10 complete, 9416 states");
    }
}
