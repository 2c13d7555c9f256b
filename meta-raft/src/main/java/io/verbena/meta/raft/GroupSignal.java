package io.verbena.meta.raft;

/**
 * Ends the sleep of the thread that polls a {@link Leadership}, when the log has something for it: by its clock alone
 * it would notice each step of an election some time later. Thread-safe. Never raised after it was closed, so what it
 * calls may be closed then.
 */
final class GroupSignal
{
    private static final Runnable NOBODY = () -> { };

    private Runnable wake = NOBODY;
    private boolean isClosed;

    /** @param sleeper ends the sleep; called by any thread, and must not block. */
    synchronized void onRaised(final Runnable sleeper)
    {
        if (!isClosed)
        {
            wake = sleeper;
        }
    }

    synchronized void raise()
    {
        wake.run();
    }

    synchronized void close()
    {
        isClosed = true;
        wake = NOBODY;
    }
}
