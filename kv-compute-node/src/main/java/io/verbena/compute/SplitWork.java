package io.verbena.compute;

import io.verbena.table.OpenTable;
import io.verbena.table.Subtable;
import io.verbena.table.format.SplitLink;

/**
 * Something that a {@link SplitDesk} is to do to a subtable.
 *
 * @param table         that it belongs to.
 * @param subtable      of it.
 * @param kind          what.
 * @param notBeforeNs   when it begins.
 * @param proposal      of SETTLE: what was met, or 0.
 * @param proposalEpoch when all have passed this one nobody will decide it.
 */
record SplitWork(
    OpenTable table, Subtable subtable, Kind kind, long notBeforeNs, long proposal, long proposalEpoch)
{
    /** What is to be done. */
    enum Kind
    {
        SPLIT(2),
        /** Of a subtable that was met under way. */
        FINISH_SPLIT(0),
        /** With its sibling. */
        MERGE(1),
        /** Of the subtable that takes the place of two. */
        FINISH_MERGE(0),
        /** A merge of the subtable may have been proposed: finished, or taken back when nobody will. */
        SETTLE(0);

        private final int chunks;

        Kind(final int chunks)
        {
            this.chunks = chunks;
        }
    }

    SplitWork(final OpenTable table, final Subtable subtable, final Kind kind, final long notBeforeNs)
    {
        this(table, subtable, kind, notBeforeNs, SplitLink.NONE, 0);
    }

    SplitWork at(final long laterNs)
    {
        return new SplitWork(table, subtable, kind, laterNs, proposal, proposalEpoch);
    }

    /** @return chunks that it takes. */
    int chunks()
    {
        return kind.chunks;
    }

    boolean waitsForEpochs()
    {
        return SplitLink.NONE != proposal;
    }

    boolean isSame(final SplitWork other)
    {
        return null != other && table == other.table && kind == other.kind && subtable.equals(other.subtable);
    }

    /** @return whether the table is as it was when it was wanted. */
    boolean isStillWanted()
    {
        final Subtable present = table.subtable(subtable.suffix());
        return switch (kind)
        {
            case SPLIT, SETTLE -> present.equals(subtable);
            case FINISH_SPLIT -> table.mayWaitForWords(present);
            case MERGE -> present.equals(subtable) && table.mayBeMerged(present);
            case FINISH_MERGE -> present.equals(subtable) && table.mayWaitForWords(present);
        };
    }
}
