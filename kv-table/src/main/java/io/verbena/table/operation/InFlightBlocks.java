package io.verbena.table.operation;

import io.verbena.table.allocation.BlockAllocator;
import io.verbena.table.allocation.HeldConsumer;
import io.verbena.table.directory.NodeLink;
import io.verbena.table.format.SizeClasses;

/** Blocks that operations under way hold of one memory node: listing, and their sum. Stateless. */
public final class InFlightBlocks
{
    private InFlightBlocks()
    {
    }

    public static void forEach(final Operation[] operations, final NodeLink link, final HeldConsumer consumer)
    {
        for (final Operation op : operations)
        {
            if (holdsBlock(op, link))
            {
                consumer.accept(HeldConsumer.IN_FLIGHT, op.blockOffset, SizeClasses.lengthBytes(op.blockClass));
            }
        }
    }

    /** @return bytes of those blocks; allocates nothing. */
    public static long bytes(final Operation[] operations, final NodeLink link)
    {
        long bytes = 0;
        for (final Operation op : operations)
        {
            bytes += holdsBlock(op, link) ? SizeClasses.lengthBytes(op.blockClass) : 0;
        }
        return bytes;
    }

    private static boolean holdsBlock(final Operation op, final NodeLink link)
    {
        return op.step != Step.FREE && op.link == link && op.blockOffset != BlockAllocator.NONE;
    }
}
