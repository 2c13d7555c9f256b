package io.verbena.table.operation;

/** Whether an operation may go on, or waits for a time, a split, a connection or its turn among the writers. */
final class Pause
{
    long untilNs;
    /** Groups of the subtable that has no slot for it, and whose split it waits for; or 0. How often it has waited. */
    long fullGroupsOffset;
    int fullWaits;
    boolean waiting;
    /** Counts among the writers under way, see {@link Contention}. */
    boolean isAdmitted;
    /** Admitted, but does not count while it waits for a connection. */
    boolean isAway;

    /** Waits for a split of a subtable, however it hears of it, or for some time. */
    void awaitSplit(final long groupsOffset, final long limitNs)
    {
        untilNs = limitNs;
        fullGroupsOffset = groupsOffset;
        fullWaits++;
    }

    /** @return whether the operation is not to go on yet. */
    boolean isOn(final Request request, final long nowNs)
    {
        return untilNs - nowNs > 0 && (fullGroupsOffset == 0 ||
            fullGroupsOffset == request.table.directory.groupsOffset(request.directoryEntry()));
    }

    void reset()
    {
        untilNs = 0;
        fullGroupsOffset = 0;
        fullWaits = 0;
        isAdmitted = false;
        isAway = false;
    }
}
