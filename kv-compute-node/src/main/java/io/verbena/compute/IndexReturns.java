package io.verbena.compute;

import io.verbena.control.ChunkLease;
import io.verbena.control.ChunkRun;
import io.verbena.table.Subtable;
import io.verbena.table.TableEngine;

import org.agrona.collections.Int2ObjectHashMap;

import java.util.ArrayList;
import java.util.List;

/** All {@link IndexReturn}s of a session. What is not back when it ends stays taken. Owned by the node's thread. */
final class IndexReturns
{
    private final List<IndexReturn> returns = new ArrayList<>();

    /**
     * Returns subtables that no descriptor names any more.
     *
     * @param tableName   for messages.
     * @param subtables   which; of one memory node, unless newestLease is 0.
     * @param newestLease of that node, see {@link IndexReturn#ofUsed}.
     * @param epoch       known when the last one ceased to be named.
     */
    void addUsed(
        final String tableName, final List<Subtable> subtables, final long newestLease, final long epoch)
    {
        final Int2ObjectHashMap<List<ChunkRun>> runsByNode = new Int2ObjectHashMap<>();
        for (final Subtable subtable : subtables)
        {
            final List<ChunkRun> runs =
                runsByNode.computeIfAbsent(subtable.memoryNodeId(), (id) -> new ArrayList<>());
            runs.add(new ChunkRun(subtable.offset(), 1));
            if (ChunkLease.MAX_RUNS == runs.size())
            {
                returns.add(IndexReturn.ofUsed(tableName, subtable.memoryNodeId(), runs, newestLease, epoch));
                runsByNode.remove(subtable.memoryNodeId());
            }
        }
        runsByNode.forEach((memoryNodeId, runs) ->
            returns.add(IndexReturn.ofUsed(tableName, memoryNodeId, runs, newestLease, epoch)));
    }

    /** Returns what was leased for a table and is in no use. */
    void addLeased(final String tableName, final int memoryNodeId, final ChunkLease lease)
    {
        returns.add(IndexReturn.ofLeased(tableName, memoryNodeId, lease));
    }

    /** Returns what a request may have brought whose answer was lost. */
    void addRequest(final String tableName, final int memoryNodeId, final long requestId, final int chunkCount)
    {
        returns.add(IndexReturn.ofRequest(tableName, memoryNodeId, requestId, chunkCount));
    }

    boolean isEmpty()
    {
        return returns.isEmpty();
    }

    boolean wantsEpochs(final TableEngine engine)
    {
        return returns.stream().anyMatch((index) -> index.wantsEpochs(engine));
    }

    /** @return when one asks again, if its memory node can be reached, or {@link Long#MAX_VALUE}. */
    long nextAtNs(final Int2ObjectHashMap<MemoryLink> links)
    {
        long next = Long.MAX_VALUE;
        for (int i = 0; i < returns.size(); i++)
        {
            final IndexReturn index = returns.get(i);
            final MemoryLink link = links.get(index.memoryNodeId());
            next = null != link && link.isReady() ? Math.min(next, index.nextAtNs()) : next;
        }
        return next;
    }

    int poll(
        final TableEngine engine, final Int2ObjectHashMap<MemoryLink> links, final long timeoutNs, final long nowNs)
    {
        int workCount = 0;
        for (int i = returns.size() - 1; i >= 0; i--)
        {
            final IndexReturn index = returns.get(i);
            workCount += index.poll(engine, links.get(index.memoryNodeId()), timeoutNs, nowNs);
            if (index.isDone())
            {
                returns.remove(i);
            }
        }
        return workCount;
    }
}
