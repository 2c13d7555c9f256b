package io.verbena.table.operation;

import io.verbena.raas.OneSidedPort;
import io.verbena.table.access.Scratch;

/** The tentative word of an insert, and the words of others that are in its way. */
final class Claim
{
    long offset;
    /** Of the empty slot that the own word is put on. */
    long base;
    long word;
    boolean stands;
    /** What is read now decides about it. */
    boolean isJudged;
    /** Of several copies: the words of the look that led to the claim, which may differ from those beside it. */
    final long[] seen = new long[Location.MAX_SLOTS];
    /** Slots and headers in which something may be decided that is not committed. */
    final long[] unsettled = new long[OneSidedPort.LEAST_SPACE - 1];
    int unsettledCount;
    long rivalOffset;
    long rivalWord;
    /** The kill that is under way is not for the own commit: another rival stands, to which the insert gives way. */
    boolean givesWay;
    /** Words to kill; when slots are moved, what the requests of the batch concern. */
    final long[] victims = new long[Scratch.MAX_SWAPS];
    final long[] victimOffsets = new long[Scratch.MAX_SWAPS];
    int victimCount;

    /** Notes that a round of a slot may have to be finished. @return false: there are too many. */
    boolean addUnsettled(final long slotOffset)
    {
        final boolean fits = unsettledCount < unsettled.length;
        if (fits)
        {
            unsettled[unsettledCount++] = slotOffset;
        }
        return fits;
    }

    void reset()
    {
        unsettledCount = 0;
        stands = false;
        isJudged = false;
        rivalOffset = 0;
        givesWay = false;
    }
}
