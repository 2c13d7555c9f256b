package io.verbena.rdma.conformance.perf;

/**
 * What one variant cost; the counts are of both sides together.
 *
 * @param variant          which.
 * @param numbersCount     handed out.
 * @param durationNs       by the clock of the fabric.
 * @param processorNs      of the one thread that plays both sides, in real time; what the kernel or an RNIC does
 *                         elsewhere is not in it.
 * @param requestsCount    work requests posted to send queues.
 * @param doorbellsCount   rung for these.
 * @param completionsCount of send queues, polled.
 * @param problem          what is wrong with the numbers, or empty.
 */
public record SequencerResult(
    SequencerVariant variant,
    int numbersCount,
    long durationNs,
    long processorNs,
    long requestsCount,
    long doorbellsCount,
    long completionsCount,
    String problem)
{
    /** @return numbers a second. */
    public double numbersPerSecond()
    {
        return numbersCount * 1e9 / durationNs;
    }
}
