package io.verbena.client;

/**
 * What is in a table, counted slot by slot while others may write: exact when nobody does.
 *
 * @param records        present.
 * @param undecided      inserts that were not decided when they were counted, and tombstones; the next writers that
 *                       come across them remove them.
 * @param slots          that the table has.
 * @param groups         of 21 slots each.
 * @param subtables      that the groups are in.
 * @param blockBytes     memory that the records take.
 * @param indexBytes     memory that the groups take.
 * @param depth          of the deepest subtable: bits of a key's hash that choose it.
 * @param splitsUnderWay splits and merges of subtables that are not complete, or not known to all yet.
 * @param frozen         slots of subtables that are split, whose content belongs elsewhere.
 * @param uninitialised  slots of the subtables that take their place which wait for their content.
 * @param falseMatches   records read in vain because another key has the same fingerprint, by the compute node that
 *                       answered last, since it opened the table.
 * @param pairsHelped    pairs of buckets that operations of that node moved, because a split or a merge was under way.
 */
public record TableStat(
    long records, long undecided, long slots, long groups, long subtables, long blockBytes, long indexBytes,
    long depth, long splitsUnderWay, long frozen, long uninitialised, long falseMatches, long pairsHelped)
{
    /** {@return part of the slots that hold records, 0 to 1; inserts begin to fail above some 0.9} */
    public double fill()
    {
        return 0 == slots ? 0 : (double)records / slots;
    }
}
