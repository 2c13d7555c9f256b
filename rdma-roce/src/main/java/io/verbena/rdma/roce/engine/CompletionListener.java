package io.verbena.rdma.roce.engine;

import io.verbena.rdma.verbs.CompletionQueue;

/** Learns that an armed completion queue has something to poll. Called by the engine's thread; must not block. */
@FunctionalInterface
public interface CompletionListener
{
    /**
     * Called once for each arming.
     *
     * @param queue with a completion to poll.
     */
    void onNotification(CompletionQueue queue);

    /**
     * Called once when a queue has been closed, by the thread that closes it; it raises nothing any more.
     *
     * @param queue closed.
     */
    default void onClosed(final CompletionQueue queue)
    {
        // most keep nothing of it
    }
}
