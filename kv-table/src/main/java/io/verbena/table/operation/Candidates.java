package io.verbena.table.operation;

/** Slots of the last lookup whose words carry the fingerprint, and the words known to be another key's. */
final class Candidates
{
    private static final int FOREIGN_WORDS = 16;

    final long[] words = new long[Location.MAX_SLOTS];
    final long[] offsets = new long[Location.MAX_SLOTS];
    final int[] slots = new int[Location.MAX_SLOTS];
    int count;
    int resolved;
    int posted;
    boolean unresolvedSeen;
    int damagedLooks;
    final long[] foreignWords = new long[FOREIGN_WORDS];
    int foreignCount;

    void add(final long word, final int slot, final long offset)
    {
        words[count] = word;
        slots[count] = slot;
        offsets[count++] = offset;
    }

    void addForeign(final long word)
    {
        foreignWords[foreignCount++ % FOREIGN_WORDS] = word;
    }

    boolean isForeign(final long word)
    {
        for (int i = Math.min(foreignCount, FOREIGN_WORDS) - 1; i >= 0; i--)
        {
            if (foreignWords[i] == word)
            {
                return true;
            }
        }
        return false;
    }

    void reset()
    {
        count = 0;
        unresolvedSeen = false;
        damagedLooks = 0;
        foreignCount = 0;
    }
}
