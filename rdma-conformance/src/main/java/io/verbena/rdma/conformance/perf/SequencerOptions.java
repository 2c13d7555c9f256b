package io.verbena.rdma.conformance.perf;

/**
 * How much to measure.
 *
 * @param clients      queue pairs, 1 to 64.
 * @param window       numbers that a client waits for at once, 1 to 64.
 * @param numbersCount handed out while it is measured, after a tenth to warm up; 10 to 10^9.
 */
public record SequencerOptions(int clients, int window, int numbersCount)
{
}
