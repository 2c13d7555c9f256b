package io.verbena.compute.memory;

import io.verbena.compute.session.SessionParts;
import io.verbena.protocol.message.ChunkLease;
import io.verbena.protocol.message.ChunkRun;
import io.verbena.raas.failure.Backoff;
import io.verbena.table.TableEngine;
import io.verbena.table.directory.Subtable;

import org.agrona.collections.Int2ObjectHashMap;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.IntToLongFunction;
import java.util.function.Supplier;

/** All {@link IndexReturn}s of a session. What is not back when it ends others sweep. Owned by the node's thread. */
public final class IndexReturns
{
    private final Supplier<Backoff> backoffs;
    private final List<IndexReturn> returns = new ArrayList<>();

    /** @param backoffs gives each return the pauses between its attempts. */
    public IndexReturns(final Supplier<Backoff> backoffs)
    {
        this.backoffs = backoffs;
    }

    /** @return of each memory node a lease by which nobody can have chunks that go out of use from now on, or 0. */
    public static IntToLongFunction newestLeases(final Collection<MemoryLink> links)
    {
        final Int2ObjectHashMap<Long> newest = new Int2ObjectHashMap<>();
        links.forEach((link) -> newest.put(link.memoryNodeId(), (Long)link.maintenance().newestLease()));
        return (memoryNodeId) -> newest.getOrDefault(memoryNodeId, (Long)0L);
    }

    /**
     * Returns subtables that no descriptor names any more.
     *
     * @param tableName   for messages.
     * @param subtables   which.
     * @param newestLease of a memory node, see {@link IndexReturn#ofUsed}; 0 where none is known: those are swept.
     * @param epoch       known when the last one ceased to be named.
     */
    public void addUsed(
        final String tableName, final List<Subtable> subtables, final IntToLongFunction newestLease,
        final long epoch)
    {
        final Int2ObjectHashMap<List<ChunkRun>> runsByNode = new Int2ObjectHashMap<>();
        for (final Subtable subtable : subtables)
        {
            if (0 == newestLease.applyAsLong(subtable.memoryNodeId()))
            {
                continue;
            }
            final List<ChunkRun> runs =
                runsByNode.computeIfAbsent(subtable.memoryNodeId(), (id) -> new ArrayList<>());
            runs.add(new ChunkRun(subtable.offset(), 1));
            if (ChunkLease.MAX_RUNS == runs.size())
            {
                addUsed(tableName, subtable.memoryNodeId(), runs, newestLease, epoch);
                runsByNode.remove(subtable.memoryNodeId());
            }
        }
        runsByNode.forEach((memoryNodeId, runs) -> addUsed(tableName, memoryNodeId, runs, newestLease, epoch));
    }

    private void addUsed(
        final String tableName, final int memoryNodeId, final List<ChunkRun> runs, final IntToLongFunction newestLease,
        final long epoch)
    {
        returns.add(IndexReturn.ofUsed(
            tableName, memoryNodeId, runs, newestLease.applyAsLong(memoryNodeId), epoch, backoffs.get()));
    }

    /** Returns what was leased for a table and is in no use. */
    public void addLeased(final String tableName, final int memoryNodeId, final ChunkLease lease)
    {
        returns.add(IndexReturn.ofLeased(tableName, memoryNodeId, lease, backoffs.get()));
    }

    /** Returns what a request may have brought whose answer was lost. */
    public void addRequest(final String tableName, final int memoryNodeId, final long requestId, final int chunkCount)
    {
        returns.add(IndexReturn.ofRequest(tableName, memoryNodeId, requestId, chunkCount, backoffs.get()));
    }

    /** @return whether something goes back to a memory node. */
    public boolean has(final int memoryNodeId)
    {
        return returns.stream().anyMatch((index) -> memoryNodeId == index.memoryNodeId());
    }

    /** @return whether everything has gone back. */
    public boolean isEmpty()
    {
        return returns.isEmpty();
    }

    /** @return whether something waits for epochs to pass. */
    public boolean wantsEpochs(final TableEngine engine)
    {
        return returns.stream().anyMatch((index) -> index.wantsEpochs(engine));
    }

    /** @return when one asks again, if its memory node can be reached, or {@link Long#MAX_VALUE}. */
    public long nextAtNs(final Int2ObjectHashMap<MemoryLink> links)
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

    /**
     * Goes on.
     *
     * @param nowNs time now, by the clock of the device.
     * @return work done.
     */
    public int poll(final SessionParts session, final Int2ObjectHashMap<MemoryLink> links, final long nowNs)
    {
        int workCount = 0;
        for (int i = returns.size() - 1; i >= 0; i--)
        {
            final IndexReturn index = returns.get(i);
            workCount += index.poll(
                session.engine(), links.get(index.memoryNodeId()), session.timeoutNs(), nowNs);
            if (index.isDone())
            {
                session.numbers().end(index.requestId());
                returns.remove(i);
            }
        }
        return workCount;
    }
}
