package io.verbena.table.allocation;

import io.verbena.table.format.SlotWord;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Which granules of a memory node's chunks are taken: one bit for each {@link SlotWord#BLOCK_ALIGNMENT_BYTES}. Off the
 * heap, because the largest region has as many granules as an {@code int} can count, and a process that looks at it has
 * a small heap. For the thread and the life of its arena.
 */
public final class GranuleSet
{
    /** Length of a granule. */
    public static final int GRANULE_BYTES = SlotWord.BLOCK_ALIGNMENT_BYTES;
    private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG;

    private final MemorySegment words;

    /**
     * @param arena         holds one bit for each granule.
     * @param granulesCount from 0 to here, all free.
     */
    public GranuleSet(final Arena arena, final long granulesCount)
    {
        words = arena.allocate(WORD, Math.ceilDiv(granulesCount, Long.SIZE));
    }

    /** Takes granules. */
    public void add(final long first, final long end)
    {
        for (long at = first; at < end; at = wordEnd(at, end))
        {
            words.setAtIndex(WORD, at / Long.SIZE, word(at) | mask(at, end));
        }
    }

    /** Frees granules. */
    public void remove(final long first, final long end)
    {
        for (long at = first; at < end; at = wordEnd(at, end))
        {
            words.setAtIndex(WORD, at / Long.SIZE, word(at) & ~mask(at, end));
        }
    }

    /** @return whether any granule from {@code first} to before {@code end} is taken. */
    public boolean isAnyTaken(final long first, final long end)
    {
        return first + freeFrom(first, end) < end;
    }

    /** @return how many granules from {@code first} on are free, at most as many as there are before {@code end}. */
    public long freeFrom(final long first, final long end)
    {
        return runFrom(first, end, 0);
    }

    /** @return how many granules from {@code first} on are taken, at most as many as there are before {@code end}. */
    public long takenFrom(final long first, final long end)
    {
        return runFrom(first, end, -1);
    }

    private long runFrom(final long first, final long end, final long likeWord)
    {
        for (long at = first; at < end; at = wordEnd(at, end))
        {
            final long unlike = (word(at) ^ likeWord) & mask(at, end);
            if (unlike != 0)
            {
                return at - at % Long.SIZE + Long.numberOfTrailingZeros(unlike) - first;
            }
        }
        return end - first;
    }

    /** @return how many granules from {@code first} to before {@code end} are taken here, or there if it is given. */
    public long takenHereOr(final GranuleSet other, final long first, final long end)
    {
        return takenHereOr(other, null, first, end);
    }

    /** As the other one, of two others. */
    public long takenHereOr(final GranuleSet other, final GranuleSet third, final long first, final long end)
    {
        long taken = 0;
        for (long at = first; at < end; at = wordEnd(at, end))
        {
            taken += Long.bitCount((word(at) | wordOf(other, at) | wordOf(third, at)) & mask(at, end));
        }
        return taken;
    }

    private static long wordOf(final GranuleSet set, final long granule)
    {
        return set == null ? 0 : set.word(granule);
    }

    private long word(final long granule)
    {
        return words.getAtIndex(WORD, granule / Long.SIZE);
    }

    private static long wordEnd(final long at, final long end)
    {
        return Math.min(end, at - at % Long.SIZE + Long.SIZE);
    }

    /** The bits of one word from this granule on, to before the end. */
    private static long mask(final long at, final long end)
    {
        final long from = -1L << at % Long.SIZE;
        return end - at >= Long.SIZE - at % Long.SIZE ? from : from & (1L << end % Long.SIZE) - 1;
    }
}
