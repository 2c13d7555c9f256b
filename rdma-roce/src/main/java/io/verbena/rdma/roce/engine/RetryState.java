package io.verbena.rdma.roce.engine;

import io.verbena.rdma.spi.RetryTimers;
import io.verbena.rdma.verbs.QueuePairAttributes;

/** How often and when a requester tries again; any progress begins the counts anew. */
final class RetryState
{
    private long timeoutNs;
    private int retryCount;
    private int rnrRetryCount;
    private int retriesLeft;
    private int rnrRetriesLeft;
    private int backoff;
    private boolean isArmed;
    private boolean isWaiting;

    /**
     * Takes values that count from the next progress on.
     *
     * @param attributes with time-out, retry count and RNR retry count.
     */
    void configure(final QueuePairAttributes attributes)
    {
        timeoutNs = RetryTimers.ackTimeoutNs(attributes.timeout());
        retryCount = attributes.retryCount();
        rnrRetryCount = attributes.rnrRetry();
    }

    void onProgress()
    {
        retriesLeft = retryCount;
        rnrRetriesLeft = rnrRetryCount;
        disarm();
    }

    void disarm()
    {
        backoff = 0;
        isArmed = false;
        isWaiting = false;
    }

    /** Whether a deadline for an answer is set. */
    boolean isArmed()
    {
        return isArmed;
    }

    /** Whether the peer asked to wait until it has a receive. */
    boolean isWaiting()
    {
        return isWaiting;
    }

    /** Begins to wait for an answer; returns the deadline. */
    long arm(final long nowNs)
    {
        isArmed = true;
        return after(nowNs);
    }

    /** Whether a request without an answer may be sent once more. */
    boolean mayRepeat()
    {
        return retriesLeft > 0;
    }

    /** A request is sent once more, and waited for longer than before; returns the deadline. */
    long repeat(final long nowNs, final int maxBackoff)
    {
        retriesLeft--;
        backoff = Math.min(backoff + 1, maxBackoff);
        isArmed = true;
        return after(nowNs);
    }

    /** Whether a request that met no receive may be sent once more. */
    boolean mayWaitForReceive()
    {
        return rnrRetryCount == RetryTimers.RNR_RETRY_FOR_EVER || rnrRetriesLeft > 0;
    }

    /** Nothing is sent until the time that the peer asked for is over; returns that time. */
    long awaitReceive(final long nowNs, final int code)
    {
        rnrRetriesLeft--;
        // The peer is there and has said so: only what is lost in a row counts as not answered.
        retriesLeft = retryCount;
        backoff = 0;
        isWaiting = true;
        isArmed = false;
        return nowNs + RetryTimers.rnrWaitNs(code);
    }

    /** The time to wait is over. */
    void endWait()
    {
        isWaiting = false;
    }

    private long after(final long nowNs)
    {
        return timeoutNs == RetryTimers.NEVER_NS ? RetryTimers.NEVER_NS : nowNs + (timeoutNs << backoff);
    }
}
