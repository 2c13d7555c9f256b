package io.verbena.cli.autoscale.policy;

/**
 * What was asked of the compute nodes during one period.
 *
 * @param reportingNodes      that were measured; those that gave no figures are not among them.
 * @param useNodes            the work, in nodes that would do nothing else: of each node the larger one of the share of
 *                            its time that it worked and the share of its slots that was taken.
 * @param operationsPerSecond answered, of all nodes.
 * @param p99Us               99th percentile of the time from arrival to answer, of all nodes; 0 without operations.
 * @param waitP99Us           99th percentile of the time in the queue, of all nodes; 0 without operations.
 * @param processorShare      processors that the threads of the nodes used together, polling included.
 */
public record Demand(
    int reportingNodes, double useNodes, double operationsPerSecond, double p99Us, double waitP99Us,
    double processorShare)
{
    /** Nobody has reported. */
    public static final Demand NONE = new Demand(0, 0, 0, 0, 0, 0);

    /** @return share of its time that a measured node works, on average; 0 when none was measured. */
    public double shareOfNode()
    {
        return 0 == reportingNodes ? 0 : useNodes / reportingNodes;
    }
}
