package io.verbena.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.rdma.sim.explore.SimExplorationReport;
import io.verbena.rdma.sim.explore.SimExplorer;
import io.verbena.rdma.sim.explore.SimExplorerOptions;
import io.verbena.table.operation.MirrorMutation;
import io.verbena.table.operation.OperationKind;
import io.verbena.test.Mutation;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A memory node comes into a group with one or two members between any two verbs of one operation, or of two, with a
 * crash of one of their engines. One operation with one member is explored to the end, the others to a bound of states
 * ({@code -Dverbena.table.enteringStates=N} for each race).
 */
class ExhaustiveEnteringTest
{
    private static final int MOST_STATES = Integer.getInteger("verbena.table.enteringStates", 400);
    private static final int MOST_STEPS = 200;
    private static final int[] ALONE = {
        OperationKind.GET, OperationKind.PUT, OperationKind.PUT_IF_ABSENT, OperationKind.REPLACE, OperationKind.DELETE,
        OperationKind.INCREMENT, OperationKind.APPEND};
    private static final int[][] PAIRS = {
        {OperationKind.PUT, OperationKind.PUT}, {OperationKind.PUT_IF_ABSENT, OperationKind.PUT_IF_ABSENT},
        {OperationKind.INCREMENT, OperationKind.INCREMENT}, {OperationKind.DELETE, OperationKind.PUT},
        {OperationKind.GET, OperationKind.PUT}};
    private int races;
    private int complete;
    private long states;
    private long runs;

    private static SimExplorationReport explore(
        final EnteringScenario.Race race, final int mostCrashes, final long mostStates)
    {
        final Map<String, String> verdicts = new HashMap<>();
        return new SimExplorer(
            new SimExplorerOptions().mostSteps(MOST_STEPS).mostStates(mostStates).mostCrashes(mostCrashes),
            () -> new EnteringScenario(race, verdicts)).explore();
    }

    private void explore(final int[] kinds, final int copies, final int mostCrashes, final long mostStates)
    {
        for (int state = 0; state < 3; state++)
        {
            final EnteringScenario.Race race =
                new EnteringScenario.Race(kinds, state == 1, state == 2, copies);
            final SimExplorationReport report = explore(race, mostCrashes, mostStates);
            assertThat(report.violation()).as(race + ": " + report).isNull();
            races++;
            complete += report.isComplete() ? 1 : 0;
            states += report.states();
            runs += report.runs();
        }
    }

    private void report(final String what)
    {
        System.out.println(
            what + ": races=" + races + " complete=" + complete + " states=" + states + " runs=" + runs);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void shouldLoseNothingOfOneOperation(final int copies)
    {
        for (final int kind : ALONE)
        {
            explore(new int[]{kind}, copies, 0, copies == 1 ? Long.MAX_VALUE : MOST_STATES);
        }
        report("one operation, " + copies + " and one comes in");
        assertThat(copies > 1 || complete == races).isTrue();
    }

    @ParameterizedTest
    @CsvSource({"1, 0", "2, 0", "1, 1", "2, 1"})
    void shouldLoseNothingOfTwoOperations(final int copies, final int mostCrashes)
    {
        for (final int[] pair : PAIRS)
        {
            explore(pair, copies, mostCrashes, MOST_STATES);
        }
        report("two operations, " + copies + " and one comes in, crashes=" + mostCrashes);
    }

    @ParameterizedTest
    @CsvSource({
        "WRITE_AGAIN, 1, true, 'corrupt'",
        "EMPTY_CLAIMS, 1, false, 'copies of a slot differ'"})
    void shouldFindViolationWhenMutated(
        final MirrorMutation left, final int copies, final boolean isClaimed, final String symptom)
    {
        shouldFindViolation(left, copies, isClaimed, symptom);
    }

    /** The same beside two members, where the search for the shortest schedule takes longer. */
    @ParameterizedTest
    @EnabledIfSystemProperty(named = "verbena.table.deep", matches = "true")
    @CsvSource("WRITE_AGAIN, 2, true, 'corrupt'")
    void shouldFindViolationOfTwoMembersWhenMutated(
        final MirrorMutation left, final int copies, final boolean isClaimed, final String symptom)
    {
        shouldFindViolation(left, copies, isClaimed, symptom);
    }

    private static void shouldFindViolation(
        final MirrorMutation left, final int copies, final boolean isClaimed, final String symptom)
    {
        final EnteringScenario.Race race =
            new EnteringScenario.Race(new int[]{OperationKind.PUT}, false, isClaimed, copies);
        try (Mutation.Opened _ = left.open())
        {
            final SimExplorationReport report = explore(race, 0, Long.MAX_VALUE);
            assertThat(report.violation()).as("%s", report).contains(symptom);
        }
    }
}
