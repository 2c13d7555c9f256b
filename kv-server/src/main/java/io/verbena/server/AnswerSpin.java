package io.verbena.server;

/**
 * Whether the thread of a role that awaits answers over a network goes on polling: for about as long as another host
 * takes, since to sleep and to be woken would take as long again. Not where others want the processor, which shows in
 * polls that are far apart: then it sleeps at once for a while. Used by one thread.
 */
final class AnswerSpin
{
    /** Polls until an answer is overdue. */
    static final long SPIN_NS = 40_000;
    /** Two polls so far apart have had another thread between them. */
    static final long GAP_NS = 200_000;
    /** How long it does without polling then. */
    static final long CROWDED_NS = 20_000_000;

    private long beganNs;
    private long polledNs;
    private long crowdedUntilNs = Long.MIN_VALUE >> 1;
    private boolean isSpinning;
    /** The last answer here: a thread that has slept since is no sign of others. */
    private boolean wasPolling;

    /** Something has arrived. */
    void onWork()
    {
        isSpinning = false;
    }

    /**
     * Nothing has.
     *
     * @param nowNs time now.
     * @return whether to poll again at once.
     */
    boolean polls(final long nowNs)
    {
        if (!isSpinning)
        {
            isSpinning = true;
            beganNs = nowNs;
        }
        else if (wasPolling && nowNs - polledNs > GAP_NS)
        {
            crowdedUntilNs = nowNs + CROWDED_NS;
        }
        polledNs = nowNs;
        wasPolling = nowNs - beganNs < SPIN_NS && nowNs - crowdedUntilNs >= 0;
        return wasPolling;
    }
}
