package io.verbena.cli.autoscale.policy;

import io.verbena.cli.autoscale.policy.Decision.Rule;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * Target tracking: so many nodes that each works the target share of its time.
 *
 * <ul>
 * <li>More nodes are started when they were needed during all of the up window; at once when the nodes have no time
 * left, since the demand cannot be seen then and may be many times the use.</li>
 * <li>Nodes are ended when fewer were enough during all of the down window, or half of them during half of it. It
 * begins anew whenever nodes were started: no decision to start nodes is reverted within it.</li>
 * <li>Responses later than the objective start a node at a time, if the nodes are busy; nodes are not ended when that
 * would bring back the share at which responses were late.</li>
 * <li>When nodes are started soon after others were ended, the down window is twice as long the next time.</li>
 * <li>Between the use that starts a node and the use that ends it there is a band: 1.1 and 0.9 times the target.
 * Constant demand therefore ends in one number, and noise within the band changes nothing.</li>
 * </ul>
 *
 * Used by one thread.
 */
public final class ScalePolicy
{
    /** Above this share a node has no time left. */
    static final double SATURATED_SHARE = 0.9;
    private static final double UP_BAND = 1.1;
    private static final double DOWN_BAND = 0.9;
    /** Nodes that work less than this part of the target are not why responses are late. */
    static final double BUSY_PART = 0.5;
    /** Nodes are ended when so many standard deviations of the use, during the down window, start none again. */
    private static final double DEVIATIONS = 6;
    /** Nodes that are started so many down windows after others were ended: that was too early. */
    private static final int REVERT_WINDOWS = 5;
    /** The down window is so many times as long at most, after decisions that were too early. */
    private static final int MOST_WINDOWS = 8;
    /** Nodes are ended after this part of the down window when so small a part of them was enough. */
    private static final int DEEP_PART = 2;
    private static final int DEEP_DROP = 2;
    /** A computed number of nodes this little above a whole one is that one. */
    private static final double ROUNDING = 1e-9;

    /** What a period said. */
    private record Sample(long atMs, int atLeastNodes, int atMostNodes, double useNodes)
    {
    }

    private final ScaleLimits limits;
    private final Deque<Sample> samples = new ArrayDeque<>();
    private final LateShare late;
    /** When the down window began at the earliest: nodes were started then. */
    private long startedMs;
    /** When the up window began at the earliest. */
    private long changedMs;
    private boolean hasBegun;
    private long endedMs;
    private boolean hasEnded;
    private int windows = 1;

    /** @param limits to keep. */
    public ScalePolicy(final ScaleLimits limits)
    {
        this.limits = limits;
        late = new LateShare(limits);
    }

    /**
     * Decides; once in each period.
     *
     * @param nowMs  on a clock that does not go back.
     * @param nodes  that there are, 0 or more, whether or not they report.
     * @param demand since the decision before.
     * @return what to do. The caller says by {@link #changed} that it was done.
     */
    public Decision decide(final long nowMs, final int nodes, final Demand demand)
    {
        if (!hasBegun)
        {
            hasBegun = true;
            startedMs = nowMs;
            changedMs = nowMs;
        }
        if (nodes < limits.minNodes() || nodes > limits.maxNodes())
        {
            final int to = Math.clamp(nodes, limits.minNodes(), limits.maxNodes());
            return new Decision(nodes, to, to, Rule.LIMITS, "there are " + count(nodes) + ", and are to be " +
                limits.minNodes() + " to " + limits.maxNodes());
        }
        final Rule upRule = upRule(demand);
        late.note(nowMs, demand, Rule.OBJECTIVE == upRule);
        final int silent = nodes - Math.min(nodes, demand.reportingNodes());
        final int needed = needed(upRule, nodes, silent, demand);
        // Responses that are late keep nodes that use alone would not need.
        final int enough = silent > 0 || Rule.HOLD != upRule ? Math.max(nodes, needed) :
            Math.min(nodes, nodesAt(demand.useNodes(), late.downShare(demand) * DOWN_BAND));
        samples.addLast(new Sample(nowMs, Rule.HOLD == upRule ? nodes : needed, enough, demand.useNodes()));
        final long longestMs = Math.max(limits.upWindowMs(), MOST_WINDOWS * limits.downWindowMs());
        while (samples.getFirst().atMs() < nowMs - longestMs)
        {
            samples.removeFirst();
        }
        return Rule.HOLD == upRule ? down(nowMs, nodes, silent, demand) : up(nowMs, nodes, needed, upRule, demand);
    }

