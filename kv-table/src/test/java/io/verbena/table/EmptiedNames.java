package io.verbena.table;

import io.verbena.table.format.SlotWord;
import java.util.function.LongUnaryOperator;
import org.agrona.collections.Long2LongHashMap;

/**
 * Emptied words of one state of an exploration, by the order in which they are met. Nothing hangs on the count in one,
 * only on whether it is another one: without this an insert that kills, and is killed, would never come back to a
 * state.
 */
final class EmptiedNames implements LongUnaryOperator
{
    private static final int NAMED = SlotWord.EMPTIED_TAG | 0xFFFF << SlotWord.EMPTIED_WRITER_SHIFT;
    /** Most writers in one exploration: a word with a greater writer number is another kind of word. */
    private static final int MOST_WRITERS = 100;
    private static final int MOST_COUNT = 1 << 16;

    private final Long2LongHashMap names = new Long2LongHashMap(0);

    @Override
    public long applyAsLong(final long word)
    {
        return isEmptied(word) ?
            names.computeIfAbsent(word, unnamed -> (long)(names.size() + 1) << SlotWord.EMPTIED_COUNT_SHIFT | NAMED) :
            word;
    }

    private static boolean isEmptied(final long word)
    {
        final int writerNumber = (int)word >>> SlotWord.EMPTIED_WRITER_SHIFT;
        return (short)word == SlotWord.EMPTIED_TAG && SlotWord.isEmpty(word) && writerNumber > 0 &&
            writerNumber < MOST_WRITERS && word >>> SlotWord.EMPTIED_COUNT_SHIFT < MOST_COUNT;
    }
}
