package io.verbena.cli.autoscale.policy;

/**
 * How many nodes there are to be, and why.
 *
 * @param fromNodes   that there are.
 * @param toNodes     that there are to be; {@code fromNodes} when nothing is to change.
 * @param neededNodes that the demand of the last period needs, before windows, steps and limits.
 * @param rule        that decided.
 * @param reason      one line for people, with the inputs that matter.
 */
public record Decision(int fromNodes, int toNodes, int neededNodes, Rule rule, String reason)
{
    /** What decides. */
    public enum Rule
    {
        /** Fewer nodes than the least, or more than the most. */
        LIMITS,
        /** The nodes work more than the target allows. */
        USE,
        /** The nodes have no time left: the demand may be any number. */
        SATURATED,
        /** Responses are later than the objective, and nodes are busy. */
        OBJECTIVE,
        /** Fewer nodes were enough for a whole window. */
        LESS_USE,
        /** Nodes died: as many are started again. */
        REPLACE,
        /** Nothing is to change. */
        HOLD
    }

    /** @return whether the number of nodes is to change. */
    public boolean isChange()
    {
        return fromNodes != toNodes;
    }
}
