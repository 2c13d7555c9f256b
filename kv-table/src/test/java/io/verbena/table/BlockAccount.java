package io.verbena.table;

import io.verbena.table.allocation.BlockAllocator;
import io.verbena.table.check.TableCheck;
import java.util.List;

/** Whether all bytes that were leased have one owner: free, waiting, in the table, or counted as unknown. */
final class BlockAccount
{
    private BlockAccount()
    {
    }

    /** @return what is wrong, or null; of engines that are all alive, at one memory node. */
    static String judge(final TableCheck check, final List<TableEngine> engines, final int memoryNodeId)
    {
        long accounted = check.blockBytes;
        long leased = 0;
        for (final TableEngine engine : engines)
        {
            final BlockAllocator allocator = engine.allocator(memoryNodeId);
            leased += allocator.leasedBytes();
            accounted += allocator.freeBytes() + allocator.uncutBytes() + allocator.quarantinedBytes();
        }
        final long unknown = engines.stream().mapToLong(engine -> engine.counters().unknownBytes).sum();
        return accounted <= leased && accounted + unknown >= leased ? null :
            (accounted > leased ? "bytes with two owners" : "bytes without an owner") + ", leased=" + leased +
            " accounted=" + accounted + " unknown=" + unknown;
    }
}
