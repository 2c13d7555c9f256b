package io.verbena.raas.completion;

/** Counts what becomes of queue pairs of one context that break, and of their requests. One thread. */
public final class ReplayCounters
{
    private long queuePairs;
    private long requests;
    private long unknownOutcomes;

    /** A queue pair takes the place of one that broke. */
    public void onReplaced()
    {
        queuePairs++;
    }

    /** @param requestCount posted again. */
    public void onReplayed(final int requestCount)
    {
        requests += requestCount;
    }

    /** A batch ended with an unknown outcome. */
    public void onUnknownOutcome()
    {
        unknownOutcomes++;
    }

    /** @return the counts so far; a new object. */
    public Replays replays()
    {
        return new Replays(queuePairs, requests, unknownOutcomes);
    }
}
