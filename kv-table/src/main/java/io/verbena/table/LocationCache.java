package io.verbena.table;

/**
 * Where keys were seen last: bounded, four-way, in one flat array of 64-byte entries. Each key prefers one of its four
 * places, so that a look mostly costs one line. A key is known by the 128 bits of its seeded hash and its table. An
 * entry proves nothing by itself: every use is validated by the slot word, and {@link EpochTracker} says until when the
 * word may be used at all.
 *
 * <pre>
 *  | hash low | hash high | flags, table id | slot offset | slot word | version | epoch tag | counter |
 * </pre>
 *
 * <p>Where the value is known and has 8 bytes, it is kept as well: a current one makes an increment one round trip.
 */
final class LocationCache
{
    private static final int WAYS = 4;
    private static final int ENTRY_LONGS = 8;
    private static final int LOW = 0;
    private static final int HIGH = 1;
    private static final int TABLE = 2;
    private static final int SLOT_OFFSET = 3;
    private static final int WORD = 4;
    private static final int VERSION = 5;
    private static final int TAG = 6;
    private static final int COUNTER = 7;
    /** Flag above the table id: the value is a counter, and known. */
    private static final long HAS_COUNTER = 1L << Integer.SIZE;
    /** No entry. */
    static final int NONE = -1;

    private final long[] entries;
    private final int entryMask;
    private int victim;

    /** @param capacity entries, rounded up to a power of two; 0 turns the cache off. */
    LocationCache(final int capacity)
    {
        final int sets = capacity == 0 ? 0 : Integer.highestOneBit(Math.max(1, (capacity - 1) / WAYS) * 2 - 1);
        entries = new long[sets * WAYS * ENTRY_LONGS];
        entryMask = sets * WAYS - 1;
    }

    /** @return entry of the key, or {@link #NONE}. */
    int find(final long low, final long high, final int tableId)
    {
        if (entries.length == 0)
        {
            return NONE;
        }
        final int preferred = preferredEntry(high);
        for (int way = 0; way < WAYS; way++)
        {
            final int entry = neighbour(preferred, way);
            if (entries[entry + LOW] == low && entries[entry + HIGH] == high && entries[entry + WORD] != 0 &&
                (int)entries[entry + TABLE] == tableId)
            {
                return entry;
            }
        }
        return NONE;
    }

    /**
     * Notes where a key is; replaces what was known of it, else an entry of its set.
     *
     * @return the entry, or {@link #NONE}.
     */
    int put(
        final long low,
        final long high,
        final int tableId,
        final long slotOffset,
        final long word,
        final long version,
        final long tag)
    {
        if (entries.length == 0)
        {
            return NONE;
        }
        int entry = find(low, high, tableId);
        if (entry == NONE)
        {
            entry = place(high);
        }
        entries[entry + TAG] = entries[entry + WORD] == word ? Math.max(tag, entries[entry + TAG]) : tag;
        entries[entry + LOW] = low;
        entries[entry + HIGH] = high;
        entries[entry + TABLE] = Integer.toUnsignedLong(tableId);
        entries[entry + SLOT_OFFSET] = slotOffset;
        entries[entry + WORD] = word;
        entries[entry + VERSION] = version;
        return entry;
    }

    /** Notes the value of a counter, for the entry that was put last. */
    void putCounter(final int entry, final long value)
    {
        entries[entry + TABLE] |= HAS_COUNTER;
        entries[entry + COUNTER] = value;
    }

    /** Forgets a key if what is known of it is still this word. */
    void remove(final long low, final long high, final int tableId, final long word)
    {
        final int entry = find(low, high, tableId);
        if (entry != NONE && entries[entry + WORD] == word)
        {
            entries[entry + WORD] = 0;
        }
    }

    long slotOffset(final int entry)
    {
        return entries[entry + SLOT_OFFSET];
    }

    long word(final int entry)
    {
        return entries[entry + WORD];
    }

    long version(final int entry)
    {
        return entries[entry + VERSION];
    }

    boolean hasCounter(final int entry)
    {
        return (entries[entry + TABLE] & HAS_COUNTER) != 0;
    }

    long counter(final int entry)
    {
        return entries[entry + COUNTER];
    }

    long tag(final int entry)
    {
        return entries[entry + TAG];
    }

    private int place(final long high)
    {
        final int preferred = preferredEntry(high);
        for (int way = 0; way < WAYS; way++)
        {
            final int entry = neighbour(preferred, way);
            if (entries[entry + WORD] == 0)
            {
                return entry;
            }
        }
        victim = victim + 1 & WAYS - 1;
        final int entry = neighbour(preferred, victim);
        entries[entry + WORD] = 0;
        return entry;
    }

    private int preferredEntry(final long high)
    {
        // Mixed, because the directory bits may be equal for all keys that a node works on.
        return (int)(high * 0x9E3779B97F4A7C15L >>> 32 & entryMask) * ENTRY_LONGS;
    }

    /** The four entries of a set are those whose numbers differ in the last two bits only. */
    private static int neighbour(final int entry, final int way)
    {
        return entry ^ way * ENTRY_LONGS;
    }
}
