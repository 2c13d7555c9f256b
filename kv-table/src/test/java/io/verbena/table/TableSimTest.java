package io.verbena.table;

import io.verbena.rdma.sim.schedule.SimRepetition;
import io.verbena.table.operation.OperationResult;
import io.verbena.table.operation.TableMutation;
import io.verbena.test.Mutation;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.stream.LongStream;

import static org.assertj.core.api.Assertions.assertThat;

/** The whole stack under simulated verbs, with nodes that die, pause and lose connections between any two verbs. */
class TableSimTest
{
    private static final long SEEDS = Long.getLong("verbena.table.simSeeds", 150);
    private static final long FIRST_SEED = Long.getLong("verbena.table.firstSeed", 1);

    private static final int MOST_MUTATION_SEEDS = 300;

    @Test
    void shouldStayLinearizableWhenNodesFailBetweenVerbs()
    {
        final AtomicLongArray results = new AtomicLongArray(OperationResult.COUNT);
        final AtomicLongArray repeated = new AtomicLongArray(OperationResult.COUNT);
        final AtomicLong groups = new AtomicLong();
        LongStream.range(FIRST_SEED, FIRST_SEED + SEEDS).parallel().forEach(seed ->
        {
            try (SimTableRun run = new SimTableRun(seed))
            {
                assertThat(run.run()).as("seed %d", seed).isNull();
                for (int i = 0; i < OperationResult.COUNT; i++)
                {
                    results.addAndGet(i, run.results(i));
                    repeated.addAndGet(i, run.repeated(i));
                }
                groups.addAndGet(run.groups());
            }
        });
        // The runs contain what they are meant to contain.
        assertThat(results.get(OperationResult.STORED)).isGreaterThan(SEEDS);
        assertThat(results.get(OperationResult.DELETED)).isGreaterThan(SEEDS);
        assertThat(results.get(OperationResult.OUTCOME_UNKNOWN)).isPositive();
        assertThat(results.get(OperationResult.NODE_UNAVAILABLE)).isPositive();
        assertThat(repeated.get(OperationResult.STORED)).isPositive();
        assertThat(groups.get()).isGreaterThan(SEEDS);
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "RE_READ, its key is also in slot", "SLOT_READ, stale answer", "KEY_CHECK, answer of another key",
        "NEVER_RETURNED_WORD, lost update", "REPEAT_LOOKS, is NOT linearizable"})
    void shouldFindViolationWhenMutated(final String name, final String symptom)
    {
        final Set<String> problems = new TreeSet<>();
        String found = "";
        long seed = 0;
        try (Mutation.Opened _ = TableMutation.named(name).open())
        {
            while (!found.contains(symptom) && ++seed <= MOST_MUTATION_SEEDS)
            {
                found = String.valueOf(run(seed));
                problems.add(found.lines().findFirst().orElseThrow());
            }
        }
        assertThat(found).as("without %s: %s", name, problems).contains(symptom);
        assertThat(run(seed)).as("not mutated, seed %d", seed).isNull();
    }

    @Test
    void shouldReplayExactlyFromSeed()
    {
        SimRepetition.check(() -> run(17));
        try (Mutation.Opened _ = TableMutation.RE_READ.open())
        {
            SimRepetition.check(() -> run(18));
        }
    }

    private static String run(final long seed)
    {
        try (SimTableRun run = new SimTableRun(seed))
        {
            return run.run();
        }
    }
}
