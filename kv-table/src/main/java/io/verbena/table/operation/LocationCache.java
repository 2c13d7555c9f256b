package io.verbena.table.operation;

import io.verbena.rdma.memory.PrivatePages;
import org.agrona.UnsafeApi;

/**
 * Where keys were seen last: bounded, four-way, in one flat table of 64-byte entries, in huge pages where the kernel
 * gives them. Each key prefers one of its four places, so that a look mostly costs one line. A key is known by the 128
 * bits of its seeded hash and its table. An entry proves nothing by itself: every use is validated by the slot word,
 * and {@code EpochTracker} says until when the word may be used at all.
 *
 * <pre>
 *  | hash low | hash high | history, flags, table id | slot offset | slot word | version | epoch tag | counter |
 * </pre>
 *
 * <p>Where the value is known and is a number, it is kept as well, with its form: a current one makes an increment one
 * round trip. Of a record with a deadline that one is kept instead.
 *
 * <p>The history counts how often what was known turned out current or stale, of late. A key that others write all the
 * time is <em>write-hot</em>: what is known of it is passed by until it turns out current again more often. Single
 * owner thread; an entry is an address, valid until the cache is closed.
 */
public final class LocationCache implements AutoCloseable
{
    private static final int WAYS = 4;
    private static final int ENTRY_BYTES = 64;
    private static final int LOW = 0;
    private static final int HIGH = 8;
    private static final int TABLE = 16;
    private static final int SLOT_OFFSET = 24;
    private static final int WORD = 32;
    private static final int VERSION = 40;
    private static final int TAG = 48;
    private static final int COUNTER = 56;
    /** Above the table id: in which form the value is a number, 0 where that is not known, or it is none. */
    private static final int FORM_SHIFT = Integer.SIZE;
    private static final long FORM_MASK = 3L << FORM_SHIFT;
    /** Flag above the form: the record has a deadline, which stands in the place of the counter. */
    private static final long HAS_DEADLINE = 1L << FORM_SHIFT + 2;
    private static final int USES_SHIFT = 40;
    private static final int STALE_SHIFT = 48;
    private static final long COUNT_MASK = 0xFF;
    private static final long HISTORY_MASK = COUNT_MASK << USES_SHIFT | COUNT_MASK << STALE_SHIFT;
    /** Looks after which both counts are halved, so that old ones weigh less and less. */
    private static final int REMEMBERED_USES = 64;
    private static final int MIN_USES = 6;
    private static final int REMEMBERED_USES_OF_ALL = 1024;
    private static final int MIN_USES_OF_ALL = 64;
    /** No entry. */
    static final long NONE = 0;

    private final PrivatePages pages;
    private final long base;
    private final long entryMask;
    private int victim;
    private int allUses;
    private int allStale;

    /** @param capacity entries, rounded up to a power of two; 0 turns the cache off. */
    public LocationCache(final int capacity)
    {
        final long sets = capacity == 0 ? 0 : Long.highestOneBit(Math.max(1, (capacity - 1) / WAYS) * 2L - 1);
        pages = sets == 0 ? null : PrivatePages.map(sets * WAYS * ENTRY_BYTES);
        base = sets == 0 ? 0 : pages.address();
        entryMask = sets * WAYS - 1;
    }

    /**
     * Brings the place that a key prefers near, while there is something else to do.
     *
     * @return something of what lies there, to be kept, so that the load is not optimised away.
     */
    long touch(final long high)
    {
        return base == 0 ? 0 : UnsafeApi.getLong(preferredEntry(high));
    }

    /** @return entry of the key, or {@link #NONE}. */
    long find(final long low, final long high, final int tableId)
    {
        final long entry = findAny(low, high, tableId);
        return entry == NONE || word(entry) == 0 ? NONE : entry;
    }

    /** As {@link #find}, also what was removed: its history is still known. */
    private long findAny(final long low, final long high, final int tableId)
    {
        if (base == 0)
        {
            return NONE;
        }
        final long preferred = preferredEntry(high);
        for (int way = 0; way < WAYS; way++)
        {
            final long entry = neighbour(preferred, way);
            if (isOf(entry, low, high, tableId))
            {
                return entry;
            }
        }
        return NONE;
    }

    private static boolean isOf(final long entry, final long low, final long high, final int tableId)
    {
        return UnsafeApi.getLong(entry + LOW) == low && UnsafeApi.getLong(entry + HIGH) == high &&
            (int)UnsafeApi.getLong(entry + TABLE) == tableId;
    }

    /**
     * Notes where a key is; replaces what was known of it, else an entry of its set.
     *
     * @return the entry, or {@link #NONE}.
     */
    long put(
        final long low,
        final long high,
        final int tableId,
        final long slotOffset,
        final long word,
        final long version,
        final long tag)
    {
        if (base == 0)
        {
            return NONE;
        }
        long entry = findAny(low, high, tableId);
        long history = 0;
        if (entry == NONE)
        {
            entry = place(high);
        }
        else
        {
            history = UnsafeApi.getLong(entry + TABLE) & HISTORY_MASK;
        }
        final long oldTag = UnsafeApi.getLong(entry + TAG);
        UnsafeApi.putLong(entry + TAG, word(entry) == word ? Math.max(tag, oldTag) : tag);
        UnsafeApi.putLong(entry + LOW, low);
        UnsafeApi.putLong(entry + HIGH, high);
        UnsafeApi.putLong(entry + TABLE, history | Integer.toUnsignedLong(tableId));
        UnsafeApi.putLong(entry + SLOT_OFFSET, slotOffset);
        UnsafeApi.putLong(entry + WORD, word);
        UnsafeApi.putLong(entry + VERSION, version);
        return entry;
    }

