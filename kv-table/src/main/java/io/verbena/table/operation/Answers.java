package io.verbena.table.operation;

/**
 * What the end of a leader means for those that waited when it began: the answer of each right behind it, where that
 * changes nothing. See {@code docs/protocol/combined-writers.md}. Single owner thread.
 */
final class Answers
{
    /** It would change something, or it is not known what is there: it has to run. */
    static final int NONE = -1;

    private final OperationFlow flow;

    Answers(final OperationFlow flow)
    {
        this.flow = flow;
    }

    /** @return the answer of a waiter right behind a leader that has ended, or {@link #NONE}; also if there is none. */
    int of(final Operation leader, final Operation waiter)
    {
        return waiter != null && isInTime(leader, waiter) ? behind(leader, waiter) : NONE;
    }

    /** Whether an operation waited before a leader had read anything. */
    private static boolean isInTime(final Operation leader, final Operation waiter)
    {
        return waiter.combining.turn <= leader.combining.turn;
    }

    /** Ends a waiter, which waits no more. */
    void tell(final Operation leader, final Operation waiter, final int result)
    {
        waiter.answer.version = result == OperationResult.NOT_FOUND ? 0 : versionLeft(leader);
        flow.counters.answered++;
        flow.report(waiter, result);
        flow.release(waiter);
    }

    private int behind(final Operation leader, final Operation waiter)
    {
        return switch (leader.combining.fate)
        {
            // Not where there is a deadline: it may have passed by the time that the waiter ends.
            case OperationResult.EXISTS, OperationResult.VERSION_MISMATCH ->
                leader.answer.expiryMs == 0 ? whereThere(waiter, leader.answer.version) : NONE;
            case OperationResult.NOT_FOUND -> whereAbsent(waiter);
            // Otherwise nothing is certain, or it was not the key that was in the way.
            default -> tookEffect(leader) ? behindChange(leader, waiter) : NONE;
        };
    }

    private static boolean tookEffect(final Operation leader)
    {
        return leader.combining.fate == OperationResult.STORED || leader.combining.fate == OperationResult.DELETED;
    }

    private int behindChange(final Operation leader, final Operation waiter)
    {
        if (!OperationKind.storesValue(leader.request.kind))
        {
            return whereAbsent(waiter);
        }
        return leader.block.expiryMs == 0 ? whereThere(waiter, leader.block.version) : NONE;
    }

    private static long versionLeft(final Operation leader)
    {
        return leader.combining.fate == OperationResult.EXISTS ||
            leader.combining.fate == OperationResult.VERSION_MISMATCH ?
            leader.answer.version : leader.block.version;
    }

    private int whereThere(final Operation waiter, final long version)
    {
        if (waiter.request.kind == OperationKind.PUT_IF_ABSENT)
        {
            return OperationResult.EXISTS;
        }
        return OperationKind.isByVersion(waiter.request.kind) && isMismatch(waiter, version) ?
            OperationResult.VERSION_MISMATCH : NONE;
    }

    private static boolean isMismatch(final Operation waiter, final long version)
    {
        return waiter.request.expectedVersion != version;
    }

    private static int whereAbsent(final Operation waiter)
    {
        return OperationKind.inserts(waiter.request.kind) ? NONE : OperationResult.NOT_FOUND;
    }
}
