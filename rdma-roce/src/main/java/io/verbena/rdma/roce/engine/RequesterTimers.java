package io.verbena.rdma.roce.engine;

import io.verbena.rdma.spi.RetryTimers;
import io.verbena.rdma.verbs.QueuePairAttributes;

/**
 * When a requester has to act though no packet comes: an answer is overdue, one takes longer than usual, the time to
 * wait for a receive is over, or the next packet may leave. Used by the engine's thread.
 */
final class RequesterTimers
{
    private static final int MAX_BACKOFF = 2;

    final RetryState retries = new RetryState();
    final CongestionWindow congestion;
    private final QueuePairPort queuePair;
    /** When an answer is late; as long as one is awaited. */
    private long probeNs;
    private long paceNs = RetryTimers.NEVER_NS;

    RequesterTimers(final QueuePairPort queuePair)
    {
        this.queuePair = queuePair;
        congestion = new CongestionWindow(queuePair.engine().options().windowPackets());
    }

    /** Begins to wait for an answer, unless that has begun. */
    void arm(final long nowNs)
    {
        if (!retries.isArmed())
        {
            retries.arm(nowNs);
            probeNs = congestion.probeNs(nowNs);
            update();
        }
    }

    /** Nothing is waited for any more. */
    void disarm()
    {
        retries.disarm();
        update();
    }

    /** Waits for a receive of the peer. */
    void awaitReceive(final int code)
    {
        retries.awaitReceive(queuePair.engine().nowNs(), code);
        update();
    }

    /** Whether the next packet must not leave yet; then the queue pair is woken when it may. */
    boolean isPaced()
    {
        final boolean isPaced = congestion.sendNs() > 0 && congestion.sendNs() > queuePair.engine().nowNs();
        if (isPaced)
        {
            paceNs = congestion.sendNs();
            update();
        }
        return isPaced;
    }

    /** A packet was sent, which asked for {@code count} PSNs. */
    void onSent(final int end, final int count, final boolean isNew)
    {
        if (congestion.needsTime() || !retries.isArmed())
        {
            final long nowNs = queuePair.engine().nowNs();
            congestion.onSent(end, isNew, nowNs);
            congestion.pace(count, nowNs);
            arm(nowNs);
        }
    }

    /** Whether an answer, or the end of a wait, is overdue. */
    boolean isOver(final long nowNs)
    {
        paceNs = nowNs >= paceNs ? RetryTimers.NEVER_NS : paceNs;
        return nowNs >= retries.deadlineNs();
    }

    /** Whether an answer takes longer than usual. */
    boolean isLate(final long nowNs)
    {
        return retries.isArmed() && nowNs >= probeNs;
    }

    /** What was sent is sent once more; the retry counts, and waits longer than before. */
    void repeat(final long nowNs)
    {
        retries.repeat(nowNs, MAX_BACKOFF);
        congestion.onTimeout();
        probeNs = congestion.probeNs(nowNs);
    }

    /** A late answer is asked for, which counts as no retry; returns whether with the last packet, else the first. */
    boolean onProbe(final long nowNs)
    {
        final boolean isLast = congestion.onProbe();
        probeNs = congestion.probeNs(nowNs);
        return isLast;
    }

    /** Sets the queue pair's deadline anew. */
    void update()
    {
        final long answerNs = retries.isArmed() ? Math.min(retries.deadlineNs(), probeNs) : retries.deadlineNs();
        queuePair.deadline(Math.min(answerNs, paceNs));
    }

    void clear()
    {
        paceNs = RetryTimers.NEVER_NS;
        congestion.start();
    }

    /** How often and when a requester tries again; any progress begins the counts anew. */
    static final class RetryState
    {
        private long timeoutNs;
        private int retryCount;
        private int rnrRetryCount;
        private int retriesLeft;
        private int rnrRetriesLeft;
        private int backoff;
        private long deadlineNs = RetryTimers.NEVER_NS;
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
            deadlineNs = RetryTimers.NEVER_NS;
        }

        /** When an answer is overdue, or the time to wait for a receive is over. */
        long deadlineNs()
        {
            return deadlineNs;
        }

        /** Whether an answer is awaited; never while a receive of the peer is. */
        boolean isArmed()
        {
            return isArmed;
        }

        /** Whether the peer asked to wait until it has a receive. */
        boolean isWaiting()
        {
            return isWaiting;
        }

        /** Begins to wait for an answer. */
        void arm(final long nowNs)
        {
            isArmed = true;
            deadlineNs = after(nowNs);
        }

        /** Whether a request without an answer may be sent once more. */
        boolean mayRepeat()
        {
            return retriesLeft > 0;
        }

        /** A request whose answer is overdue is sent once more, and waited for longer than before. */
        void repeat(final long nowNs, final int maxBackoff)
        {
            retriesLeft--;
            backoff = Math.min(backoff + 1, maxBackoff);
            deadlineNs = after(nowNs);
        }

        /** Whether a request that met no receive may be sent once more. */
        boolean mayWaitForReceive()
        {
            return rnrRetryCount == RetryTimers.RNR_RETRY_FOR_EVER || rnrRetriesLeft > 0;
        }

        /** Nothing is sent until the time that the peer asked for is over. */
        void awaitReceive(final long nowNs, final int code)
        {
            rnrRetriesLeft--;
            // The peer is there and has said so: only what is lost in a row counts as not answered.
            retriesLeft = retryCount;
            backoff = 0;
            isWaiting = true;
            isArmed = false;
            deadlineNs = nowNs + RetryTimers.rnrWaitNs(code);
        }

        /** The time to wait is over. */
        void endWait()
        {
            isWaiting = false;
            deadlineNs = RetryTimers.NEVER_NS;
        }

        private long after(final long nowNs)
        {
            return timeoutNs == RetryTimers.NEVER_NS ? RetryTimers.NEVER_NS : nowNs + (timeoutNs << backoff);
        }
    }
}