    /**
     * The number of nodes was changed, by a decision or otherwise.
     *
     * @param nowMs as in {@link #decide}, when the change was complete.
     * @param from  nodes before.
     * @param to    nodes now.
     */
    public void changed(final long nowMs, final int from, final int to)
    {
        changedMs = nowMs;
        if (to > from)
        {
            final boolean isRevert = hasEnded && nowMs - endedMs < REVERT_WINDOWS * limits.downWindowMs();
            windows = isRevert ? Math.min(MOST_WINDOWS, 2 * windows) : 1;
            samples.clear();
            startedMs = nowMs;
            hasBegun = true;
        }
        else if (to < from)
        {
            endedMs = nowMs;
            hasEnded = true;
        }
    }

    /**
     * Another one decided until now: nodes may have been ended just before, so that all windows and the cool-down begin
     * now.
     *
     * @param nowMs as in {@link #decide}.
     */
    public void takeOver(final long nowMs)
    {
        samples.clear();
        startedMs = nowMs;
        changedMs = nowMs;
        hasBegun = true;
        endedMs = nowMs;
        hasEnded = true;
    }

    /** Why more nodes are needed than there are; HOLD when they are not. */
    private Rule upRule(final Demand demand)
    {
        final double share = demand.shareOfNode();
        if (share >= SATURATED_SHARE)
        {
            return Rule.SATURATED;
        }
        final int reporting = demand.reportingNodes();
        if (reporting > 0 && nodesAt(demand.useNodes(), limits.targetShare() * UP_BAND) > reporting)
        {
            return Rule.USE;
        }
        return late.isLate(demand) && share >= limits.targetShare() * BUSY_PART ? Rule.OBJECTIVE : Rule.HOLD;
    }

    private int needed(final Rule rule, final int nodes, final int silent, final Demand demand)
    {
        final int byUse = nodesAt(demand.useNodes(), limits.targetShare()) + silent;
        return switch (rule)
        {
            case SATURATED -> Math.max(byUse, 2 * nodes);
            case OBJECTIVE -> Math.max(byUse, nodes + 1);
            case HOLD -> Math.min(nodes, byUse);
            default -> byUse;
        };
    }

    /** Nodes that do the work when each works that share of its time at most. */
    private static int nodesAt(final double useNodes, final double share)
    {
        return (int)Math.min(Integer.MAX_VALUE >> 2, Math.max(1, Math.ceil(useNodes / share - ROUNDING)));
    }

    private Decision up(
        final long nowMs, final int nodes, final int needed, final Rule rule, final Demand demand)
    {
        final boolean isAtOnce = Rule.SATURATED == rule;
        final int agreed = isAtOnce ? needed : least(Math.max(nowMs - limits.upWindowMs(), changedMs));
        final int to = Math.min(Math.min(agreed, limits.maxNodes()), nodes + limits.stepNodes());
        final String why = why(rule, demand) + " needs " + count(needed);
        if (nodes == limits.maxNodes())
        {
            return hold(nodes, needed, why + ", at most " + limits.maxNodes() + " are allowed");
        }
        if (!isAtOnce && nowMs - changedMs < limits.upWindowMs() || agreed <= nodes)
        {
            return hold(nodes, needed, why + ", but not for all of the last " + seconds(limits.upWindowMs()) + " s");
        }
        return new Decision(nodes, to, needed, rule, why + limitedBy(needed, to, nodes));
    }

