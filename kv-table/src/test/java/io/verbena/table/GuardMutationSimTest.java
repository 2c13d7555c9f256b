package io.verbena.table;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Each guard left out alone: a run must show it. So the runs of {@link TableRaceSimTest} can fail. */
class GuardMutationSimTest
{
    private static final int MOST_SEEDS = 3000;

    /** Increments of or appends to one key by many clients of few engines, whose connections break often. */
    @ParameterizedTest(name = "{0} kind {1}")
    @CsvSource({"MEMBERS_TOLD_LAST, 7", "ONE_KIND, 7", "MEMBER_NOTED, 7", "AGAIN_WITHOUT_TOLD, 7",
        "MEMBERS_TOLD_LAST, 8", "MEMBER_NOTED, 8", "AGAIN_WITHOUT_TOLD, 8"})
    void shouldFindViolationWhenGuardOfTheCombinerIsDropped(final String guard, final int kind)
        throws ReflectiveOperationException
    {
        final int bits = (int)CombinerGuard.class.getDeclaredField(guard).get(null);
        String found = null;
        long seed = 0;
        while (found == null && ++seed <= MOST_SEEDS)
        {
            final StepShape shape = StepShape.repeating(seed);
            shape.droppedCombinerGuards = bits;
            shape.keys = 1;
            shape.engines = 2;
            shape.clients = 5;
            shape.operations = 150;
            shape.shortDeadlines = true;
            shape.kinds = new int[]{OperationKind.PUT, kind, kind, kind};
            try (StepRun run = new StepRun(seed, shape))
            {
                found = run.run();
            }
        }
        System.out.println(guard + " shown by seed " + seed);
        assertThat(found).as("violation with guard %s dropped", guard).isNotNull();
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "RE_READ", "SLOT_READ", "KEY_CHECK", "FAILED_KILL", "COMMIT", "WRITE_BEFORE_CAS", "KILL", "NEVER_RETURNED_WORD",
        "UNIQUE_VERSIONS", "FENCE", "QUARANTINE+VERSION_BITS", "CACHE_EPOCH+VERSION_BITS",
        "BUCKET_BEFORE_BLOCK+VERSION_BITS",
        "REPEAT_LOOKS", "ONE_TAKER", "TOMBSTONE", "TENTATIVE" })
    void shouldFindViolationWhenGuardIsDropped(final String guard) throws ReflectiveOperationException
    {
        int bits = 0;
        for (final String name : guard.split("\\+"))
        {
            bits |= (int)Guard.class.getDeclaredField(name).get(null);
        }
        String found = null;
        long seed = 0;
        while (found == null && ++seed <= MOST_SEEDS)
        {
            final boolean repeats =
                guard.equals("REPEAT_LOOKS") || guard.equals("ONE_TAKER") || guard.equals("TOMBSTONE");
            final StepShape shape = repeats ? StepShape.repeating(seed) : StepShape.of(seed);
            shape.droppedGuards = bits;
            if (guard.startsWith("CACHE_EPOCH"))
            {
                // The word has to come back to its slot, while somebody has it cached with an old version.
                shape.keys = 1;
                shape.operations = 150;
                shape.deadWords = 0;
                shape.faults = false;
                shape.cacheEntries = 64;
                shape.kinds = new int[]{OperationKind.PUT, OperationKind.REPLACE, OperationKind.REPLACE};
            }
            if (guard.startsWith("BUCKET_BEFORE_BLOCK"))
            {
                // A block that was free is used again, and named as before, between the two READs.
                shape.expires = true;
                shape.keys = 1;
                shape.operations = 300;
                shape.deadWords = 0;
                shape.faults = false;
                shape.cacheEntries = 64;
                shape.kinds = new int[]{OperationKind.PUT, OperationKind.GET};
            }
            if (guard.equals("ONE_TAKER") || guard.equals("TOMBSTONE"))
            {
                // Two deletes that expect the same word, the answer to one of them lost.
                shape.keys = 1;
                shape.operations = 150;
                shape.kinds = new int[]{OperationKind.PUT, OperationKind.DELETE, OperationKind.DELETE};
            }
            if (guard.equals("FENCE"))
            {
                // Two inserts of one key that see different slots free.
                shape.fences = true;
                shape.keys = 1;
                shape.engines = 3;
                shape.deadWords = 0;
                shape.operations = 150;
                shape.kinds = new int[]{OperationKind.PUT_IF_ABSENT, OperationKind.PUT, OperationKind.DELETE};
            }
            try (StepRun run = new StepRun(seed, shape))
            {
                found = run.run();
            }
        }
        assertThat(found).as("violation with guard %s dropped", guard).isNotNull();
    }
}
