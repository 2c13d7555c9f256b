package io.verbena.rdma.conformance.perf;

/**
 * What to measure and how long.
 *
 * @param operation       of each request.
 * @param sizeBytes       payload, 1 to 2^20; 8 for atomics.
 * @param depth           requests outstanding on each queue pair, 1 to 1,024; with 1 the latency is that of a request
 *                        alone.
 * @param queuePairsCount connected and used in turn, 1 to 1,024.
 * @param durationNs      of the measurement, after a tenth of it to warm up.
 */
public record PerfOptions(PerfOperation operation, int sizeBytes, int depth, int queuePairsCount, long durationNs)
{
}
