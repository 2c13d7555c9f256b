package io.verbena.protocol.view;

/**
 * What a memory node that has lost its memory has restored of a group, whose view in which it is named as a member has
 * not ended.
 *
 * @param group     which; 1 or more.
 * @param number    view of the group while the checkpoint was made; 0: nothing of the group is restored.
 * @param startedMs when the checkpoint began, ms since 1970; 0: nothing is restored.
 * @param records   that were restored.
 * @param isOfPrimary whether the memory node was the primary of that view; else its head, or nothing is restored.
 */
public record RestoredGroup(int group, long number, long startedMs, long records, boolean isOfPrimary)
{
    /** Refuses what no restoration is. */
    public RestoredGroup
    {
        if (group < 1 || number < 0 || startedMs < 0 || records < 0 ||
            0 == number && (0 != startedMs + records || isOfPrimary))
        {
            throw new IllegalArgumentException("no restoration: group=" + group + " number=" + number + " startedMs=" +
                startedMs + " records=" + records + " isOfPrimary=" + isOfPrimary);
        }
    }

    /**
     * @param group which.
     * @return nothing of it is restored.
     */
    public static RestoredGroup nothing(final int group)
    {
        return new RestoredGroup(group, 0, 0, 0, false);
    }

    /** @return whether its tables are restored. */
    public boolean isRestored()
    {
        return 0 != number;
    }

    /**
     * Whether this one is to be taken rather than another. One of a primary has what was committed, and so has all that
     * is in the views behind it. One of a head has what was decided, too: until the next view begins that may take
     * effect, but there it may have been undone, and refused. So a head's of an earlier view comes behind all others,
     * and of the last view the one that began last is the best one.
     *
     * @param other of the same group, at another memory node; both have something.
     * @param last  number of the group's last view.
     * @return whether this one has no refused operations, where the other may have some, or is of a later view, or
     *         began later in the same one.
     */
    public boolean isPreferredTo(final RestoredGroup other, final long last)
    {
        if (mayHaveRefused(last) != other.mayHaveRefused(last))
        {
            return !mayHaveRefused(last);
        }

        return number != other.number ? number > other.number : startedMs > other.startedMs;
    }

    /** Whether there may be operations in it that were refused since. */
    private boolean mayHaveRefused(final long last)
    {
        return !isOfPrimary && number < last;
    }
}
