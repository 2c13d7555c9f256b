package io.verbena.table;

import io.verbena.elle.Validity;
import io.verbena.elle.history.EventType;
import io.verbena.elle.history.HistoryBuilder;
import io.verbena.elle.linear.LinearChecker;
import io.verbena.elle.linear.LinearOptions;
import io.verbena.elle.linear.LinearVerdict;
import io.verbena.elle.linear.Models;
import java.util.Arrays;
import java.util.List;

/** What the operations of a race on one key were told, and whether that is linearizable: all began at once. */
final class RaceHistory
{
    private static final int PREPARER = 0;
    private static final LinearChecker<?> CHECKER =
        new LinearChecker<>(Models.versionedKvMap(), LinearOptions.defaults().withThreads(1));

    private final String[] outcomes;
    private final Object[] outputs;
    private final EventType[] types;

    /** @param operations the first of which is the last GET, of what there is in the end. */
    RaceHistory(final int operations)
    {
        outcomes = new String[operations];
        outputs = new Object[operations];
        types = new EventType[operations];
    }

    void begin(final int operation)
    {
        outcomes[operation] = null;
        types[operation] = EventType.INFO;
    }

    Object output(final int operation)
    {
        return outputs[operation];
    }

    /** @return what operations were told, null for those that were told nothing; a copy. */
    List<String> outcomes(final int from, final int to)
    {
        return Arrays.asList(Arrays.copyOfRange(outcomes, from, to));
    }

    void note(final int i, final Operation op)
    {
        types[i] = switch (op.result())
        {
            case OperationResult.NOT_A_COUNTER, OperationResult.NODE_UNAVAILABLE -> EventType.FAIL;
            case OperationResult.OUTCOME_UNKNOWN -> EventType.INFO;
            default -> EventType.OK;
        };
        outputs[i] = switch (op.result())
        {
            case OperationResult.FOUND -> op.kind() == OperationKind.EXISTS ?
                true : Arrays.asList(ClientView.value(op), op.version());
            case OperationResult.NOT_FOUND -> switch (op.kind())
            {
                case OperationKind.GET -> null;
                case OperationKind.EXISTS, OperationKind.DELETE -> false;
                default -> Arrays.asList(false, null);
            };
            case OperationResult.STORED -> op.kind() == OperationKind.INCREMENT ?
                List.of(op.counter(), op.version()) : op.version();
            case OperationResult.NOT_A_COUNTER, OperationResult.NODE_UNAVAILABLE, OperationResult.OUTCOME_UNKNOWN ->
                null;
            case OperationResult.DELETED -> true;
            case OperationResult.EXISTS, OperationResult.VERSION_MISMATCH -> Arrays.asList(false, op.version());
            default -> throw new AssertionError(OperationResult.name(op.result()));
        };
        outcomes[i] = OperationResult.name(op.result()) + outputs[i];
    }

    /**
     * Judges it.
     *
     * @param what           raced.
     * @param initialVersion of the key, or 0 if it was not there.
     * @param kinds          of each operation; below 0: none.
     * @return empty when all is well.
     */
    String judge(final String what, final long initialVersion, final int[] kinds)
    {
        final HistoryBuilder history = new HistoryBuilder(what);
        if (initialVersion != 0)
        {
            history.invoke(PREPARER, "put", 0, 100L).ok(PREPARER, initialVersion);
        }
        for (int i = 0; i < kinds.length; i++)
        {
            if (kinds[i] >= 0)
            {
                history.invoke(i, ClientView.function(kinds[i]), 0, input(kinds[i], i, initialVersion));
            }
        }
        for (int i = 0; i < kinds.length; i++)
        {
            if (kinds[i] >= 0)
            {
                history.complete(i, types[i], types[i] == EventType.OK ? outputs[i] : null);
            }
        }
        history.invoke(PREPARER, "get", 0, null).ok(PREPARER, outputs[PREPARER]);
        final LinearVerdict verdict = CHECKER.check(history.build());
        return verdict.validity() == Validity.VALID ? "" : verdict.explanation();
    }

    private static Object input(final int kind, final int i, final long initialVersion)
    {
        return switch (kind)
        {
            case OperationKind.PUT, OperationKind.PUT_IF_ABSENT, OperationKind.PUT_IF_PRESENT,
                OperationKind.APPEND -> 100L + i;
            case OperationKind.INCREMENT -> ClientView.delta(i);
            case OperationKind.REPLACE -> List.of(initialVersion, 100L + i);
            case OperationKind.DELETE_VERSION -> initialVersion;
            default -> null;
        };
    }

    @Override
    public String toString()
    {
        return Arrays.toString(outcomes);
    }
}
