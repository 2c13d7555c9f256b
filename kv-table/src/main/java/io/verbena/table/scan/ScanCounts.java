package io.verbena.table.scan;

import io.verbena.table.format.SizeClasses;
import io.verbena.table.format.SlotWord;

/** What a range of a walk over words alone has counted. Owner thread only. */
final class ScanCounts
{
    private final Cursor cursor;
    private final ScanGroups groups;
    /** Committed words. */
    long records;
    /** Bytes of the blocks that they name. */
    long blockBytes;
    /** Undecided inserts, and remains of deletes. */
    long tentative;
    /** Splits and merges under way, of which the first slots were met. */
    long splits;
    /** Slots that a split has not initialised yet. */
    long uninitialised;
    /** Frozen slots beside those that take their place. */
    long frozen;

    ScanCounts(final Cursor cursor, final ScanGroups groups)
    {
        this.cursor = cursor;
        this.groups = groups;
    }

    void clear()
    {
        records = 0;
        blockBytes = 0;
        tentative = 0;
        splits = 0;
        uninitialised = 0;
        frozen = 0;
    }

    /** Takes a word that counts. */
    void word(final long word)
    {
        if (SlotWord.isTentative(word))
        {
            tentative++;
        }
        else if (SlotWord.isCommitted(word))
        {
            records++;
            blockBytes += SizeClasses.lengthBytes(SlotWord.sizeClass(word));
        }
    }

    /**
     * Counts what is under way in some of the slots read; each old slot of a split once, with those of split bit 0.
     *
     * @param from first slot.
     * @param end  behind the last one.
     */
    void underWay(final int from, final int end)
    {
        if (cursor.predecessor() == 0 || from == end)
        {
            return;
        }
        final boolean isFirst = cursor.group() == 0 && from == 0;
        splits += (cursor.isMerging() || cursor.side() == 0) && isFirst ? 1 : 0;
        for (int slot = from; groups.readsOld() && slot < end; slot++)
        {
            uninitialised += groups.newWord(slot) == SlotWord.UNINITIALISED ? 1 : 0;
            frozen += cursor.side() == 0 && SlotWord.isFrozen(groups.oldWord(slot)) ? 1 : 0;
        }
    }
}
