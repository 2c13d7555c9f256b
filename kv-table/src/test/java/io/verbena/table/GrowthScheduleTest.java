package io.verbena.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.rdma.sim.explore.SimExplorationReport;
import io.verbena.rdma.sim.explore.SimExplorer;
import io.verbena.rdma.sim.explore.SimExplorerOptions;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.TableMutation;
import io.verbena.test.Mutation;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Every order of the verbs of a split or merge and more than one other, or a walk, to the end: nothing is cut off by a
 * number of verbs. Somebody who died has done most before (<em>few</em>: all but one or two slots; <em>reserved</em>:
 * nothing has begun, but of the slots that a merge reserves two are left, which are like all others). A part by
 * default, all with {@code -Dverbena.table.allGrowth=true}, in some minutes.
 */
class GrowthScheduleTest
{
    private static final String ALL = "verbena.table.allGrowth";
    private static final int TO_THE_END = 1_000;
    private static final Set<String> MOVING = Set.of("most", "few");
    private static final long MOST_STATES = 3_000_000;
    private static final Map<String, Integer> KINDS = Map.of(
        "split", TableScenario.SPLIT, "sibling", TableScenario.SPLIT_SIBLING, "merge", TableScenario.MERGE,
        "placing", TableScenario.MERGE_PLACING, "walk", TableScenario.WALK);

    /** The number of an operation, or of a split, merge or walk. */
    static int kindOf(final String name)
    {
        for (int kind = 0; kind < ClientView.KINDS_WITHOUT_EXPIRE; kind++)
        {
            if (OperationKind.name(kind).equals(name))
            {
                return kind;
            }
        }
        return KINDS.get(name);
    }

    private static SimExplorationReport explore(
        final String kinds, final int state, final String stage, final int crashes)
    {
        final int[] numbers = Arrays.stream(kinds.split(" ")).mapToInt(GrowthScheduleTest::kindOf).toArray();
        final TableScenario.Race race = new TableScenario.Race(
            numbers, state > 0, state > 1, MOVING.contains(stage), 1, state > 2);
        final int depth = race.merges() || kinds.contains("walk") ? 1 : 0;
        final Map<String, String> verdicts = new HashMap<>();
        final SimExplorerOptions options =
            new SimExplorerOptions().mostSteps(TO_THE_END).mostStates(MOST_STATES).mostCrashes(crashes);
        return new SimExplorer(options, () ->
        {
            final TableScenario scenario = new TableScenario(race, verdicts, depth);
            scenario.leavesFew = !stage.equals("most") && !stage.equals("fresh");
            return scenario;
        }).explore();
    }

    private static void shouldHold(
        final String kinds, final int state, final String stage, final int crashes, final long states)
    {
        final SimExplorationReport report = explore(kinds, state, stage, crashes);
        assertThat(report.violation()).as(report.toString()).isNull();
        assertThat(report.isComplete()).as(report.toString()).isTrue();
        assertThat(report.states()).as(report.toString()).isEqualTo(states);
    }

    /** State of the key: 0 absent, 1 present, 2 cached, 3 cached long ago. Last, how many states there are in all. */
    @ParameterizedTest
    @CsvSource({
        "walk split, 0, most, 1, 688",
        "walk split, 1, most, 1, 1560",
        "walk placing, 0, most, 1, 1848",
        "walk placing, 1, most, 1, 2292",
        "placing placing, 1, most, 1, 1134",
        "get split split, 1, few, 0, 19175",
        "get get split, 1, few, 0, 2945",
        "get placing placing, 1, few, 0, 2202",
        "get walk split, 1, few, 0, 3459",
        "increment walk split, 0, few, 0, 4108",
        "delete placing placing, 2, few, 0, 2629"})
    void shouldHoldInEveryOrder(
        final String kinds, final int state, final String stage, final int crashes, final long states)
    {
        shouldHold(kinds, state, stage, crashes, states);
    }

    @ParameterizedTest
    @EnabledIfSystemProperty(named = ALL, matches = "true")
    @CsvSource({
        "walk merge, 1, few, 0, 30594",
        "walk merge, 1, few, 1, 178828",
        "merge merge, 1, few, 1, 62314",
        "put walk split, 1, few, 0, 12042",
        "delete walk split, 1, few, 0, 8933",
        "put walk placing, 2, few, 0, 8406",
        "delete walk placing, 2, few, 0, 6942",
        "put put split, 1, few, 0, 27695",
        "put split split, 1, few, 0, 57717",
        "put_if_absent split split, 0, few, 0, 15784",
        "put_if_present split split, 1, few, 0, 57717",
        "delete split split, 1, few, 0, 48237",
        "increment split split, 1, few, 0, 57717",
        "put delete split, 1, few, 0, 25407",
        "delete increment split, 1, few, 0, 25407",
        "put placing placing, 2, few, 0, 3028",
        "increment placing placing, 2, few, 0, 3028",
        "put put placing, 2, few, 0, 11539",
        "put delete placing, 2, few, 0, 10151",
        "increment increment placing, 2, few, 0, 11539",
        "get split split, 1, few, 1, 55965",
        "get get split, 1, few, 1, 9164",
        "get placing placing, 1, few, 1, 8032",
        "merge split, 1, reserved, 1, 184907",
        "merge sibling, 1, reserved, 1, 254309"})
    void shouldHoldInEveryOrderOfMore(
        final String kinds, final int state, final String stage, final int crashes, final long states)
    {
        shouldHold(kinds, state, stage, crashes, states);
    }

    /** The same subtable is to be split and merged, and neither has begun: one gives up, and everything is found. */
    @ParameterizedTest
    @CsvSource({
        "merge split, 1, reserved, 0, 16799",
        "merge sibling, 1, reserved, 0, 22721"})
    void shouldHoldInEveryOrderOfWhatCannotBothBe(
        final String kinds, final int state, final String stage, final int crashes, final long states)
    {
        shouldHold(kinds, state, stage, crashes, states);
    }

    /** Walks and reads that take a slot for empty to which nothing has been moved yet. */
    @Test
    void shouldFindViolationWhenNewSlotsAreEmpty()
    {
        try (Mutation.Opened _ = TableMutation.UNINITIALISED.open())
        {
            assertThat(explore("walk split", 1, "fresh", 0).violation()).contains("No order explains", "get 0 -> nil");
        }
    }
}
