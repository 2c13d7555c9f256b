package io.verbena.compute;

import io.verbena.compute.figures.NodeSpace;
import io.verbena.compute.figures.ReclaimCounters;
import io.verbena.compute.figures.SpaceFigures;
import io.verbena.compute.memory.MemoryLink;
import io.verbena.table.TableEngine;
import io.verbena.table.allocation.BlockAllocator;
import io.verbena.table.allocation.HeldRange;

import java.util.ArrayList;
import java.util.List;

/** What a session holds at memory nodes, range by range or in sum. Stateless; used by the node's thread. */
final class SpaceTally
{
    private SpaceTally()
    {
    }

    /** @return every range, each an object: for checks only, there may be millions. */
    static NodeSpace list(
        final TableEngine engine, final List<MemoryLink> links, final boolean isReclaiming, final String reclaimed)
    {
        final List<HeldRange> held = new ArrayList<>();
        long leftBytes = 0;
        for (final MemoryLink link : links)
        {
            final int id = link.memoryNodeId();
            engine.forEachHeld(id, (kind, offset, length) -> held.add(new HeldRange(id, kind, offset, length)));
            leftBytes += engine.allocator(id).leftBytes();
        }
        return new NodeSpace(held, isReclaiming, engine.counters().unknownBytes, leftBytes, reclaimed);
    }

    /** @return the sums; costs the same whatever is held. */
    static SpaceFigures sum(
        final TableEngine engine, final List<MemoryLink> links, final boolean isReclaiming,
        final ReclaimCounters counters)
    {
        long heldBytes = 0;
        long waitingBytes = 0;
        boolean isSweeping = false;
        for (int i = 0; i < links.size(); i++)
        {
            heldBytes += engine.heldBytes(links.get(i).memoryNodeId());
            final BlockAllocator allocator = engine.allocator(links.get(i).memoryNodeId());
            waitingBytes += allocator.quarantinedBytes() + allocator.waitingRegionBytes();
            isSweeping |= links.get(i).maintenance().isSweeping();
        }
        counters.sweepsEnded = isSweeping ? counters.sweepsEnded : counters.sweepsAsked;
        return new SpaceFigures(heldBytes, isReclaiming, engine.counters().unknownBytes, waitingBytes,
            counters.sweepsAsked, counters.sweepsEnded);
    }
}
