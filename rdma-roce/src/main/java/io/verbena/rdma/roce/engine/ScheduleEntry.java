package io.verbena.rdma.roce.engine;

import io.verbena.rdma.spi.RetryTimers;

/** A queue pair in the {@link Schedule}. */
abstract class ScheduleEntry
{
    ScheduleEntry nextReady;
    boolean isReady;
    /** Used by {@link PostedQueuePairs}. */
    ScheduleEntry nextPosted;
    /** Used by {@link PostedQueuePairs}: 1 while it is on the list. */
    int postedMark;
    long deadlineNs = RetryTimers.NEVER_NS;

    /**
     * Sends what can be sent.
     *
     * @param quantum most packets of each role.
     * @return whether there is more to send now.
     */
    abstract boolean transmit(int quantum);

    /**
     * The deadline is over.
     *
     * @param nowNs time.
     */
    abstract void onTimer(long nowNs);
}
