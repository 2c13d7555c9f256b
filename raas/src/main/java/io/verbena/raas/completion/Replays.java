package io.verbena.raas.completion;

/**
 * What became of queue pairs that broke, and of their requests, so far.
 *
 * @param queuePairs      queue pairs that were replaced.
 * @param requests        requests that were posted again.
 * @param unknownOutcomes batches that ended with an unknown outcome.
 */
public record Replays(long queuePairs, long requests, long unknownOutcomes)
{
    /** Of what has no connections. */
    public static final Replays NONE = new Replays(0, 0, 0);
}
