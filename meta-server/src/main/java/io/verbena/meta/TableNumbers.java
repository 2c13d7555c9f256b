package io.verbena.meta;

import java.util.LinkedHashSet;

/**
 * Table numbers that were given out and whose tables may still come. A number whose creation failed is never used, and
 * nobody says so; so the oldest one gives way when there are too many: creations end by their deadlines, and numbers
 * that may be used are the newest. Used by the server's thread.
 */
final class TableNumbers
{
    /** Most numbers that are waited for: more than creations can be under way. */
    static final int MOST = 1 << 16;

    private final LinkedHashSet<Integer> toCome = new LinkedHashSet<>();
    private final int most;

    /** @param most numbers waited for at once, 1 or more. */
    TableNumbers(final int most)
    {
        this.most = most;
    }

    /** A number was given out. */
    void onGiven(final int tableId)
    {
        if (toCome.size() == most)
        {
            toCome.removeFirst();
        }
        toCome.add(tableId);
    }

    /** @return whether a table of this number may come. */
    boolean isToCome(final int tableId)
    {
        return toCome.contains(tableId);
    }

    /** The table of a number has come. */
    void onUsed(final int tableId)
    {
        toCome.remove(tableId);
    }
}
