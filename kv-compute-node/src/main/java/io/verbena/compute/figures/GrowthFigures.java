package io.verbena.compute.figures;

import java.util.List;

/**
 * What a node does so that tables grow and shrink, at one instant.
 *
 * @param splits         that it has brought to their ends, since it was started.
 * @param merges         likewise.
 * @param splitsUnderWay splits that it works on now, 0 or 1; also to find out whether somebody has left one.
 * @param mergesUnderWay likewise.
 * @param waiting        splits and merges that it knows are to be begun or finished, by it or by others.
 * @param unpublished    that have ended and that the meta server does not know yet.
 * @param tables         how full the tables are that it has looked at in its present registration.
 */
public record GrowthFigures(
    long splits, long merges, int splitsUnderWay, int mergesUnderWay, int waiting, int unpublished,
    List<TableFill> tables)
{
    /** Of a node that has not begun. */
    public static final GrowthFigures NONE = new GrowthFigures(0, 0, 0, 0, 0, 0, List.of());

    /** @return these, with the splits and merges of earlier registrations. */
    public GrowthFigures after(final long earlierSplits, final long earlierMerges)
    {
        return new GrowthFigures(splits + earlierSplits, merges + earlierMerges, splitsUnderWay, mergesUnderWay,
            waiting, unpublished, tables);
    }
}
