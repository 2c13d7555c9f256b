package io.verbena.load.wire;

import io.verbena.load.LoadException;
import io.verbena.rdma.roce.engine.EngineOptions;

import java.util.Arrays;

/**
 * How the wire is measured.
 *
 * @param mtuBytes      of the link, 1,280 to 9,000.
 * @param windowPackets packets of a queue pair in flight, 1 to 4,096.
 * @param rounds        of each measurement, 1 or more; the median counts.
 * @param roundMs       milliseconds of a round.
 * @param only          what the names of the figures begin with that are wanted; empty for all.
 */
public record WireOptions(int mtuBytes, int windowPackets, int rounds, int roundMs, String only)
{
    /** MTU of Ethernet. */
    public static final int MTU_BYTES = 1_500;
    /** Window of a queue pair, that of the provider {@code roce}. */
    public static final int WINDOW_PACKETS = EngineOptions.WINDOW_PACKETS;
    /** Rounds unless said otherwise. */
    public static final int ROUNDS = 7;
    /** Milliseconds of a round unless said otherwise. */
    public static final int ROUND_MS = 300;

    private static final int MIN_MTU_BYTES = 1_280;
    private static final int MAX_MTU_BYTES = 9_000;
    private static final int MAX_WINDOW_PACKETS = 4_096;
    private static final int HEADER_BYTES = 80;

    /** Checks the ranges. */
    public WireOptions
    {
        if (mtuBytes < MIN_MTU_BYTES || mtuBytes > MAX_MTU_BYTES)
        {
            throw new LoadException(LoadException.Reason.USAGE,
                "the MTU of the link must be " + MIN_MTU_BYTES + " to " + MAX_MTU_BYTES + ": " + mtuBytes);
        }
        if (windowPackets < 1 || windowPackets > MAX_WINDOW_PACKETS)
        {
            throw new LoadException(LoadException.Reason.USAGE,
                "the window must be 1 to " + MAX_WINDOW_PACKETS + " packets: " + windowPackets);
        }
    }

    /** Whether one of some figures, which are measured together, is wanted. */
    boolean wants(final String... figures)
    {
        return Arrays.stream(figures).anyMatch(figure -> figure.startsWith(only));
    }

    /** The largest path MTU of RDMA that fits the link with all headers. */
    int pathMtuBytes()
    {
        int pathMtuBytes = 4_096;
        while (pathMtuBytes + HEADER_BYTES > mtuBytes)
        {
            pathMtuBytes /= 2;
        }
        return pathMtuBytes;
    }
}
