package io.verbena.rdma.soft;

import io.verbena.rdma.verbs.CompletionQueue;

/** What receives complete for, under a number of the queue pair table: a queue pair, or a DC target. */
interface SoftResponder
{
    int number();

    /** Any thread. */
    boolean isClosed();

    /** Any thread: events that peers left, as a set of ordinals of AsyncEventType; takes them. */
    long takeEvents();

    /** Any thread: whether a claim of this visitor is open in a queue of its own. */
    boolean hasClaimOf(int visitor);

    /** Its own queue of receives; null without. */
    SoftReceiveQueue receives();

    /** Polling thread: a completion of a receive was handed out. */
    void releaseReceive(long slotInRing);

    /** Polling thread: completes what will not be served any more. */
    void flushIfInError();

    /** Any thread. */
    void moveToError();

    /** How many completions may wait in a queue at once on its behalf. */
    int depthIn(CompletionQueue queue);

    /** Waits until the requesters are outside that were inside through it when this was called. */
    void awaitRequesters();

    /** Polling thread: whether completions lie in the slots of its receives. */
    static boolean hasDirectCompletion(final SoftResponder queuePair)
    {
        final SoftReceiveQueue receives = queuePair.receives();
        return receives != null && receives.hasCompletion();
    }
}
