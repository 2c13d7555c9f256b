package io.verbena.cli.autoscale.policy;

/**
 * What an operator sets.
 *
 * @param minNodes     fewest compute nodes, 1 or more.
 * @param maxNodes     most compute nodes, not below {@code minNodes}.
 * @param targetShare  of its time that a node is to work, above 0 and at most 0.9.
 * @param objectiveUs  that the 99th percentile of responses is to keep, in microseconds; 0 for none.
 * @param upWindowMs   for which more nodes have to be needed, all the time, until they are started; 0 or more.
 * @param downWindowMs for which fewer nodes have to be enough, all the time, until some are ended; 0 or more.
 * @param stepNodes    most nodes that one decision starts or ends, 1 or more.
 * @param cooldownMs   between two decisions that end nodes, 0 or more.
 */
public record ScaleLimits(
    int minNodes, int maxNodes, double targetShare, double objectiveUs, long upWindowMs, long downWindowMs,
    int stepNodes, long cooldownMs)
{
    /** Refuses what cannot be kept. */
    public ScaleLimits
    {
        if (minNodes < 1 || maxNodes < minNodes || !(targetShare > 0) || targetShare > ScalePolicy.SATURATED_SHARE ||
            !(objectiveUs >= 0) || upWindowMs < 0 || downWindowMs < 0 || stepNodes < 1 || cooldownMs < 0)
        {
            throw new IllegalArgumentException("minNodes=" + minNodes + " maxNodes=" + maxNodes + " targetShare=" +
                targetShare + " objectiveUs=" + objectiveUs + " upWindowMs=" + upWindowMs + " downWindowMs=" +
                downWindowMs + " stepNodes=" + stepNodes + " cooldownMs=" + cooldownMs);
        }
    }
}
