package io.verbena.rdma.spi;

/**
 * Times behind the codes of {@code timeout} and {@code min_rnr_timer} (specification, 9.7.6.1.3 and table 45). Pure.
 */
public final class RetryTimers
{
    /** A retry count of receiver-not-ready that never runs out. */
    public static final int RNR_RETRY_FOR_EVER = 7;
    /** Time that is never over. */
    public static final long NEVER_NS = Long.MAX_VALUE;

    private static final long ACK_UNIT_NS = 4_096;
    private static final long MICROSECOND_NS = 1_000;
    private static final int[] RNR_WAIT_US = {
        655_360, 10, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 640, 960, 1_280, 1_920,
        2_560, 3_840, 5_120, 7_680, 10_240, 15_360, 20_480, 30_720, 40_960, 61_440, 81_920, 122_880, 163_840, 245_760,
        327_680, 491_520 };

    private RetryTimers()
    {
    }

    /**
     * The wait that a receiver-not-ready answer asks for.
     *
     * @param code 0 to 31; 0 is the longest.
     * @return nanoseconds.
     */
    public static long rnrWaitNs(final int code)
    {
        return RNR_WAIT_US[code & 31] * MICROSECOND_NS;
    }

    /**
     * The wait for an acknowledgement.
     *
     * @param code 0 to 31; 0 waits for ever.
     * @return nanoseconds, or {@link #NEVER_NS}.
     */
    public static long ackTimeoutNs(final int code)
    {
        return code == 0 ? NEVER_NS : ACK_UNIT_NS << code;
    }

    /**
     * The time until a request that nobody answers fails with RETRY_EXC_ERR.
     *
     * @param code       as for {@link #ackTimeoutNs}.
     * @param retryCount 0 to 7 repetitions.
     * @return nanoseconds, or {@link #NEVER_NS}.
     */
    public static long retryTimeNs(final int code, final int retryCount)
    {
        final long onceNs = ackTimeoutNs(code);
        return onceNs == NEVER_NS ? NEVER_NS : onceNs * (retryCount + 1);
    }
}
