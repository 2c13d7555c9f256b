package io.verbena.protocol.view;

/**
 * What a memory node that has lost its memory has restored of a group, whose view in which it is named as a member has
 * not ended.
 *
 * @param group     which; 1 or more.
 * @param number    view of the group while the checkpoint was made; 0: nothing of the group is restored.
 * @param startedMs when the checkpoint began, ms since 1970; 0: nothing is restored.
 * @param records   that were restored.
 */
public record RestoredGroup(int group, long number, long startedMs, long records)
{
    /** Refuses what no restoration is. */
    public RestoredGroup
    {
        if (group < 1 || number < 0 || startedMs < 0 || records < 0 || 0 == number && 0 != startedMs + records)
        {
            throw new IllegalArgumentException("no restoration: group=" + group + " number=" + number + " startedMs=" +
                startedMs + " records=" + records);
        }
    }

    /**
     * @param group which.
     * @return nothing of it is restored.
     */
    public static RestoredGroup nothing(final int group)
    {
        return new RestoredGroup(group, 0, 0, 0);
    }

    /** @return whether its tables are restored. */
    public boolean isRestored()
    {
        return 0 != number;
    }

    /**
     * @param other of the same group, at another memory node.
     * @return whether this one is of a later state, as far as is known: of a later view, or of a checkpoint of the same
     *     view that began later.
     */
    public boolean isLaterThan(final RestoredGroup other)
    {
        return number != other.number ? number > other.number : startedMs > other.startedMs;
    }
}
