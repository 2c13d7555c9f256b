package io.verbena.cli.cluster;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.memory.MemoryFolder;
import io.verbena.memory.MemoryNodeException;
import io.verbena.memory.StoppedMemory;
import io.verbena.meta.store.MetaBatch;
import io.verbena.meta.store.MetaState;
import io.verbena.meta.store.MetaStoreException;
import io.verbena.meta.store.RocksMetaStore;
import io.verbena.meta.store.StoredTable;
import io.verbena.protocol.message.TableEntry;
import io.verbena.protocol.view.View;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.table.check.OfflineGrowthRepair;
import io.verbena.table.check.RepairableStore;
import io.verbena.table.check.SpaceReport;
import io.verbena.table.check.StoreCheck;
import io.verbena.table.check.UnchangedStore;
import io.verbena.table.directory.Subtable;
import io.verbena.table.format.FormatException;
import io.verbena.table.format.TableDescriptor;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The memory of a cluster whose processes have ended without {@code down}, and its tables. Holds the cluster's lock: no
 * other command starts or removes it meanwhile. One thread.
 */
public final class OfflineStore implements RepairableStore, UnchangedStore, AutoCloseable
{
    private final LocalCluster cluster;
    private final Fabric fabric;
    private final Path metaFolder;
    private final Map<Integer, StoppedMemory> nodes = new TreeMap<>();
    private final Map<Integer, View> views = new TreeMap<>();
    private List<TableDescriptor> tables = List.of();

    private OfflineStore(final LocalCluster cluster, final Fabric fabric, final Path metaFolder)
    {
        this.metaFolder = metaFolder;
        this.cluster = cluster;
        this.fabric = fabric;
    }

    static OfflineStore open(final ClusterFolder folder)
    {
        final String fabricName = folder.fabric();
        if (null == fabricName || folder.memoryNodes().isEmpty())
        {
            throw new CommandFailedException(ExitStatus.UNAVAILABLE,
                "no cluster in " + folder.path() + ": start one with 'verbena up', or give --cluster and --token-file",
                null);
        }
        final OfflineStore store = hold(folder, fabricName);
        boolean isOpen = false;
        try
        {
            for (final String name : folder.memoryNodes())
            {
                store.add(folder, name);
            }
            try (RocksMetaStore meta = RocksMetaStore.open(store.metaFolder))
            {
                final MetaState state = meta.load();
                store.tables = state.tables().stream()
                    .map((table) -> TableDescriptor.decode(table.descriptor())).toList();
                state.views().forEach((view) -> store.views.put(view.group(), view));
            }
            isOpen = true;
            return store;
        }
        catch (final FormatException | MetaStoreException | MemoryNodeException | RdmaException ex)
        {
            throw new CommandFailedException(ex instanceof FormatException ? ExitStatus.FAILED :
                ExitStatus.UNAVAILABLE, "cluster in " + folder.path() + ": " + ex.getMessage(), ex);
        }
        finally
        {
            if (!isOpen)
            {
                store.close();
            }
        }
    }

    private static OfflineStore hold(final ClusterFolder folder, final String fabricName)
    {
        final LocalCluster cluster = LocalCluster.openExisting(folder);
        try
        {
            if (folder.isDiscarding())
            {
                throw new CommandFailedException(ExitStatus.UNAVAILABLE, "records of the cluster in " + folder.path() +
                    " are given up, and some are removed: 'verbena down --discard' removes the others", null);
            }
            if (!cluster.live().isEmpty())
            {
                throw new CommandFailedException(ExitStatus.UNAVAILABLE, "the cluster in " + folder.path() +
                    " was started just now: try again, to ask the one that is up", null);
            }
            return new OfflineStore(cluster, Fabrics.open(fabricName), folder.path().resolve("meta"));
        }
        catch (final RdmaException ex)
        {
            cluster.close();
            throw new CommandFailedException(
                ExitStatus.UNAVAILABLE, "cluster in " + folder.path() + ": " + ex.getMessage(), ex);
        }
        catch (final CommandFailedException ex)
        {
            cluster.close();
            throw ex;
        }
    }

    private void add(final ClusterFolder folder, final String name)
    {
        final StoppedMemory memory = StoppedMemory.open(fabric, MemoryFolder.open(folder.memoryNode(name), 0, 0));
        if (null == memory)
        {
            throw new CommandFailedException(ExitStatus.UNAVAILABLE, "there is no memory of " + name + " in " +
                folder.path() + ", only its checkpoint: 'verbena up' restores it", null);
        }
        nodes.put(memory.nodeId(), memory);
    }

    List<Integer> memoryNodeIds()
    {
        return new ArrayList<>(nodes.keySet());
    }

    @Override
    public void read(
        final int memoryNodeId, final long offset, final MutableDirectBuffer target, final int lengthBytes)
    {
        readCopy(memoryNodeId, copyCount(memoryNodeId) - 1, offset, target, lengthBytes);
    }

    /** @return the last view of a group; null when there is none of this number. */
    View view(final int group)
    {
        return nodes.containsKey(group) ? null : views.get(group);
    }

