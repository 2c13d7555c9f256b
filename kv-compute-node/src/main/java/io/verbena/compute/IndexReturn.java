package io.verbena.compute;

import io.verbena.control.ChunkLease;
import io.verbena.control.ChunkRun;
import io.verbena.control.ControlCall;
import io.verbena.control.ControlStatus;
import io.verbena.table.Subtable;
import io.verbena.table.TableEngine;

import org.agrona.collections.Int2ObjectHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.ArrayList;
import java.util.List;

/**
 * Returns index chunks of a table that this node dropped, or of subtables whose split it made known, when no node
 * begins anything on them any more and everything begun on them has ended. A call is made again when it was refused for
 * now, and never when it is unknown whether it was done: whoever returned a chunk twice might return somebody else's.
 * What is not returned, because this node or a call fails, is said in the log, and a check of the tables finds it.
 * Owned by the node's thread.
 */
final class IndexReturn
{
    private static final Logger LOGGER = LoggerFactory.getLogger(IndexReturn.class);

    /** A call under way. */
    private record Returning(int memoryNodeId, List<ChunkRun> runs, ControlCall<Void> call)
    {
    }

    private final Int2ObjectHashMap<List<ChunkRun>> runsByNode = new Int2ObjectHashMap<>();
    private final List<Returning> underWay = new ArrayList<>();
    private final String tableName;
    private final long droppedEpoch;

    /**
     * @param tableName    for messages.
     * @param subtables    that no descriptor names any more.
     * @param droppedEpoch known when the last one ceased to.
     */
    IndexReturn(final String tableName, final List<Subtable> subtables, final long droppedEpoch)
    {
        this.droppedEpoch = droppedEpoch;
        this.tableName = tableName;
        for (final Subtable subtable : subtables)
        {
            runsByNode.computeIfAbsent(subtable.memoryNodeId(), (id) -> new ArrayList<>())
                .add(new ChunkRun(subtable.offset(), 1));
        }
    }

    /** @return whether epochs are what it waits for, and not a memory node that is away. */
    boolean wantsEpochs(final TableEngine engine)
    {
        return !engine.isReusable(droppedEpoch);
    }

    boolean isDone()
    {
        return runsByNode.isEmpty() && underWay.isEmpty();
    }

    int poll(final TableEngine engine, final Int2ObjectHashMap<MemoryLink> links, final long timeoutNs)
    {
        if (!engine.isReusable(droppedEpoch))
        {
            return 0;
        }
        int workCount = pollCalls();
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
                    final List<ChunkRun> some = runs.subList(i, Math.min(runs.size(), i + ChunkLease.MAX_RUNS));
                    underWay.add(new Returning(
                        nodes.getIntKey(), some, link.client().returnChunks(some, timeoutNs)));
                }
                nodes.remove();
                workCount++;
            }
        }
        return workCount;
    }

    private int pollCalls()
    {
        int workCount = 0;
        for (int i = underWay.size() - 1; i >= 0; i--)
        {
            if (underWay.get(i).call.isDone())
            {
                onEnd(underWay.remove(i));
                workCount++;
            }
        }
        return workCount;
    }

    private void onEnd(final Returning ended)
    {
        if (ControlStatus.UNAVAILABLE == ended.call.status())
        {
            runsByNode.computeIfAbsent(ended.memoryNodeId, (id) -> new ArrayList<>()).addAll(ended.runs);
        }
        else if (ControlStatus.OK != ended.call.status())
        {
            LOGGER.warn("index chunks of table {} may stay taken at memory node {}, {} chunks, until a " +
                "check of the tables: {} {}", tableName, ended.memoryNodeId, ended.runs.size(), ended.call.status(),
                ended.call.failure());
        }
    }
}
