package io.verbena.table;

import io.verbena.elle.Validity;
import io.verbena.elle.history.EventType;
import io.verbena.elle.history.HistoryBuilder;
import io.verbena.elle.linear.LinearChecker;
import io.verbena.elle.linear.LinearOptions;
import io.verbena.elle.linear.LinearVerdict;
import io.verbena.elle.linear.Models;
import io.verbena.table.operation.Operation;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.OperationResult;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * What the operations of a race on one key returned, and whether that is linearizable in real-time order: whatever had
 * ended before another one's first request took effect stands before it. All are handed to their engines at once, but
 * what has had no effect yet might just as well begin only then.
 */
final class RaceHistory
{
    private static final int PREPARER = 0;
    /** Process of what the clocks do. */
    private static final int CLOCK = 1000;
    private static final LinearChecker<?> CHECKER =
        new LinearChecker<>(Models.versionedKvMap(), LinearOptions.defaults().withThreads(1));

    private final String[] outcomes;
    private final Object[] outputs;
    private final EventType[] types;
    /** By operation, as bits: those that had ended with a result when it began. */
    private final long[] predecessors;
    /** Of the record that is there before; 0: none. */
    private long deadline;
    private boolean hasPassedForAll;

    /** @param operations the first of which is the last GET, of what there is in the end. */
    RaceHistory(final int operations)
    {
        outcomes = new String[operations];
        outputs = new Object[operations];
        types = new EventType[operations];
        predecessors = new long[operations];
    }

    /** The record that is there has a deadline, which passes for some racing engines, or for all, before they begin. */
    void expire(final long recordDeadline, final boolean isForAll)
    {
        deadline = recordDeadline;
        hasPassedForAll = isForAll;
    }

    void begin(final int operation)
    {
        outcomes[operation] = null;
        types[operation] = EventType.INFO;
        predecessors[operation] = 0;
    }

    /**
     * An operation has ended before others began.
     *
     * @param ended  at least {@link #note noted}; one without a result precedes nobody.
     * @param others that have had no effect yet.
     */
    void precede(final int ended, final IntStream others)
    {
        others.filter(other -> types[ended] == EventType.OK).forEach(other -> predecessors[other] |= 1L << ended);
    }

    /** @return a hash of which operations ended before which others began; 0: all overlap. */
    long orderHash()
    {
        return Arrays.stream(predecessors).allMatch(before -> before == 0) ? 0 : Arrays.hashCode(predecessors);
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
        note(i, op.result(), outputOf(op));
    }

    void note(final int i, final int result, final Object output)
    {
        types[i] = switch (result)
        {
            case OperationResult.NOT_A_COUNTER, OperationResult.NODE_UNAVAILABLE -> EventType.FAIL;
            case OperationResult.OUTCOME_UNKNOWN -> EventType.INFO;
            default -> EventType.OK;
        };
        outputs[i] = output;
        outcomes[i] = OperationResult.name(result) + output;
    }

    private static Object outputOf(final Operation op)
    {
        return switch (op.result())
        {
            case OperationResult.FOUND -> op.kind() == OperationKind.EXISTS ?
                true : Arrays.asList(ClientView.value(op), op.version());
            case OperationResult.NOT_FOUND -> switch (op.kind())
            {
                case OperationKind.GET -> null;
                case OperationKind.EXISTS, OperationKind.DELETE, OperationKind.EXPIRE -> false;
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
            history.invoke(PREPARER, deadline == 0 ? "put" : "put-until", 0, deadline == 0 ? 100L :
                List.of(100L, deadline)).ok(PREPARER, initialVersion);
        }
        if (deadline != 0)
        {
            history.invoke(CLOCK, "elapse", 0, deadline);
        }
        if (hasPassedForAll)
        {
            history.ok(CLOCK, null);
        }
        long ended = 0;
        // Those that some precede are preceded by all that had ended until then: so their sets are nested.
        for (final int i : IntStream.range(0, kinds.length).filter(i -> kinds[i] >= 0).boxed()
            .sorted(Comparator.comparingInt(i -> Long.bitCount(predecessors[i]))).toList())
        {
            ended = complete(history, kinds, predecessors[i], ended);
            history.invoke(i, ClientView.function(kinds[i]), 0, input(kinds[i], i, initialVersion));
        }
        complete(history, kinds, -1, ended);
        if (deadline != 0 && !hasPassedForAll)
        {
            history.ok(CLOCK, null);
        }
        history.invoke(PREPARER, "get", 0, null).ok(PREPARER, outputs[PREPARER]);
        final LinearVerdict verdict = CHECKER.check(history.build());
        return verdict.validity() == Validity.VALID ? "" : verdict.explanation();
    }

    /** @return those ended now. */
    private long complete(final HistoryBuilder history, final int[] kinds, final long which, final long ended)
    {
        for (int i = 0; i < kinds.length; i++)
        {
            if (kinds[i] >= 0 && (which & ~ended & 1L << i) != 0)
            {
                history.complete(i, types[i], types[i] == EventType.OK ? outputs[i] : null);
            }
        }
        return ended | which;
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
            case OperationKind.EXPIRE -> Arrays.asList(null, "always");
            default -> null;
        };
    }

    @Override
    public String toString()
    {
        return Arrays.toString(outcomes) + " after " + Arrays.toString(predecessors);
    }
}
