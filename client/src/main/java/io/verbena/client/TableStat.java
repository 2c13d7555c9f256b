package io.verbena.client;

/**
 * What is in a table, counted slot by slot while others may write: exact when nobody does.
 *
 * @param records    present.
 * @param undecided  inserts that were not decided when they were met, and remains of deletes; the next writers that
 *                   meet them remove them.
 * @param slots      that the table has.
 * @param groups     of 21 slots each.
 * @param subtables  that the groups are in.
 * @param blockBytes memory that the records take.
 * @param indexBytes memory that the groups take.
 */
public record TableStat(
    long records, long undecided, long slots, long groups, long subtables, long blockBytes, long indexBytes)
{
    /** @return part of the slots that hold records, 0 to 1; inserts begin to fail above some 0.9. */
    public double fill()
    {
        return 0 == slots ? 0 : (double)records / slots;
    }
}
