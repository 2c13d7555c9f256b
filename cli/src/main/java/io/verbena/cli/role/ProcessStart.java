package io.verbena.cli.role;

import org.agrona.concurrent.SystemNanoClock;

/** When this process began to run code of Verbena. Written by the main thread before any other reads it. */
public final class ProcessStart
{
    private static long mainNs;

    private ProcessStart()
    {
    }

    /** Called by {@code main}, first of all. */
    public static void mark()
    {
        mainNs = SystemNanoClock.INSTANCE.nanoTime();
    }

    /** @return when {@code main} began, by the clock that all processes of a host share; 0 when it did not. */
    static long mainNs()
    {
        return mainNs;
    }
}
