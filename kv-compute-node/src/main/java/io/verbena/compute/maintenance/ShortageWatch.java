package io.verbena.compute.maintenance;

import java.util.function.LongSupplier;

/**
 * Whether a node's own chunks are to be swept: because memory was refused, though not again for the same shortage
 * within {@value #PAUSE_EPOCHS} epochs, or because a table was dropped. Owned by the node's thread.
 */
public final class ShortageWatch
{
    /** Epochs between two rounds over own chunks because memory is short. */
    static final long PAUSE_EPOCHS = 64;

    private final LongSupplier epoch;
    private final LongSupplier closedTables;
    private long refusalsSeen;
    private long closedTablesSeen;
    private long shortageEpoch;

    /**
     * @param epoch        current.
     * @param closedTables found dropped so far.
     */
    public ShortageWatch(final LongSupplier epoch, final LongSupplier closedTables)
    {
        this.epoch = epoch;
        this.closedTables = closedTables;
    }

    /** @return whether refused requests, so many by now, lead to a sweep that was not asked for yet. */
    public boolean isShort(final long refusals)
    {
        return refusals != refusalsSeen && epoch.getAsLong() >= shortageEpoch;
    }

    /** @return whether memory is short, or a table was dropped, for the first time since this was asked. */
    public boolean note(final long refusals)
    {
        boolean isNew = false;
        if (isShort(refusals))
        {
            refusalsSeen = refusals;
            shortageEpoch = epoch.getAsLong() + PAUSE_EPOCHS;
            isNew = true;
        }
        if (closedTablesSeen != closedTables.getAsLong())
        {
            closedTablesSeen = closedTables.getAsLong();
            isNew = true;
        }
        return isNew;
    }
}
