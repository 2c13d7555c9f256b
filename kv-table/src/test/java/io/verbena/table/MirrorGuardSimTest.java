package io.verbena.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.table.operation.MirrorMutation;
import io.verbena.test.Mutation;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Each check of rounds over several copies left out alone: a run must show what it prevents. The search begins shortly
 * before the seed that is known to show it, with {@code -Dverbena.table.deep=true} at 1.
 */
class MirrorGuardSimTest
{
    private static final int MOST_SEEDS = 2000;
    private static final int SOUND_SEEDS = 5;

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "LOSER_SETTLES, 625, stale answer",
        "MIDDLES_FIRST, 1, copies of a word",
        "PRIMARY_UNMOVED, 1630, copies of a word",
        "BLOCK_WITH_HELP, 1, result corrupt",
        "READ_PRIMARY, 410, lost update",
        "ACK_AFTER_PRIMARY, 1, a record is missed",
        "RESOLVE_BEHIND_ROUND, 110, lost update",
        "RESOLVE_BEFORE_REPEAT, 165, lost update",
        "BASE_FROM_PRIMARY, 1, lost update",
        "KILL, 190, stale answer"})
    void shouldFindViolationWhenMutated(final MirrorMutation left, final long firstSeed, final String symptom)
    {
        String last = null;
        long seed = ExplorationTotals.DEEP ? 0 : firstSeed - 1;
        try (Mutation.Opened _ = left.open())
        {
            while ((last == null || !last.contains(symptom)) && ++seed <= MOST_SEEDS)
            {
                final String problem = run(seed);
                last = problem == null ? last : problem;
            }
        }
        assertThat(last).as("in %d seeds", MOST_SEEDS).contains(symptom);
        assertThat(run(seed)).as("not mutated, seed %d", seed).isNull();
        for (long sound = 1; sound <= SOUND_SEEDS; sound++)
        {
            assertThat(run(sound)).as("not mutated, seed %d", sound).isNull();
        }
    }

    @ParameterizedTest
    @CsvSource({"RECONCILE, a record is missed, 700", "LEAVE_OLD_VIEW, stale answer, 1"})
    void shouldFindViolationWhenAChangeOfViewLeavesOut(
        final MirrorRun.Flaw flaw, final String symptom, final long first)
    {
        String last = null;
        for (long seed = first; (last == null || !last.contains(symptom)) && seed <= MOST_SEEDS; seed++)
        {
            final String problem = run(seed, shape(flaw, seed), flaw);
            last = problem == null ? last : problem;
        }
        assertThat(last).as("in %d seeds", MOST_SEEDS).contains(symptom);
        for (long sound = 1; sound <= SOUND_SEEDS; sound++)
        {
            assertThat(run(sound, shape(flaw, sound))).as("nothing left out, seed %d", sound).isNull();
        }
    }

    private static MirrorRun.Shape shape(final MirrorRun.Flaw flaw, final long seed)
    {
        return flaw == MirrorRun.Flaw.LEAVE_OLD_VIEW ? MirrorRun.Shape.inserting(seed) : MirrorRun.Shape.dying(seed);
    }

    private static String run(final long seed)
    {
        return run(seed, MirrorRun.Shape.of(seed));
    }

    private static String run(final long seed, final MirrorRun.Shape shape, final MirrorRun.Flaw... flaws)
    {
        try (MirrorRun run = new MirrorRun(seed, shape, flaws))
        {
            return run.run();
        }
    }
}
