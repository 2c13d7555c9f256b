package io.verbena.table;

import io.verbena.rdma.sim.explore.SimExplorationReport;
import io.verbena.table.operation.TableMutation;
import io.verbena.test.Mutation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.util.Arrays;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

import static io.verbena.table.operation.OperationKind.APPEND;
import static io.verbena.table.operation.OperationKind.DELETE;
import static io.verbena.table.operation.OperationKind.DELETE_VERSION;
import static io.verbena.table.operation.OperationKind.INCREMENT;
import static io.verbena.table.operation.OperationKind.PUT;
import static io.verbena.table.operation.OperationKind.PUT_IF_ABSENT;
import static io.verbena.table.operation.OperationKind.PUT_IF_PRESENT;
import static io.verbena.table.operation.OperationKind.REPLACE;
import static io.verbena.table.ExplorationTotals.ALL_STEPS;
import static io.verbena.table.ExplorationTotals.DEEP;
import static io.verbena.table.ExplorationTotals.MOST_STEPS;
import static io.verbena.table.ExplorationTotals.explore;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Every order of the verbs of engines that combine writers of one key, and crash between any two: one of them. Both,
 * and of more kinds, with {@code -Dverbena.table.deep=true}.
 */
class ExhaustiveCombinerTest
{
    private static final int COMBINED = 3;
    /** Of pairs with writers of different kinds. */
    private static final int CRASHES = DEEP ? 2 : 0;
    private static final int COMBINED_STEPS = Integer.getInteger("verbena.table.combinedSteps", 14);
    private static final int[][] COMBINED_KINDS = DEEP ?
        new int[][]{{PUT}, {INCREMENT}, {PUT, PUT}, {INCREMENT, INCREMENT}, {PUT, INCREMENT},
            {DELETE}, {PUT_IF_PRESENT}, {REPLACE}, {PUT_IF_ABSENT},
            {DELETE, DELETE}, {PUT_IF_PRESENT, PUT_IF_PRESENT}, {REPLACE, REPLACE}, {DELETE, PUT},
            {APPEND}, {APPEND, APPEND}, {PUT_IF_PRESENT, APPEND}} :
        new int[][]{{PUT}, {INCREMENT}, {PUT, PUT}, {PUT, INCREMENT}, {DELETE}, {REPLACE}, {PUT_IF_ABSENT},
            {DELETE, PUT}, {PUT_IF_PRESENT, APPEND}};
    private static final int[][] MORE_KINDS = {
        {PUT_IF_ABSENT, PUT_IF_ABSENT}, {DELETE, PUT_IF_PRESENT}, {REPLACE, DELETE_VERSION}, {PUT_IF_ABSENT, DELETE}};
    /** One leads, and what the second leaves answers the third, or does not. */
    private static final int[] MIXED_KINDS = {
        KindsTogether.of(DELETE, DELETE, PUT_IF_PRESENT), KindsTogether.of(PUT, REPLACE, REPLACE),
        KindsTogether.of(REPLACE, PUT_IF_ABSENT, REPLACE), KindsTogether.of(DELETE, PUT_IF_ABSENT, DELETE_VERSION),
        KindsTogether.of(DELETE_VERSION, DELETE, REPLACE), KindsTogether.of(PUT_IF_PRESENT, PUT_IF_PRESENT, DELETE)};

    /** Three writers of each engine that go together: one leads, two become a batch when it has ended. */
    @Test
    void shouldBeLinearizableWhenCombinedWritersCrashBetweenAnyTwoVerbs() throws IOException
    {
        final ExplorationTotals totals = new ExplorationTotals();
        for (final int[] kinds : COMBINED_KINDS)
        {
            exploreStates(totals, DEEP ? kinds.length : 1, kinds);
        }
        totals.report("combined writers, up to " + (DEEP ? "two crashes" : "one crash"));
        totals.assertReached("27 races, 25 complete, 14324 states", "48 races, 44 complete, 46887 states");
    }

    private static void exploreStates(final ExplorationTotals totals, final int mostCrashes, final int... kinds)
    {
        for (int state = 0; state < TableScenario.Race.STATES - 1; state++)
        {
            final boolean isEndless = kinds.length > 1 && (state == 0 || Arrays.stream(kinds).anyMatch(
                kind -> isAny(kind, one -> one == DELETE || one == DELETE_VERSION))) && Arrays.stream(kinds).allMatch(
                kind -> isAny(kind, ExplorationTotals::mayInsert));
            final TableScenario.Race race =
                new TableScenario.Race(kinds, state > 0, state > 1, false, COMBINED, false);
            final int mostSteps = isEndless ? COMBINED_STEPS : ALL_STEPS;
            final SimExplorationReport report = explore(race, mostCrashes, false, mostSteps);
            assertThat(report.violation()).as(race + ": " + report).isNull();
            totals.add(report, mostSteps);
        }
    }

    private static boolean isAny(final int kinds, final IntPredicate predicate)
    {
        return IntStream.range(0, COMBINED).map(n -> KindsTogether.nth(kinds, n)).anyMatch(predicate);
    }

    /** Alone, against PUTs, and against the same. */
    @Test
    void shouldBeLinearizableWhenWritersOfDifferentKindsAreCombined() throws IOException
    {
        final ExplorationTotals totals = new ExplorationTotals();
        for (final int kinds : MIXED_KINDS)
        {
            exploreStates(totals, 1, kinds);
            exploreStates(totals, CRASHES, PUT, kinds);
            exploreStates(totals, CRASHES, kinds, kinds);
        }
        for (final int[] kinds : MORE_KINDS)
        {
            exploreStates(totals, CRASHES, kinds);
        }
        totals.report("different kinds combined, up to " + CRASHES + " crashes");
        totals.assertReached("66 races, 55 complete, 12057 states", "66 races, 55 complete, 78298 states");
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "MEMBERS_TOLD_LAST, 7, 2, 'get 0 -> [120100 '", "MEMBERS_TOLD_LAST, 2, 0, 'get 0 -> [106 '",
        "ANSWERED_BY_VERSION, -1, 1, '-> [false 1'"})
    void shouldFindViolationWhenMutated(
        final String name, final int given, final int state, final String symptom)
    {
        final int kind = given < 0 ? KindsTogether.of(PUT_IF_ABSENT, PUT_IF_ABSENT, REPLACE) : given;
        final TableScenario.Race race =
            new TableScenario.Race(new int[]{kind, kind}, state > 0, state > 1, false, COMBINED, false);
        assertThat(explore(race, 0, false, COMBINED_STEPS).violation()).as("not mutated").isNull();
        try (Mutation.Opened _ = TableMutation.named(name).open())
        {
            final SimExplorationReport report = explore(race, 1, false, MOST_STEPS);
            assertThat(report.violation()).as(report.toString()).contains("No order explains", symptom);
        }
    }
}