    private Decision down(final long nowMs, final int nodes, final int silent, final Demand demand)
    {
        final long windowMs = windows * limits.downWindowMs();
        final int needed = needed(Rule.HOLD, nodes, silent, demand);
        if (silent > 0)
        {
            return hold(nodes, needed, count(silent) + " without figures: none is ended");
        }
        final int lately = enough(nowMs - windowMs / DEEP_PART);
        // Half as long for what is no noise: nodes that did nothing but stay would cost a fifth of a short spike.
        final boolean isDeep = lately <= nodes / DEEP_DROP;
        final int enough = isDeep ? lately : enough(nowMs - windowMs);
        if (enough >= nodes)
        {
            return hold(nodes, needed, late.isLate(demand) ? why(Rule.OBJECTIVE, demand) + " they are not why" :
                why(Rule.USE, demand) + " fits " + count(nodes) +
                    (needed < nodes ? ", fewer would not do for the last " + seconds(windowMs) + " s" : ""));
        }
        if (nowMs - startedMs < windowMs)
        {
            return hold(nodes, needed, why(Rule.USE, demand) + " needs " + count(enough) + ", in " +
                seconds(windowMs - nowMs + startedMs) + " s if that lasts");
        }
        if (hasEnded && nowMs - endedMs < limits.cooldownMs())
        {
            return hold(nodes, needed, "nodes were ended " + seconds(nowMs - endedMs) + " s ago, next after " +
                seconds(limits.cooldownMs()) + " s");
        }
        final int to = Math.max(enough, nodes - limits.stepNodes());
        return new Decision(nodes, to, needed, Rule.LESS_USE, "for " +
            seconds(isDeep ? windowMs / DEEP_PART : windowMs) + " s " +
            count(enough) + (1 == enough ? " was" : " were") + " enough; now " + why(Rule.USE, demand) +
            limitedBy(enough, to, nodes));
    }

    /** Nodes that were enough since a time, and will be unless the load deviates by more than it has. */
    private int enough(final long sinceMs)
    {
        return Math.max(Math.max(most(sinceMs), steady(sinceMs)), limits.minNodes());
    }

    private int least(final long sinceMs)
    {
        return samples.stream().filter((sample) -> sample.atMs() >= sinceMs)
            .mapToInt(Sample::atLeastNodes).min().orElse(0);
    }

    private int most(final long sinceMs)
    {
        return samples.stream().filter((sample) -> sample.atMs() >= sinceMs)
            .mapToInt(Sample::atMostNodes).max().orElse(Integer.MAX_VALUE);
    }

    /** Nodes that the next deviation as large as those of the window makes not too few again. */
    private int steady(final long sinceMs)
    {
        final double[] uses = samples.stream().filter((sample) -> sample.atMs() >= sinceMs)
            .mapToDouble(Sample::useNodes).toArray();
        final double mean = Arrays.stream(uses).average().orElse(0);
        final double variance = Arrays.stream(uses).map((use) -> (use - mean) * (use - mean)).average().orElse(0);
        return nodesAt(mean + DEVIATIONS * Math.sqrt(variance), limits.targetShare() * UP_BAND);
    }

    private static Decision hold(final int nodes, final int needed, final String reason)
    {
        return new Decision(nodes, nodes, needed, Rule.HOLD, reason);
    }

    private String why(final Rule rule, final Demand demand)
    {
        final String busy = String.format(Locale.ROOT, "%.0f %% busy", 100 * demand.shareOfNode());
        return switch (rule)
        {
            case SATURATED -> "nodes are " + busy + ", so that the demand may be a multiple of the use:";
            case OBJECTIVE -> String.format(Locale.ROOT, "p99 of %,.0f us is above the objective of %,.0f us, and " +
                "nodes are %s:", demand.p99Us(), limits.objectiveUs(), busy);
            default -> String.format(Locale.ROOT, "use of %.2f nodes at a target of %.0f %%", demand.useNodes(),
                100 * limits.targetShare());
        };
    }

    private String limitedBy(final int wanted, final int to, final int nodes)
    {
        return to == wanted ? "" : to == limits.maxNodes() ? ", at most " + to + " are allowed" :
            Math.abs(to - nodes) == limits.stepNodes() ? ", at most " + limits.stepNodes() + " in one decision" :
            ", " + count(to) + " during all of the last " + seconds(limits.upWindowMs()) + " s";
    }

    private static String count(final int nodes)
    {
        return nodes + (1 == nodes ? " node" : " nodes");
    }

    private static String seconds(final long ms)
    {
        final double seconds = ms / (double)TimeUnit.SECONDS.toMillis(1);
        return seconds == Math.rint(seconds) ? Long.toString((long)seconds) :
            String.format(Locale.ROOT, "%.1f", seconds);
    }
}
