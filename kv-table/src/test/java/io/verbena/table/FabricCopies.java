package io.verbena.table;

import io.verbena.table.check.UnchangedStore;
import org.agrona.MutableDirectBuffer;

/** The copies of a group in a {@link StepFabric}, of memory nodes 1 and on, the primary last, as a check sees them. */
interface FabricCopies extends UnchangedStore
{
    /** The memory. */
    StepFabric fabric();

    /** How many. */
    int copies();

    @Override
    default int copyCount(final int memoryNodeId)
    {
        return copies();
    }

    @Override
    default void read(
        final int memoryNodeId, final long offset, final MutableDirectBuffer target, final int lengthBytes)
    {
        fabric().read(copies(), offset, target, lengthBytes);
    }

    @Override
    default void readCopy(
        final int memoryNodeId, final int copy, final long offset, final MutableDirectBuffer target,
        final int lengthBytes)
    {
        fabric().read(copy + 1, offset, target, lengthBytes);
    }
}
