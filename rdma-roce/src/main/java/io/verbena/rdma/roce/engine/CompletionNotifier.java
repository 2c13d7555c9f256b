package io.verbena.rdma.roce.engine;

import java.lang.invoke.VarHandle;

/**
 * The completion queues that got completions since their listeners were last considered. Listeners are called when the
 * engine is between two packets, so that they may call any verb. Used by the thread that drives.
 */
final class CompletionNotifier
{
    private RoceCompletionQueue first;
    private boolean isRunning;

    /** A queue that is not in the list got a completion. */
    void add(final RoceCompletionQueue queue)
    {
        queue.nextNotified = first;
        first = queue;
    }

    /** Calls the listeners of the queues that are armed. What a listener completes is considered by the outer call. */
    void run()
    {
        if (first == null || isRunning)
        {
            return;
        }
        isRunning = true;
        try
        {
            while (first != null)
            {
                final RoceCompletionQueue queue = first;
                first = queue.nextNotified;
                queue.nextNotified = null;
                // Between the completion and the look at the arm: who arms and then polls does it the other way round,
                // so that one of both sees the other.
                VarHandle.fullFence();
                queue.raise();
            }
        }
        finally
        {
            isRunning = false;
        }
    }
}
