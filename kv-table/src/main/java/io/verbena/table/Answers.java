package io.verbena.table;

/**
 * What the end of a leader tells those that waited when it began: what each would be told right behind it, where that
 * changes nothing. Section "Combined writers" of {@code docs/protocol/point-operations.md}. Single owner thread.
 */
final class Answers
{
    /** It would change something, or it is not known what is there: it has to run. */
    static final int NONE = -1;

    private final OperationRunner runner;
    private final int droppedGuards;

    Answers(final OperationRunner runner, final int droppedGuards)
    {
        this.runner = runner;
        this.droppedGuards = droppedGuards;
    }

    /** @return what a waiter is told right behind a leader that has ended, or {@link #NONE}; also if there is none. */
    int of(final Operation leader, final Operation waiter)
    {
        final boolean isInTime = waiter != null &&
            (waiter.turn <= leader.turn || isDropped(CombinerGuard.ANSWERED_IN_TIME));
        return isInTime ? behind(leader, waiter) : NONE;
    }

    /** Ends a waiter, which waits no more. */
    void tell(final Operation leader, final Operation waiter, final int result)
    {
        waiter.version = result == OperationResult.NOT_FOUND ? 0 : versionLeft(leader);
        runner.counters.answered++;
        runner.report(waiter, result);
        runner.release(waiter);
    }

    private boolean isDropped(final int guard)
    {
        return (droppedGuards & guard) != 0;
    }

    private int behind(final Operation leader, final Operation waiter)
    {
        return switch (leader.fate)
        {
            case OperationResult.STORED, OperationResult.DELETED -> behindChange(leader, waiter);
            case OperationResult.EXISTS, OperationResult.VERSION_MISMATCH -> whereThere(waiter, leader.version);
            case OperationResult.NOT_FOUND -> whereAbsent(waiter);
            // Nothing is certain, or it was not the key that was in the way.
            default -> isDropped(CombinerGuard.ANSWERED_BY_CERTAINTY) ? behindChange(leader, waiter) : NONE;
        };
    }

    private int behindChange(final Operation leader, final Operation waiter)
    {
        return OperationKind.storesValue(leader.kind) ? whereThere(waiter, leader.ownVersion) : whereAbsent(waiter);
    }

    private static long versionLeft(final Operation leader)
    {
        return leader.fate == OperationResult.EXISTS || leader.fate == OperationResult.VERSION_MISMATCH ?
            leader.version : leader.ownVersion;
    }

    private int whereThere(final Operation waiter, final long version)
    {
        if (waiter.kind == OperationKind.PUT_IF_ABSENT)
        {
            return OperationResult.EXISTS;
        }
        final boolean isOther =
            waiter.expectedVersion != version || isDropped(CombinerGuard.ANSWERED_BY_VERSION);
        return OperationKind.isByVersion(waiter.kind) && isOther ? OperationResult.VERSION_MISMATCH : NONE;
    }

    private static int whereAbsent(final Operation waiter)
    {
        return OperationKind.inserts(waiter.kind) ? NONE : OperationResult.NOT_FOUND;
    }
}
