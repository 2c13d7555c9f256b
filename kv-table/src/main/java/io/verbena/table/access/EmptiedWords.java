package io.verbena.table.access;

import io.verbena.table.format.SlotWord;
import java.util.function.LongSupplier;

/**
 * The words that somebody leaves in slots that he empties, each once: the count of a writer number begins anew after
 * 2^30 words only. One thread.
 */
public final class EmptiedWords implements LongSupplier
{
    /** Of tools, which have no writer number of their own; no engine holds it. */
    private static final int TOOL = 0;
    private static final long MIX = 0x9E37_79B9_7F4A_7C15L;

    private final int writerNumber;
    private long count;

    /** @param writerNumber of an engine. */
    public EmptiedWords(final int writerNumber)
    {
        this.writerNumber = writerNumber;
    }

    /** @return what a tool leaves in the place of a word: all tools have one number, so the word is the count. */
    public static long byTool(final long word)
    {
        return SlotWord.emptied(TOOL, word * MIX >>> Long.SIZE - SlotWord.EMPTIED_COUNT_BITS);
    }

    @Override
    public long getAsLong()
    {
        return SlotWord.emptied(writerNumber, ++count);
    }
}