    /**
     * Notes that what is known of a key turned out current: {@link #learn} and {@link #put} of the same at once.
     *
     * @param entry that was found for the key; another one's by now, perhaps.
     * @return whether it still says the same; if not, nothing is noted.
     */
    boolean confirm(
        final long entry,
        final long low,
        final long high,
        final int tableId,
        final long slotOffset,
        final long word,
        final long tag)
    {
        if (!isOf(entry, low, high, tableId) || word(entry) != word || slotOffset(entry) != slotOffset)
        {
            return false;
        }
        UnsafeApi.putLong(entry + TAG, Math.max(tag, tag(entry)));
        learn(entry, true);
        return true;
    }

    /** Notes the number that a value is, and in which form, for the entry that was put or confirmed last. */
    void putCounter(final long entry, final long value, final int form)
    {
        UnsafeApi.putLong(entry + TABLE, UnsafeApi.getLong(entry + TABLE) | (long)form << FORM_SHIFT);
        UnsafeApi.putLong(entry + COUNTER, value);
    }

    /** Notes the deadline of a record, for the entry that was put or confirmed last. */
    void putDeadline(final long entry, final long deadlineMs)
    {
        UnsafeApi.putLong(entry + TABLE, UnsafeApi.getLong(entry + TABLE) | HAS_DEADLINE);
        UnsafeApi.putLong(entry + COUNTER, deadlineMs);
    }

    /** @return deadline of the record that the entry's word names, 0 if it has none. */
    long deadline(final long entry)
    {
        return (UnsafeApi.getLong(entry + TABLE) & HAS_DEADLINE) == 0 ? 0 : UnsafeApi.getLong(entry + COUNTER);
    }

    /** Forgets a key if what is known of it is still this word. */
    void remove(final long low, final long high, final int tableId, final long word)
    {
        final long entry = find(low, high, tableId);
        if (entry != NONE && word(entry) == word)
        {
            UnsafeApi.putLong(entry + WORD, 0);
        }
    }

    /** Notes whether what is or was known of a key, as it was used or passed by, was current. */
    void learn(final long low, final long high, final int tableId, final boolean wasCurrent)
    {
        final long entry = findAny(low, high, tableId);
        if (entry != NONE)
        {
            learn(entry, wasCurrent);
        }
    }

    private void learn(final long entry, final boolean wasCurrent)
    {
        final long old = UnsafeApi.getLong(entry + TABLE);
        long uses = (old >>> USES_SHIFT & COUNT_MASK) + 1;
        long stale = (old >>> STALE_SHIFT & COUNT_MASK) + (wasCurrent ? 0 : 1);
        if (uses == REMEMBERED_USES)
        {
            uses /= 2;
            stale /= 2;
        }
        UnsafeApi.putLong(entry + TABLE, old & ~HISTORY_MASK | uses << USES_SHIFT | stale << STALE_SHIFT);
        learnOfAll(wasCurrent);
    }

    private void learnOfAll(final boolean wasCurrent)
    {
        allUses++;
        allStale += wasCurrent ? 0 : 1;
        if (allUses == REMEMBERED_USES_OF_ALL)
        {
            allUses /= 2;
            allStale /= 2;
        }
    }

    /**
     * Whether more than half of late uses were stale: a stale one costs as many round trips as one that reads the slot
     * first, and a block read, or written and swapped, in vain. A key that was hardly used is judged by all keys: where
     * many nodes update the same ones, what one of them knows is hardly ever current.
     */
    boolean isWriteHot(final long entry)
    {
        final long history = UnsafeApi.getLong(entry + TABLE);
        final long uses = history >>> USES_SHIFT & COUNT_MASK;
        return uses >= MIN_USES ? 2 * (history >>> STALE_SHIFT & COUNT_MASK) > uses :
            allUses >= MIN_USES_OF_ALL && 2 * allStale > allUses;
    }

    long slotOffset(final long entry)
    {
        return UnsafeApi.getLong(entry + SLOT_OFFSET);
    }

    long word(final long entry)
    {
        return UnsafeApi.getLong(entry + WORD);
    }

    long version(final long entry)
    {
        return UnsafeApi.getLong(entry + VERSION);
    }

    /** @return in which form the value is a number; 0 where that is not known, or it is none. */
    int counterForm(final long entry)
    {
        return (int)((UnsafeApi.getLong(entry + TABLE) & FORM_MASK) >>> FORM_SHIFT);
    }

    long counter(final long entry)
    {
        return UnsafeApi.getLong(entry + COUNTER);
    }

    long tag(final long entry)
    {
        return UnsafeApi.getLong(entry + TAG);
    }

    private long place(final long high)
    {
        final long preferred = preferredEntry(high);
        for (int way = 0; way < WAYS; way++)
        {
            final long entry = neighbour(preferred, way);
            if (word(entry) == 0)
            {
                return entry;
            }
        }
        victim = victim + 1 & WAYS - 1;
        final long entry = neighbour(preferred, victim);
        UnsafeApi.putLong(entry + WORD, 0);
        return entry;
    }

    private long preferredEntry(final long high)
    {
        // Mixed, because the directory bits may be equal for all keys that a node works on.
        return base + (high * 0x9E3779B97F4A7C15L >>> 32 & entryMask) * ENTRY_BYTES;
    }

    /** The four entries of a set are those whose numbers differ in the last two bits only; the base is aligned. */
    private static long neighbour(final long entry, final int way)
    {
        return entry ^ (long)way * ENTRY_BYTES;
    }

    @Override
    public void close()
    {
        if (pages != null)
        {
            pages.close();
        }
    }
}
