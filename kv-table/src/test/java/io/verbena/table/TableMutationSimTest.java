package io.verbena.table;

import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.TableMutation;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each step left out alone: a run must show what it prevents. So the runs of {@link TableRaceSimTest} can fail. */
class TableMutationSimTest
{
    private static final int MOST_SEEDS = 3000;

    /** Increments of or appends to one key by many clients of few engines, whose connections break often. */
    @ParameterizedTest(name = "{0} kind {1}")
    @CsvSource({
        "MEMBERS_TOLD_LAST, 7, lost update", "ONE_KIND, 7, lost update", "MEMBER_NOTED, 7, lost update",
        "AGAIN_WITHOUT_TOLD, 7, lost update",
        "MEMBERS_TOLD_LAST, 8, a version goes back", "AGAIN_WITHOUT_TOLD, 8, appended twice"})
    void shouldFindViolationWhenCombinerIsMutated(final String name, final int kind, final String symptom)
    {
        final boolean isRare = kind == OperationKind.APPEND && name.equals("AGAIN_WITHOUT_TOLD");
        MutationSearch.shouldShow(symptom, isRare ? 3420 : 1, MOST_SEEDS, TableMutation.named(name),
            seed -> combining(seed, kind));
    }

    private static StepShape combining(final long seed, final int kind)
    {
        final StepShape shape = StepShape.repeating(seed);
        shape.keys = 1;
        shape.engines = 2;
        shape.clients = 5;
        shape.operations = 150;
        shape.shortDeadlines = true;
        shape.kinds = new int[]{OperationKind.PUT, kind, kind, kind};
        if (kind == OperationKind.APPEND)
        {
            // Only who reads sees what was appended twice. The checker cannot decide about as many of unknown outcome.
            shape.kinds = new int[]{OperationKind.PUT, OperationKind.GET, kind, kind, kind};
            shape.isJudgedByRulesOnly = true;
        }
        return shape;
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "RE_READ, its key is also in slot",
        "SLOT_READ, stale answer",
        "KEY_CHECK, answer of another key",
        "FAILED_KILL, stale answer",
        "COMMIT, a record is missed",
        "WRITE_BEFORE_CAS, result corrupt",
        "KILL, one key inserted twice",
        "NEVER_RETURNED_WORD, lost update",
        "UNIQUE_VERSIONS, a version was given twice",
        "FENCE, one key inserted twice",
        "QUARANTINE+VERSION_BITS, lost update",
        "CACHE_EPOCH+VERSION_BITS, a version goes back",
        "BUCKET_BEFORE_BLOCK+VERSION_BITS, a version goes back",
        "REPEAT_LOOKS, appended twice",
        "ONE_TAKER, one record deleted twice",
        "TOMBSTONE, one record deleted twice",
        "TENTATIVE, lost update"})
    void shouldFindViolationWhenMutated(final String name, final String symptom)
    {
        MutationSearch.shouldShow(symptom, firstSeed(name), MOST_SEEDS, TableMutation.named(name),
            seed -> shape(name, seed));
    }

    /** Shortly before the least that shows it, where that is rare. */
    private static long firstSeed(final String name)
    {
        return switch (name)
        {
            case "KILL" -> 100;
            case "FENCE" -> 145;
            case "CACHE_EPOCH+VERSION_BITS" -> 70;
            case "BUCKET_BEFORE_BLOCK+VERSION_BITS" -> 840;
            case "REPEAT_LOOKS" -> 830;
            case "ONE_TAKER" -> 230;
            default -> 1;
        };
    }

    /** What makes the situation likely that the step is for. */
    private static StepShape shape(final String name, final long seed)
    {
        final boolean repeats =
            name.equals("REPEAT_LOOKS") || name.equals("ONE_TAKER") || name.equals("TOMBSTONE");
        final StepShape shape = repeats ? StepShape.repeating(seed) : StepShape.of(seed);
        if (name.startsWith("CACHE_EPOCH"))
        {
            // The word has to come back to its slot, while somebody has it cached with an old version.
            shape.keys = 1;
            shape.operations = 150;
            shape.deadWords = 0;
            shape.faults = false;
            shape.cacheEntries = 64;
            shape.kinds = new int[]{OperationKind.PUT, OperationKind.REPLACE, OperationKind.REPLACE};
        }
        if (name.startsWith("BUCKET_BEFORE_BLOCK"))
        {
            // A block that was free is used again, and named as before, between the two READs.
            shape.expires = true;
            shape.keys = 1;
            shape.operations = 300;
            shape.deadWords = 0;
            shape.faults = false;
            shape.cacheEntries = 64;
            shape.kinds = new int[]{OperationKind.PUT, OperationKind.GET};
            shape.isJudgedByRulesOnly = true;
        }
        if (name.equals("ONE_TAKER") || name.equals("TOMBSTONE"))
        {
            // Two deletes that expect the same word, the answer to one of them lost.
            shape.keys = 1;
            shape.operations = 150;
            shape.kinds = new int[]{OperationKind.PUT, OperationKind.DELETE, OperationKind.DELETE};
        }
        if (name.equals("FENCE"))
        {
            // Two inserts of one key that see different slots free.
            shape.fences = true;
            shape.keys = 1;
            shape.engines = 3;
            shape.deadWords = 0;
            shape.operations = 150;
            shape.kinds = new int[]{OperationKind.PUT_IF_ABSENT, OperationKind.PUT, OperationKind.DELETE};
        }
        return shape;
    }
}
