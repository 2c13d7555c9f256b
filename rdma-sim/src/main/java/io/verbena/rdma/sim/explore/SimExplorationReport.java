package io.verbena.rdma.sim.explore;

import java.util.List;

/**
 * What a {@link SimExplorer} did.
 *
 * @param isComplete  whether every order was explored: no bound was hit and nothing was violated.
 * @param runs        executions from the beginning, each with choices that no other had.
 * @param states      different ones found at choices.
 * @param transitions explored once each: executions of requests, timers, crashes.
 * @param pruned      runs that ended in a state seen before.
 * @param ends        runs that ended because everybody was done or dead, each with a verdict.
 * @param schedules   different orders that this covers, counted as ways through the graph of states; 0 after a
 *                    violation, {@link Long#MAX_VALUE} when there are more or endless ones.
 * @param cutShort    runs cut off at the bound of steps; there, everybody alive runs to the end, one after the other.
 * @param longest     transitions of the longest run.
 * @param isStateBoundHit whether the search stopped at the bound of states.
 * @param violation   what is wrong with a shortest schedule that shows something wrong; null when nothing was found.
 * @param schedule    that schedule, a transition per line.
 * @param choices     the same as numbers, for {@link SimExplorer#replay}.
 */
public record SimExplorationReport(
    boolean isComplete,
    long runs,
    long states,
    long transitions,
    long pruned,
    long ends,
    long schedules,
    long cutShort,
    int longest,
    boolean isStateBoundHit,
    String violation,
    List<String> schedule,
    int[] choices)
{
    @Override
    public String toString()
    {
        final StringBuilder text = new StringBuilder()
            .append(isComplete ? "complete" : violation != null ? "stopped at a violation" : "not complete")
            .append(": states=").append(states).append(", transitions=").append(transitions).append(", runs=")
            .append(runs).append(", pruned=").append(pruned).append(", ends=").append(ends)
            .append(", schedules=").append(schedules).append(", cutShort=")
            .append(cutShort).append(", longest=").append(longest);
        if (isStateBoundHit)
        {
            text.append(", bound of states hit");
        }
        if (violation != null)
        {
            text.append('\n').append(violation);
            schedule.forEach(line -> text.append("\n  ").append(line));
        }
        return text.toString();
    }
}
