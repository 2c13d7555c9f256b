package io.verbena.rdma.sim.device;

import io.verbena.rdma.spi.RetryTimers;

/** How often a request was tried in vain, and when it may be tried next. */
final class SimRetries
{
    private static final long RNR_RETRY_NS = 2_000;

    private int lostResponses;
    /** How often it met no receive. */
    private int rnrMisses;
    /** Until when a SEND waits for a receive; 0 before it has met none. */
    private long rnrDeadlineNs;
    private long notBeforeNs;

    int lostResponses()
    {
        return lostResponses;
    }

    void responseLost()
    {
        lostResponses++;
    }

    int rnrMisses()
    {
        return rnrMisses;
    }

    /** The responder does not touch it earlier. */
    long notBeforeNs()
    {
        return notBeforeNs;
    }

    void notBefore(final long timeNs)
    {
        notBeforeNs = timeNs;
    }

    /** It met no receive, and may wait so long in all; false when that is over. */
    boolean awaitReceive(final long nowNs, final long timeoutNs)
    {
        if (rnrDeadlineNs == 0)
        {
            rnrDeadlineNs = nowNs + timeoutNs;
        }
        notBeforeNs = nowNs + RNR_RETRY_NS;
        return nowNs < rnrDeadlineNs;
    }

    /** It met no receive, and may be tried so often in all; false when it was. */
    boolean awaitReceiveUntil(final long timeNs, final int mostRetries)
    {
        if (mostRetries != RetryTimers.RNR_RETRY_FOR_EVER && rnrMisses >= mostRetries)
        {
            return false;
        }
        rnrMisses++;
        notBeforeNs = timeNs;
        return true;
    }
}
