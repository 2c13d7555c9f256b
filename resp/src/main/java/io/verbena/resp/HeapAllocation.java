package io.verbena.resp;

import java.lang.management.ManagementFactory;

/** What threads allocate on the heap, as the JVM counts it. Stateless. */
public final class HeapAllocation
{
    private HeapAllocation()
    {
    }

    /**
     * Asks the JVM.
     *
     * @param threadId of a live thread.
     * @return bytes that it has allocated so far; 0 where that is not known.
     */
    public static long ofThread(final long threadId)
    {
        return ManagementFactory.getThreadMXBean() instanceof final com.sun.management.ThreadMXBean counts ?
            Math.max(0, counts.getThreadAllocatedBytes(threadId)) : 0;
    }
}
