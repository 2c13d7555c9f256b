package io.verbena.table.operation;

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
    long rivalOffset;
    long rivalWord;
    /** Words to kill; when slots are moved, what the requests of the batch concern. */
    final long[] victims = new long[Scratch.MAX_SWAPS];
    final long[] victimOffsets = new long[Scratch.MAX_SWAPS];
    int victimCount;

    void reset()
    {
        stands = false;
        isJudged = false;
        rivalOffset = 0;
    }
}
