package io.verbena.compute.group;

import io.verbena.compute.memory.IndexReturns;
import io.verbena.compute.memory.MemoryLink;
import io.verbena.protocol.message.MirroredChunk;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.table.TableEngine;
import io.verbena.table.allocation.ChunkSource;
import io.verbena.table.directory.Subtable;

import org.agrona.collections.Int2ObjectHashMap;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * Memory of the memory nodes and groups that a session is linked to, whichever of both an id names: for blocks and for
 * subtables, and on its way back. Owned by the node's thread.
 *
 * @param links   by memory node.
 * @param groups  whose numbers are no memory node's.
 * @param returns of indexes of memory nodes, which become memory for blocks.
 */
public record LinkedChunks(
    Int2ObjectHashMap<MemoryLink> links, GroupLinks groups, IndexReturns returns) implements ChunkSource
{
    /** @return whether this is the number of a group that is used here. */
    public boolean isOfGroup(final int id)
    {
        return null != groups.get(id);
    }

    /** @return of all memory nodes and groups; a new list. */
    public List<Integer> ids()
    {
        final List<Integer> ids = new ArrayList<>(links.keySet());
        groups.all().forEach((group) -> ids.add(group.group()));
        return ids;
    }

    /** @return whether a sweep of own chunks has not ended. */
    public boolean isSweeping()
    {
        return links.values().stream().anyMatch((link) -> link.maintenance().isSweeping()) ||
            groups.all().stream().anyMatch((group) -> group.reclaimer().isSweeping());
    }

    /** @return whether chunks are being reclaimed, or should be. */
    public boolean isReclaiming()
    {
        return links.values().stream().anyMatch((link) -> link.maintenance().isReclaiming()) ||
            groups.all().stream().anyMatch((group) -> group.reclaimer().isDue());
    }

    /** Reclaims what is unnamed in this node's own chunks, and indexes that nobody uses. */
    public void sweepOwn()
    {
        links.values().forEach((link) -> link.maintenance().sweepOwn());
        groups.all().forEach((group) -> group.reclaimer().sweepOwn());
    }

    /** @return which epoch may be passed as far as groups go. */
    public long passableEpoch()
    {
        long epoch = Long.MAX_VALUE;
        for (final GroupLink group : groups.all())
        {
            epoch = Math.min(epoch, group.reclaimer().passableEpoch());
        }
        return epoch;
    }

    /** @return whether it can be used now. */
    public boolean isReady(final int id)
    {
        return isOfGroup(id) ? groups.get(id).isReady() : links.containsKey(id) && links.get(id).isReady();
    }

    /** @return on which memory nodes it is; while {@link #isReady}. */
    public List<PeerIdentity> members(final int id)
    {
        return isOfGroup(id) ? groups.get(id).view().members() : List.of(links.get(id).identity());
    }

    /**
     * Looks by which leases its chunks are had, if it is a group: each is named when it goes back. Of a memory node one
     * is as good as any later one.
     *
     * @return whether {@link #known} knows that as of now.
     */
    public BooleanSupplier look(final int id)
    {
        return isOfGroup(id) ? groups.get(id).look() : () -> true;
    }

    /** @return as {@link #look(int)}, of all groups. */
    public BooleanSupplier look()
    {
        final List<BooleanSupplier> looks = groups.all().stream().map(GroupLink::look).toList();
        return () -> looks.stream().allMatch(BooleanSupplier::getAsBoolean);
    }

    /** @return by which leases its chunks are had now. */
    public KnownLeases known(final int id)
    {
        if (isOfGroup(id))
        {
            return groups.get(id).known();
        }
        final long newest = links.containsKey(id) ? links.get(id).maintenance().newestLease() : 0;
        return KnownLeases.ofNodes((node) -> node == id ? newest : 0);
    }

    /** @return by which leases the chunks of all of them are had now. */
    public KnownLeases known()
    {
        KnownLeases known = KnownLeases.ofNodes(IndexReturns.newestLeases(links.values()));
        for (final GroupLink group : groups.all())
        {
            known = known.and(group.known());
        }
        return known;
    }

    /**
     * Returns subtables that no descriptor names any more.
     *
     * @param tableName for messages.
     * @param subtables which.
     * @param known     leases from before they could be returned by somebody else.
     * @param epoch     that all must have passed first.
     */
    public void retire(
        final String tableName, final List<Subtable> subtables, final KnownLeases known, final long epoch)
    {
        final List<Subtable> ofNodes = new ArrayList<>();
        for (final Subtable subtable : subtables)
        {
            final int id = subtable.memoryNodeId();
            final MirroredChunk lease = known.lease(id, subtable.offset());
            if (!isOfGroup(id))
            {
                ofNodes.add(subtable);
            }
            else if (null != lease)
            {
                groups.get(id).chunks().retire(lease, epoch);
            }
        }
        returns.addUsed(tableName, ofNodes, known::newest, epoch);
    }

    /** @return whether indexes have not gone back yet that nobody needs. */
    public boolean isReturning()
    {
        return !returns.isEmpty() || groups.all().stream().anyMatch((group) -> group.chunks().isReturning());
    }

    /** @return whether what goes back, or is reclaimed, waits for epochs. */
    public boolean wantsEpochs(final TableEngine engine)
    {
        return isReclaiming() || returns.wantsEpochs(engine) ||
            groups.all().stream().anyMatch((group) -> group.chunks().wantsEpochs());
    }

    /** There was no memory for an index. */
    public void onIndexRefused(final int id)
    {
        if (isOfGroup(id))
        {
            groups.get(id).reclaimer().onIndexRefused();
        }
        else
        {
            links.get(id).maintenance().onIndexRefused();
        }
    }

    /** Returns indexes that nobody uses, after a while. */
    public void sweepIndexes(final int id)
    {
        if (isOfGroup(id))
        {
            groups.get(id).reclaimer().sweepIndexes();
        }
        else
        {
            links.get(id).maintenance().sweepIndexes();
        }
    }

    @Override
    public void requestChunk(final int memoryNodeId)
    {
        groups.requestBlocks(memoryNodeId);
    }

    @Override
    public boolean mayFindMemory(final int memoryNodeId)
    {
        if (isOfGroup(memoryNodeId))
        {
            return groups.get(memoryNodeId).chunks().isReturning() ||
                groups.get(memoryNodeId).reclaimer().mayFindMemory();
        }
        final MemoryLink link = links.get(memoryNodeId);
        return null != link && (returns.has(memoryNodeId) || link.maintenance().mayFindMemory());
    }
}
