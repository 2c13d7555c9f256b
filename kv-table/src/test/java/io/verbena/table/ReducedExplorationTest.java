package io.verbena.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.rdma.sim.explore.SimExplorationReport;
import io.verbena.rdma.sim.explore.SimExplorer;
import io.verbena.rdma.sim.explore.SimExplorerOptions;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * What an exploration leaves out because it commutes with what it runs changes nothing: the same states, outcomes and
 * number of schedules as with every order, and the same violations.
 */
class ReducedExplorationTest
{
    private static SimExplorationReport explore(
        final TableScenario.Race race, final int crashes, final boolean everyOrder, final Set<String> outcomes)
    {
        final int depth = race.merges() ? 1 : 0;
        final Map<String, String> verdicts = new HashMap<>();
        final SimExplorationReport report = new SimExplorer(
            new SimExplorerOptions().mostSteps(Integer.MAX_VALUE).mostCrashes(crashes).everyOrder(everyOrder),
            () -> new TableScenario(race, verdicts, depth)).explore();
        outcomes.addAll(verdicts.keySet());
        return report;
    }

    private static TableScenario.Race race(
        final String kinds, final int state, final boolean isMoving)
    {
        final int[] numbers = Arrays.stream(kinds.split(" ")).mapToInt(GrowthScheduleTest::kindOf).toArray();
        return new TableScenario.Race(numbers, state > 0, state > 1, isMoving, 1, state > 2);
    }

    /** States: 0 absent, 1 present, 2 cached, 3 cached long ago. */
    @ParameterizedTest
    @CsvSource({
        "put_if_absent get, 0, false, 2", "put delete, 1, false, 2", "increment append, 2, false, 1",
        "put get delete, 2, false, 0", "replace put_if_present, 3, false, 2",
        "get split, 1, true, 1", "get placing, 1, true, 0"})
    void shouldMeetTheSameStatesInFewerOrders(
        final String kinds, final int state, final boolean isMoving, final int crashes)
    {
        final TableScenario.Race race = race(kinds, state, isMoving);
        final Set<String> outcomes = new TreeSet<>();
        final SimExplorationReport reduced = explore(race, crashes, false, outcomes);
        final Set<String> all = new TreeSet<>();
        final SimExplorationReport full = explore(race, crashes, true, all);
        assertThat(outcomes).isEqualTo(all).isNotEmpty();
        assertThat(reduced.isComplete()).as(reduced.toString()).isTrue();
        assertThat(full.isComplete()).as(full.toString()).isTrue();
        assertThat(reduced.states()).isEqualTo(full.states());
        assertThat(reduced.ends()).isEqualTo(full.ends());
        assertThat(reduced.schedules()).isEqualTo(full.schedules());
        assertThat(reduced.runs()).isLessThan(full.runs());
    }
}
