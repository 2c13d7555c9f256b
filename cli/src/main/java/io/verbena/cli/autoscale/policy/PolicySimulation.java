package io.verbena.cli.autoscale.policy;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongToDoubleFunction;

/**
 * A cluster that follows the policy through a load. A node works at most all of its time; what is more is not served.
 * Nodes that are started serve, and report, from the next period on, and cost from the decision on.
 * Used by one thread.
 */
public final class PolicySimulation
{
    /** Between two decisions, in milliseconds. */
    public static final long PERIOD_MS = 2_000;
    /** Of an idle node. */
    private static final double BASE_US = 50;

    /** A change, when it was decided. */
    record Change(long atMs, int from, int to)
    {
        boolean isUp()
        {
            return to > from;
        }
    }

    final List<Change> changes = new ArrayList<>();
    final List<Decision> decisions = new ArrayList<>();
    private final ScaleLimits limits;
    private final ScalePolicy policy;
    int nodes;
    double nodeSeconds;
    double oracleNodeSeconds;
    double asked;
    double unserved;
    /** Periods in which some of the load was not served, the longest run of them. */
    int longestShortage;

    /** Begins with so many nodes. */
    public PolicySimulation(final ScaleLimits limits, final int firstNodes)
    {
        this.limits = limits;
        policy = new ScalePolicy(limits);
        nodes = firstNodes;
    }

    static double p99Us(final double share)
    {
        return share >= 1 ? 1_000_000 : BASE_US / (1 - share);
    }

    static Demand demand(final int nodes, final double load)
    {
        final double use = Math.min(nodes, load);
        return new Demand(nodes, use, use * 10_000, p99Us(0 == nodes ? 0 : load / nodes), 0, use);
    }

    /** Goes through a load, in nodes that would do nothing else, by milliseconds; returns this. */
    public PolicySimulation run(final LongToDoubleFunction load, final long lengthMs)
    {
        int shortage = 0;
        for (long ms = 0; ms < lengthMs; ms += PERIOD_MS)
        {
            final double now = load.applyAsDouble(ms);
            final double seconds = PERIOD_MS / 1_000.0;
            nodeSeconds += nodes * seconds;
            oracleNodeSeconds += oracle(now) * seconds;
            asked += now * seconds;
            unserved += Math.max(0, now - nodes) * seconds;
            shortage = now > nodes ? shortage + 1 : 0;
            longestShortage = Math.max(longestShortage, shortage);
            final Decision decision = policy.decide(ms, nodes, demand(nodes, now));
            decisions.add(decision);
            if (decision.isChange())
            {
                changes.add(new Change(ms, nodes, decision.toNodes()));
                policy.changed(ms, nodes, decision.toNodes());
                nodes = decision.toNodes();
            }
        }
        return this;
    }

    /** Nodes of one who knows the load of this very period, and starts nodes in no time. */
    private int oracle(final double load)
    {
        return Math.clamp((int)Math.ceil(load / limits.targetShare() - 1e-9), limits.minNodes(), limits.maxNodes());
    }

    /** @return node-seconds, divided by those of one who knows the load. */
    public double costOfOracle()
    {
        return nodeSeconds / oracleNodeSeconds;
    }

    /** @return part of the load that was not served. */
    public double unservedPart()
    {
        return unserved / asked;
    }

    /** Changes that the next one undoes, wholly or in part, within a time. */
    public long reverted(final long withinMs)
    {
        long reverted = 0;
        for (int i = 1; i < changes.size(); i++)
        {
            final Change last = changes.get(i - 1);
            final Change change = changes.get(i);
            reverted += last.isUp() != change.isUp() && change.atMs() - last.atMs() <= withinMs ? 1 : 0;
        }
        return reverted;
    }
}
