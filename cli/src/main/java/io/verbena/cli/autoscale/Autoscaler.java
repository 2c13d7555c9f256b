package io.verbena.cli.autoscale;

import io.verbena.cli.autoscale.policy.Decision;
import io.verbena.cli.autoscale.policy.Decision.Rule;
import io.verbena.cli.autoscale.policy.Demand;
import io.verbena.cli.autoscale.policy.ScaleLimits;
import io.verbena.cli.autoscale.policy.ScalePolicy;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;

import org.agrona.concurrent.EpochClock;
import org.agrona.concurrent.NanoClock;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Measures, decides, and changes the number of nodes, once each period. What goes wrong with a change is recorded and
 * tried again later, with growing distance. Used by one thread.
 */
final class Autoscaler
{
    private final Fleet fleet;
    private final ScaleLimits limits;
    private final int spareNodes;
    private final boolean isDryRun;
    private final NanoClock clock;
    private final EpochClock wallClock;
    private final ScalePolicy policy;
    private final DemandMeter meter = new DemandMeter();
    private final Backoff launches;
    private final Backoff replacements;
    private int lastNodes = -1;

    /**
     * @param fleet     to change.
     * @param limits    to keep.
     * @param periodMs  after which {@link #step} is called again, 1 or more.
     * @param spares    that are ready beside the nodes, as far as there is room below the most nodes; 0 or more.
     * @param isDryRun  whether nothing is changed.
     * @param clock     for windows and deadlines.
     * @param wallClock for the record.
     */
    Autoscaler(
        final Fleet fleet, final ScaleLimits limits, final long periodMs, final int spares,
        final boolean isDryRun, final NanoClock clock, final EpochClock wallClock)
    {
        this.fleet = fleet;
        this.limits = limits;
        this.isDryRun = isDryRun;
        spareNodes = spares;
        this.clock = clock;
        this.wallClock = wallClock;
        policy = new ScalePolicy(limits);
        launches = new Backoff(periodMs);
        replacements = new Backoff(periodMs);
    }

    private long nowMs()
    {
        return TimeUnit.NANOSECONDS.toMillis(clock.nanoTime());
    }

    /** Goes on from another autoscaler, of whose decisions nothing is known here. Before the first step. */
    void takeOver()
    {
        policy.takeOver(nowMs());
    }

    /**
     * One period.
     *
     * @return what was decided and done.
     * @throws CommandFailedException when there is no cluster any more.
     */
    DecisionRecord step()
    {
        final Fleet.State state = fleet.observe();
        final DecisionRecord record = step(state);
        if (isDryRun || null != state.obstacle())
        {
            return record;
        }
        final String trouble = fleet.keepSpares(Math.clamp((long)limits.maxNodes() - lastNodes, 0, spareNodes));
        return null == trouble ? record : record.withTrouble("no spare: " + trouble);
    }

    private DecisionRecord step(final Fleet.State state)
    {
        final int live = state.live();
        final Demand demand = meter.measure(state.samples());
        final long nowMs = nowMs();
        if (lastNodes >= 0 && lastNodes != live && state.dead().isEmpty())
        {
            policy.changed(nowMs, lastNodes, live); // by somebody else
        }
        lastNodes = live;
        final Decision decision = state.dead().isEmpty() || live >= limits.maxNodes() ?
            policy.decide(nowMs, live, demand) : replace(live, state.dead());
        if (!decision.isChange())
        {
            return record(decision, demand, DecisionRecord.HELD, "");
        }
        if (isDryRun)
        {
            return record(decision, demand, DecisionRecord.DRY_RUN, "");
        }
        if (null != state.obstacle())
        {
            return record(decision, demand, DecisionRecord.DELAYED, state.obstacle());
        }
        final Backoff backoff = Rule.REPLACE == decision.rule() && replacements.leftMs(nowMs) > 0 ?
            replacements : launches;
        if (backoff.leftMs(nowMs) > 0)
        {
            return record(decision, demand, DecisionRecord.DELAYED, "after trouble, tried again in " +
                TimeUnit.MILLISECONDS.toSeconds(backoff.leftMs(nowMs) + 999) + " s");
        }
        return change(decision, demand);
    }

    private Decision replace(final int live, final List<String> dead)
    {
        final int to = Math.clamp(live + dead.size(), limits.minNodes(), limits.maxNodes());
        return new Decision(live, to, to, Rule.REPLACE,
            String.join(", ", dead) + (1 == dead.size() ? " has died" : " have died"));
    }

    private DecisionRecord change(final Decision decision, final Demand demand)
    {
        final List<String> lines = new ArrayList<>();
        final long beganMs = nowMs();
        try
        {
            fleet.resize(decision.toNodes(), lines::add);
        }
        catch (final CommandFailedException ex)
        {
            if (ExitStatus.INTERRUPTED == ex.exitStatus())
            {
                throw ex;
            }
            launches.failed(nowMs());
            // Some of the nodes may have been started: the next look shows how many.
            meter.begin(List.of());
            return record(decision, demand, DecisionRecord.FAILED, ex.getMessage());
        }
        final long nowMs = nowMs();
        launches.succeeded();
        if (Rule.REPLACE == decision.rule())
        {
            replacements.failed(nowMs);
        }
        policy.changed(nowMs, decision.fromNodes(), decision.toNodes());
        lastNodes = decision.toNodes();
        meter.begin(fleet.observe().samples());
        return record(decision, demand, DecisionRecord.DONE, "in " + (nowMs - beganMs) + " ms: " + names(lines));
    }

    /** The names alone: a line of a node that is ready is long. */
    private static String names(final List<String> lines)
    {
        final List<String> names = new ArrayList<>();
        lines.forEach((line) -> names.add(line.contains(" ready") ? line.substring(0, line.indexOf(' ')) + " is ready" :
            line));
        return String.join(", ", names);
    }

    private DecisionRecord record(
        final Decision decision, final Demand demand, final String outcome, final String detail)
    {
        return new DecisionRecord(wallClock.time(), decision, demand, outcome, detail);
    }
}
