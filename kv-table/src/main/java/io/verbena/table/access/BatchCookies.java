package io.verbena.table.access;

/** Cookies of batches that belong to no operation: bit 30, which no operation's has, and a bit for each user. */
public final class BatchCookies
{
    /** Of the batches that format a new table. */
    public static final int CREATOR = 1 << 30;
    /** Of those that watch the chunks of a memory node. */
    public static final int CHUNK_WATCH = CREATOR | 1;
    /** Of a scan. */
    public static final int SCAN = CREATOR | 4;
    /** Of a sweep of expired records. */
    public static final int SWEEP = CREATOR | 2;
    /** Of what splits or merges subtables; the number of its lane stands in bits 4 to 7. */
    public static final int GROWTH = CREATOR | 8;

    private BatchCookies()
    {
    }
}
