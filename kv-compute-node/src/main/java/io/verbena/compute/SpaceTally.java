package io.verbena.compute;

import io.verbena.compute.figures.NodeSpace;
import io.verbena.compute.figures.ReclaimCounters;
import io.verbena.compute.figures.SpaceFigures;
import io.verbena.compute.group.LinkedChunks;
import io.verbena.table.TableEngine;
import io.verbena.table.allocation.BlockAllocator;
import io.verbena.table.allocation.HeldRange;

import java.util.ArrayList;
import java.util.List;

/** What a session holds at memory nodes and groups, range by range or in sum. Stateless; used by the node's thread. */
final class SpaceTally
{
    private SpaceTally()
    {
    }

    /** @return every range, each an object: for checks only, there may be millions. */
    static NodeSpace list(
        final TableEngine engine, final LinkedChunks chunks, final boolean isReclaiming, final String reclaimed)
    {
        final List<HeldRange> held = new ArrayList<>();
        long leftBytes = 0;
        for (final int id : chunks.ids())
        {
            engine.forEachHeld(id, (kind, offset, length) -> held.add(new HeldRange(id, kind, offset, length)));
            leftBytes += engine.allocator(id).leftBytes();
        }
        return new NodeSpace(held, isReclaiming, engine.counters().unknownBytes, leftBytes, reclaimed);
    }

    /** @return the sums; costs the same whatever is held. */
    static SpaceFigures sum(
        final TableEngine engine, final LinkedChunks chunks, final boolean isReclaiming,
        final ReclaimCounters counters)
    {
        long heldBytes = 0;
        long waitingBytes = 0;
        for (final int id : chunks.ids())
        {
            heldBytes += engine.heldBytes(id);
            final BlockAllocator allocator = engine.allocator(id);
            waitingBytes += allocator.quarantinedBytes() + allocator.waitingRegionBytes();
        }
        final boolean isSweeping = chunks.isSweeping();
        counters.sweepsEnded = isSweeping ? counters.sweepsEnded : counters.sweepsAsked;
        return new SpaceFigures(heldBytes, isReclaiming, engine.counters().unknownBytes, waitingBytes,
            counters.sweepsAsked, counters.sweepsEnded);
    }
}
