package io.verbena.compute;

import io.verbena.control.ChunkLease;
import io.verbena.control.ChunkRun;
import io.verbena.table.TableEngine;
import io.verbena.table.format.DirectoryEntry;
import io.verbena.table.format.TableDescriptor;

import org.agrona.collections.Int2ObjectHashMap;

import java.util.ArrayList;
import java.util.List;

/**
 * Returns the index chunks of a table that this node dropped, when every node has closed the table and everything begun
 * on it has ended. Each call is made once: whoever returned a chunk twice might return somebody else's. What is not
 * returned, because this node or a call fails, a check of the tables finds. Owned by the node's thread.
 */
final class IndexReturn
{
    private final Int2ObjectHashMap<List<ChunkRun>> runsByNode = new Int2ObjectHashMap<>();
    private final long droppedEpoch;

    IndexReturn(final TableDescriptor table, final long droppedEpoch)
    {
        this.droppedEpoch = droppedEpoch;
        for (int suffix = 0; suffix < table.subtableCount(); suffix++)
        {
            final long entry = table.entry(suffix);
            runsByNode.computeIfAbsent(DirectoryEntry.memoryNodeId(entry), (id) -> new ArrayList<>())
                .add(new ChunkRun(DirectoryEntry.subtableOffset(entry), 1));
        }
    }

    /** @return whether epochs are what it waits for, and not a memory node that is away. */
    boolean wantsEpochs(final TableEngine engine)
    {
        return !engine.isReusable(droppedEpoch);
    }

    boolean isDone()
    {
        return runsByNode.isEmpty();
    }

    int poll(final TableEngine engine, final Int2ObjectHashMap<MemoryLink> links, final long timeoutNs)
    {
        if (!engine.isReusable(droppedEpoch))
        {
            return 0;
        }
        int workCount = 0;
        final Int2ObjectHashMap<List<ChunkRun>>.EntryIterator nodes = runsByNode.entrySet().iterator();
        while (nodes.hasNext())
        {
            nodes.next();
            final MemoryLink link = links.get(nodes.getIntKey());
            if (null != link && link.isReady())
            {
                final List<ChunkRun> runs = nodes.getValue();
                for (int i = 0; i < runs.size(); i += ChunkLease.MAX_RUNS)
                {
                    link.client().returnChunks(
                        runs.subList(i, Math.min(runs.size(), i + ChunkLease.MAX_RUNS)), timeoutNs);
                }
                nodes.remove();
                workCount++;
            }
        }
        return workCount;
    }
}
