package io.verbena.server;

import java.util.concurrent.TimeUnit;

/**
 * What the start of a node's process spent its time on before there was a node, as instants in nanoseconds on the clock
 * that all processes of a host share.
 *
 * @param mainNs      the JVM is there and runs the program.
 * @param calledNs    the command line is understood.
 * @param bootstrapNs the handshake with the cluster is done.
 * @param fabricNs    the fabric is open.
 */
public record StartTimeline(long mainNs, long calledNs, long bootstrapNs, long fabricNs)
{
    /** @return durations of the steps in microseconds, one line. */
    public String breakdown()
    {
        return "command=" + microseconds(mainNs, calledNs) + "us bootstrap=" + microseconds(calledNs, bootstrapNs) +
            "us fabric=" + microseconds(bootstrapNs, fabricNs) + "us";
    }

    private static long microseconds(final long fromNs, final long toNs)
    {
        return TimeUnit.NANOSECONDS.toMicros(toNs - fromNs);
    }
}
