package io.verbena.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.rdma.sim.explore.SimExplorationReport;
import io.verbena.rdma.sim.explore.SimExplorer;
import io.verbena.rdma.sim.explore.SimExplorerOptions;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.OperationResult;
import io.verbena.table.operation.TableMutation;
import io.verbena.test.Mutation;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Races are judged in real-time order: an answer that would be right if all operations overlapped is wrong when the
 * one that it contradicts had ended before. Shown by engines that believe a cached location without reading its slot.
 */
class RealTimeOrderTest
{
    private static SimExplorationReport explore(final String kinds, final int crashes, final boolean isOrdered)
    {
        final int[] numbers = Arrays.stream(kinds.split(" ")).mapToInt(GrowthScheduleTest::kindOf).toArray();
        final TableScenario.Race race = TableScenario.Race.of(numbers, 2);
        final Map<String, String> verdicts = new HashMap<>();
        return new SimExplorer(new SimExplorerOptions().mostCrashes(crashes), () ->
        {
            final TableScenario scenario = new TableScenario(race, verdicts);
            scenario.isOrdered = isOrdered;
            return scenario;
        }).explore();
    }

    /** The last one reads what was before, after the writer has ended; or after another one has read what is new. */
    @ParameterizedTest
    @CsvSource({"put get, 0, 6, 16", "delete get, 0, 4, 13", "put get get, 1, 100, 625"})
    void shouldFindReadThatGoesBackwards(
        final String kinds, final int crashes, final long overlapping, final long ordered)
    {
        // Only the last engine: who reads in the end, and all others, are right.
        final int last = kinds.split(" ").length;
        try (Mutation.Opened _ = TableMutation.SLOT_READ.mutation().when(() -> TableScenario.acting() == last).open())
        {
            final SimExplorationReport taken = explore(kinds, crashes, false);
            assertThat(taken.violation()).as("all taken to overlap").isNull();
            assertThat(taken.isComplete()).isTrue();
            assertThat(taken.states()).isEqualTo(overlapping);
            final SimExplorationReport found = explore(kinds, crashes, true);
            assertThat(found.violation()).contains("No order explains the completion of", "get 0 -> [100 ");
        }
        final SimExplorationReport whole = explore(kinds, crashes, true);
        assertThat(whole.violation()).isNull();
        assertThat(whole.isComplete()).isTrue();
        assertThat(whole.states()).isEqualTo(ordered);
    }

    /** Of three operations the first ended before the second began, and the third overlaps both. */
    @Test
    void shouldJudgeWhatHadEndedBeforeAsEarlier()
    {
        assertThat(judge(1, 2)).contains("No order explains");
        assertThat(judge(2, 1)).isEmpty();
        assertThat(judge(0, 0)).isEmpty();
    }

    /** GETs 1 and 2 saw what PUT 3 wrote, and what was before. */
    private static String judge(final int earlier, final int later)
    {
        final RaceHistory history = new RaceHistory(4);
        IntStream.range(0, 4).forEach(history::begin);
        history.note(0, OperationResult.FOUND, Arrays.asList(103L, 9L));
        history.note(1, OperationResult.FOUND, Arrays.asList(103L, 9L));
        history.note(2, OperationResult.FOUND, Arrays.asList(100L, 5L));
        history.note(3, OperationResult.STORED, 9L);
        if (earlier > 0)
        {
            history.precede(earlier, IntStream.of(later));
        }
        return history.judge("three", 5,
            new int[]{TableScenario.FENCE, OperationKind.GET, OperationKind.GET, OperationKind.PUT});
    }
}
