package io.verbena.rdma.conformance;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** The runs under way: rules, which the test framework makes, find the path of theirs by its number. Thread-safe. */
final class RunningPaths
{
    /** Configuration parameter with the number of the run. */
    static final String RUN_PARAMETER = "verbena.conformance.run";
    /** Configuration parameter with the pattern that a rule's name has to contain. */
    static final String RULES_PARAMETER = "verbena.conformance.rules";
    private static final Map<String, ConformancePath> RUNNING = new ConcurrentHashMap<>();
    private static final AtomicLong LAST_RUN = new AtomicLong();

    private RunningPaths()
    {
    }

    /** @return number of the new run. */
    static String begin(final ConformancePath path)
    {
        final String run = Long.toString(LAST_RUN.incrementAndGet());
        RUNNING.put(run, path);
        return run;
    }

    static void end(final String run)
    {
        RUNNING.remove(run);
    }

    static ConformancePath path(final String run)
    {
        return RUNNING.get(run);
    }
}
