package io.verbena.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.rdma.sim.explore.SimExplorationReport;
import io.verbena.rdma.sim.explore.SimExplorer;
import io.verbena.rdma.sim.explore.SimExplorerOptions;
import io.verbena.table.operation.OperationKind;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * Orders of the verbs of two operations on one key of a table with two or three copies, with engines that crash between
 * any two verbs, and with the loss of all members but one at any moment. Bounded by states ({@code
 * -Dverbena.table.mirrorStates=N} for each race), and by steps where both may insert.
 */
class ExhaustiveMirrorTest
{
    private static final int MOST_STATES = Integer.getInteger("verbena.table.mirrorStates", 400);
    private static final int INSERT_STEPS = Integer.getInteger("verbena.table.mirrorSteps", 40);
    private static final int ALL_STEPS = 60;
    private static final int[][] PAIRS = {
        {OperationKind.GET, OperationKind.PUT}, {OperationKind.PUT, OperationKind.PUT},
        {OperationKind.REPLACE, OperationKind.PUT}, {OperationKind.DELETE, OperationKind.PUT},
        {OperationKind.INCREMENT, OperationKind.INCREMENT}, {OperationKind.PUT_IF_ABSENT, OperationKind.PUT_IF_ABSENT},
        {OperationKind.DELETE, OperationKind.DELETE}};
    private int races;
    private int complete;
    private long states;

    private void explore(final int copies, final int mostCrashes, final int... lost)
    {
        for (final int[] pair : PAIRS)
        {
            for (final boolean isPresent : new boolean[]{true, false})
            {
                for (final int lostMembers : lost)
                {
                    final MirrorScenario.Race race =
                        new MirrorScenario.Race(pair, isPresent, isPresent, copies, lostMembers);
                    final SimExplorationReport report =
                        explore(race, mostCrashes, isPresent ? ALL_STEPS : INSERT_STEPS);
                    assertThat(report.violation()).as(race + ": " + report).isNull();
                    races++;
                    complete += report.isComplete() ? 1 : 0;
                    states += report.states();
                }
            }
        }
    }

    private static SimExplorationReport explore(
        final MirrorScenario.Race race, final int mostCrashes, final int mostSteps)
    {
        final Map<String, String> verdicts = new HashMap<>();
        return new SimExplorer(
            new SimExplorerOptions().mostSteps(mostSteps).mostStates(MOST_STATES).mostCrashes(mostCrashes),
            () -> new MirrorScenario(race, verdicts)).explore();
    }

    private void report(final String what)
    {
        System.out.println(what + ": races=" + races + " complete=" + complete + " states=" + states);
    }

    @Test
    void shouldBeLinearizableWithTwoCopiesAndACrash()
    {
        explore(2, 1, 0);
        report("two copies, one crash");
    }

    @Test
    void shouldBeLinearizableWithThreeCopies()
    {
        explore(3, 0, 0);
        report("three copies");
    }

    @Test
    void shouldLoseNothingWithTheHeadOrThePrimaryOfTwoCopies()
    {
        explore(2, 0, 0b01, 0b10);
        report("two copies, one lost");
    }

    @Test
    void shouldLoseNothingWithTwoOfThreeCopies()
    {
        explore(3, 0, 0b101, 0b011, 0b110);
        report("three copies, two lost");
    }
}
