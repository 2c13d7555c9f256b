package io.verbena.rdma.conformance.perf;

import org.HdrHistogram.Histogram;

/**
 * Figures of one measurement.
 *
 * @param options             what was measured.
 * @param requestsCount       completed in the time measured.
 * @param durationNs          time measured, by the clock of the fabric.
 * @param latencyNs           from post to poll of each request.
 * @param allocatedBytes      of heap, by the measuring thread in the time measured; -1 where the JVM does not count
 *                            them.
 * @param leastAllocatedBytes the same in the 1,000 requests in a row that took the least; what the JVM itself allocates
 *                            now and then, as it replaces code, is not in there.
 */
public record PerfResult(
    PerfOptions options,
    long requestsCount,
    long durationNs,
    Histogram latencyNs,
    long allocatedBytes,
    long leastAllocatedBytes)
{
    private static final double NS_PER_S = 1e9;

    /**
     * Latency that a share of the requests did not exceed.
     *
     * @param percentile 0 to 100; 0 is the shortest, 100 the longest.
     * @return nanoseconds.
     */
    public long latencyNsAt(final double percentile)
    {
        return percentile == 0 ? latencyNs.getMinValue() : latencyNs.getValueAtPercentile(percentile);
    }

    /**
     * Whether requests allocate. One that does takes 16 bytes or more: then no thousand of them takes nothing, or all
     * together take more than there are requests.
     *
     * @return whether they do not; false where the JVM does not count.
     */
    public boolean allocatesNothing()
    {
        return leastAllocatedBytes == 0 && allocatedBytes < requestsCount;
    }

    /** @return mean latency in nanoseconds. */
    public double meanLatencyNs()
    {
        return latencyNs.getMean();
    }

    /** @return requests a second. */
    public double requestsPerSecond()
    {
        return requestsCount * NS_PER_S / durationNs;
    }

    /** @return payload bytes a second. */
    public double bytesPerSecond()
    {
        return requestsPerSecond() * options.sizeBytes();
    }
}