    /** Of a view that was ending when the processes did, what is left. */
    private List<PeerIdentity> copies(final int group)
    {
        final View view = view(group);
        if (view.isDeserted())
        {
            throw new CommandFailedException(
                ExitStatus.UNAVAILABLE, "all memory nodes of group " + group + " are lost", null);
        }
        return view.survivors();
    }

    @Override
    public List<Integer> groupIds()
    {
        return tables.stream().flatMap((table) -> Subtable.of(table).stream()).map(Subtable::memoryNodeId).distinct()
            .filter(this::isOfGroup).sorted().toList();
    }

    @Override
    public boolean isOfGroup(final int memoryNodeId)
    {
        return null != view(memoryNodeId);
    }

    @Override
    public boolean hasChunksOf(final int memoryNodeId, final int group)
    {
        return group == (isOfGroup(memoryNodeId) ? memoryNodeId : 0);
    }

    @Override
    public int copyCount(final int memoryNodeId)
    {
        return isOfGroup(memoryNodeId) ? copies(memoryNodeId).size() : 1;
    }

    @Override
    public void readCopy(
        final int memoryNodeId, final int copy, final long offset, final MutableDirectBuffer target,
        final int lengthBytes)
    {
        copy(memoryNodeId, copy).read(offset, target, lengthBytes);
    }

    private StoppedMemory copy(final int memoryNodeId, final int copy)
    {
        return node(isOfGroup(memoryNodeId) ? copies(memoryNodeId).get(copy).nodeId() : memoryNodeId);
    }

    @Override
    public void swapCopy(
        final int memoryNodeId, final int copy, final long offset, final long expected, final long desired)
    {
        copy(memoryNodeId, copy).swap(offset, expected, desired);
    }

    @Override
    public void writeCopy(
        final int memoryNodeId, final int copy, final long offset, final DirectBuffer source, final int lengthBytes)
    {
        copy(memoryNodeId, copy).write(offset, source, lengthBytes);
    }

    @Override
    public void swap(final int memoryNodeId, final long offset, final long expected, final long desired)
    {
        // Nobody else changes the copies of a group: one after the other is as good as a round.
        for (int copy = 0; copy < copyCount(memoryNodeId); copy++)
        {
            swapCopy(memoryNodeId, copy, offset, expected, desired);
        }
    }

    private StoppedMemory node(final int memoryNodeId)
    {
        final StoppedMemory node = nodes.get(memoryNodeId);
        if (null == node)
        {
            throw new CommandFailedException(ExitStatus.USAGE,
                "there is no memory node " + memoryNodeId + ": there are " + memoryNodeIds(), null);
        }
        return node;
    }

    @Override
    public int finishSplits(final List<String> problems)
    {
        final Map<Integer, Long> lengths = new TreeMap<>();
        nodes.forEach((id, memory) -> lengths.put(id, memory.regionLengthBytes()));
        groupIds().forEach((group) -> lengths.put(group, copies(group).stream()
            .mapToLong((member) -> node(member.nodeId()).regionLengthBytes()).min().orElseThrow()));
        int count = 0;
        try (Device device = fabric.openDevice("repair-" + ProcessHandle.current().pid());
            ProtectionDomain domain = device.allocateProtectionDomain();
            RocksMetaStore meta = RocksMetaStore.open(metaFolder))
        {
            final OfflineGrowthRepair splits = new OfflineGrowthRepair(this, lengths, domain, device.attributes());
            final List<TableDescriptor> present = new ArrayList<>();
            for (final TableDescriptor table : tables)
            {
                final OfflineGrowthRepair.Finished finished = splits.finish(table);
                final TableDescriptor grown = finished.growth().descriptor();
                final byte[] descriptor = grown.encode();
                final boolean isNew =
                    !finished.growth().replaced().isEmpty() && descriptor.length <= TableEntry.MAX_DESCRIPTOR_BYTES;
                if (isNew)
                {
                    meta.write(new MetaBatch().table(new StoredTable(table.name(), table.tableId(), descriptor)));
                }
                if (null != finished.failure())
                {
                    problems.add("table " + table.name() + ": " + finished.failure());
                }
                present.add(isNew ? grown : table);
                count += Math.max(finished.finishedCount(), finished.growth().replaced().size());
            }
            tables = present;
            return count;
        }
    }

    /** Frees chunks in which nothing is named: nobody lives who could think that he has them. */
    public int freeUnnamedChunks(final StoreCheck check)
    {
        int freed = 0;
        for (final SpaceReport space : check.spaces())
        {
            // Of a group, chunks are given back by all members together.
            freed += isOfGroup(space.memoryNodeId) ? 0 : node(space.memoryNodeId).freeChunks(space.unnamedChunks::get);
        }
        return freed;
    }

    @Override
    public List<TableDescriptor> tables()
    {
        return tables;
    }

    @Override
    public void close()
    {
        nodes.values().forEach(StoppedMemory::close);
        fabric.close();
        cluster.close();
    }
}
