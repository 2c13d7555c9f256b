package io.verbena.compute.growth;

import io.verbena.table.TableEngine;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.Subtable;

/**
 * Something that a {@link GrowthScheduler} is to do to a subtable.
 *
 * @param table          that it belongs to.
 * @param subtable       of it.
 * @param kind           what.
 * @param notBeforeNs    when it begins.
 * @param isOfFinishing  whether it is done because all that has begun is ended, and not because it was met.
 * @param undecidedEpoch of SETTLE and SETTLE_OWN: when all have passed this one nobody will decide what was met; 0 for
 *                       unknown.
 */
record GrowthWork(
    OpenTable table, Subtable subtable, Kind kind, long notBeforeNs, boolean isOfFinishing, long undecidedEpoch)
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
        SETTLE(0),
        /** As SETTLE, of what this node may have proposed itself: then its memory is swept, whatever was found. */
        SETTLE_OWN(0);

        private final int chunks;

        Kind(final int chunks)
        {
            this.chunks = chunks;
        }
    }

    GrowthWork(final OpenTable table, final Subtable subtable, final Kind kind, final long notBeforeNs)
    {
        this(table, subtable, kind, notBeforeNs, false, 0);
    }

    /** Of all that has begun, if something has. */
    static GrowthWork ofFinishing(final OpenTable table, final Subtable subtable, final long nowNs)
    {
        return new GrowthWork(table, subtable, Kind.FINISH_SPLIT, nowNs, true, 0);
    }

    GrowthWork at(final long laterNs)
    {
        return new GrowthWork(table, subtable, kind, laterNs, isOfFinishing, undecidedEpoch);
    }

    /** @return what follows from it, for the same reason. */
    GrowthWork then(final Kind next, final Subtable of, final long laterNs)
    {
        return new GrowthWork(table, of, next, laterNs, isOfFinishing, 0);
    }

    /** @return what takes a proposal back, when all have passed an epoch. */
    GrowthWork settleAfter(final long epoch, final long laterNs)
    {
        return new GrowthWork(
            table, present(), isOfOwnMemory() ? Kind.SETTLE_OWN : Kind.SETTLE, laterNs, isOfFinishing, epoch);
    }

    /**
     * @param usesGivenMemory whether memory that was leased for it may be proposed.
     * @return how a merge goes on that has failed: where it is not known to be decided, it may be proposed.
     */
    Kind restOfMerge(final boolean usesGivenMemory)
    {
        if (Kind.FINISH_MERGE == kind || isMergeLearned())
        {
            return Kind.FINISH_MERGE;
        }
        return usesGivenMemory || isOfOwnMemory() ? Kind.SETTLE_OWN : Kind.SETTLE;
    }

    /** @return whether memory that this node has leased may have been proposed, and that taken back by anybody. */
    boolean isOfOwnMemory()
    {
        return Kind.SETTLE_OWN == kind;
    }

    /** @return what has the place of the subtable by now, as far as is known. */
    Subtable present()
    {
        return table.subtable(subtable.suffix());
    }

    /** @return chunks that it takes. */
    int chunks()
    {
        return kind.chunks;
    }

    /** @return whether it may begin. */
    boolean isDue(final TableEngine engine, final long nowNs)
    {
        return notBeforeNs - nowNs <= 0 && (!waitsForEpochs() || engine.isReusable(undecidedEpoch));
    }

    boolean waitsForEpochs()
    {
        return 0 != undecidedEpoch;
    }

    boolean isSame(final GrowthWork other)
    {
        return null != other && table == other.table && kind == other.kind && subtable.equals(other.subtable);
    }

    /** @return whether the subtable was merged by now, as far as is known: by whoever does this, or somebody else. */
    boolean isMergeLearned()
    {
        return present().depth() < subtable.depth();
    }

    /** @return whether the table is as it was when it was wanted. */
    boolean isStillWanted()
    {
        final Subtable present = present();
        return switch (kind)
        {
            case SPLIT, SETTLE -> present.equals(subtable);
            case SETTLE_OWN -> true;
            case FINISH_SPLIT -> table.mayWaitForWords(present);
            case MERGE -> present.equals(subtable) && table.mayBeMerged(present);
            case FINISH_MERGE -> present.equals(subtable) && table.mayWaitForWords(present);
        };
    }
}
