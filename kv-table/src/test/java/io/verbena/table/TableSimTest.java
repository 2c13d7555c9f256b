package io.verbena.table;

import io.verbena.rdma.sim.schedule.SimRepetition;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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
            try (SimTableRun run = new SimTableRun(seed, 0))
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
    @CsvSource({"RE_READ", "SLOT_READ", "KEY_CHECK", "NEVER_RETURNED_WORD", "REPEAT_LOOKS"})
    void shouldFindViolationWhenGuardIsDropped(final String guard) throws ReflectiveOperationException
    {
        final int bit = (int)Guard.class.getDeclaredField(guard).get(null);
        String found = null;
        for (long seed = 1; found == null && seed <= MOST_MUTATION_SEEDS; seed++)
        {
            found = run(seed, bit);
        }
        assertThat(found).as("violation with guard %s dropped", guard).isNotNull();
    }

    @Test
    void shouldReplayExactlyFromSeed()
    {
        SimRepetition.check(() -> run(17, 0));
        SimRepetition.check(() -> run(18, Guard.RE_READ));
    }

    private static String run(final long seed, final int droppedGuards)
    {
        try (SimTableRun run = new SimTableRun(seed, droppedGuards))
        {
            return run.run();
        }
    }
}
