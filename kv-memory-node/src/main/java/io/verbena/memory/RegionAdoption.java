package io.verbena.memory;

import io.verbena.memory.checkpoint.CheckpointException;
import io.verbena.memory.checkpoint.CheckpointRestore;
import io.verbena.memory.checkpoint.CheckpointStore;
import io.verbena.memory.checkpoint.GroupRestoreException;
import io.verbena.table.directory.Subtable;
import io.verbena.table.format.FormatException;
import io.verbena.table.format.Superblock;
import io.verbena.table.format.SuperblockDescriptor;
import io.verbena.table.format.TableDescriptor;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Properties;

/** Decides whether a region is new, or that of an earlier process of its node. Stateless. */
final class RegionAdoption
{
    private RegionAdoption()
    {
    }

    /** What a region is to a node. */
    enum Kind
    {
        /** Empty: the node has never been a member. */
        NEW,
        /** That of the process before. */
        FOUND,
        /** Empty, or of a time before the node went on elsewhere; a checkpoint has what it should hold. */
        TO_RESTORE
    }

    /**
     * Looks at the superblock.
     *
     * @param region   from its first byte; used by nobody.
     * @param folder   says who the node is; null: the region is new.
     * @param expected what the superblock must say, but for id and incarnation.
     * @return what is to be done with it.
     * @throws FormatException when it is damaged, or another node's.
     */
    static Kind look(final MemorySegment region, final MemoryFolder folder, final Superblock expected)
    {
        if (null == folder || 0 == folder.nodeId())
        {
            // Nobody is let in before the folder has the id, so whatever is there means nothing.
            return Kind.NEW;
        }

        final Superblock found = SuperblockDescriptor.recover(region);

        if (null == found || isOutdated(found, folder))
        {
            return Kind.TO_RESTORE;
        }

        final Superblock wanted = new Superblock(
            folder.nodeId(),
            found.incarnation(),
            expected.regionLengthBytes(),
            expected.chunksOffset(),
            expected.chunkLengthBytes(),
            expected.chunkCount(),
            expected.chunkHeadersOffset());

        if (!found.equals(wanted))
        {
            throw new FormatException("it is not the memory of this node: found " + found + ", wanted " + wanted);
        }

        return Kind.FOUND;
    }

    /**
     * Whether the node went on elsewhere since: its folder was carried to another host or fabric, and has come back.
     * What its last process left is in the checkpoint; this memory is older, whoever finds it.
     */
    static boolean isOutdated(final Superblock found, final MemoryFolder folder)
    {
        return found.incarnation() < folder.incarnation();
    }

    /**
     * Says who the node is now: in the region, and then in its folder, because a node with an id and no superblock has
     * lost its records. Before anybody is let in.
     *
     * @param region     from its first byte.
     * @param superblock of the registered node.
     * @param folder     of the node, or null.
     * @param clusterId  that it is a member of.
     * @param isComplete whether everything is there that was written under earlier incarnations: not in new memory, nor
     *                   behind a checkpoint, nor where damage was accepted.
     */
    static void announce(
        final MemorySegment region, final Superblock superblock, final MemoryFolder folder, final long clusterId,
        final boolean isComplete)
    {
        if (!isComplete)
        {
            SuperblockDescriptor.writeComplete(region, superblock.incarnation());
        }

        if (SuperblockDescriptor.RESTORED_NOW == SuperblockDescriptor.restored(region))
        {
            SuperblockDescriptor.writeRestored(region, superblock.incarnation());
        }

        SuperblockDescriptor.writeBoth(region, superblock);

        if (null != folder)
        {
            folder.joined(superblock.nodeId(), clusterId, superblock.incarnation());
        }
    }

    /**
     * Restores the last checkpoint.
     *
     * @param region     from its first byte; chunks are zeroed.
     * @param superblock what it says in the end.
     * @param folder     of the node.
     * @param groups     adds tables of groups, and hears of chunks; closed here.
     * @param tables     of the cluster.
     * @param listener   hears how far it is.
     * @return records restored.
     */
    static long restore(
        final MemorySegment region,
        final Superblock superblock,
        final MemoryFolder folder,
        final GroupRestore groups,
        final List<TableDescriptor> tables,
        final CheckpointRestore.Listener listener)
    {
        SuperblockDescriptor.writeRestored(region, SuperblockDescriptor.RESTORED_NOW);
        final long records = restoreRecords(region, superblock, folder, groups, tables, listener);
        folder.keepLength();
        // Last: whoever finds it finds everything.
        SuperblockDescriptor.writeBoth(region, superblock);
        return records;
    }

    private static long restoreRecords(
        final MemorySegment region,
        final Superblock superblock,
        final MemoryFolder folder,
        final GroupRestore groups,
        final List<TableDescriptor> tables,
        final CheckpointRestore.Listener listener)
    {
        try (CheckpointStore store = folder.openCheckpoint(); groups)
        {
            requireOwn(store.state(), folder, tables);
            groups.open();

            while (true)
            {
                try
                {
                    clearChunks(region, superblock);
                    final CheckpointRestore restore =
                        groups.addTo(new CheckpointRestore(region, superblock, store, groups, listener));
                    final long records = restore.run(tables);
                    groups.keep(restore.groupRecords());
                    return records;
                }
                catch (final GroupRestoreException ex)
                {
                    groups.exclude(ex);
                }
            }
        }
    }

    /** Where all tables of the node have copies checkpoints of groups will do, also those of other members. */
    private static void requireOwn(
        final Properties state, final MemoryFolder folder, final List<TableDescriptor> tables)
    {
        if (!state.isEmpty() && !Long.toHexString(folder.memoryId()).equals(state.getProperty("memory_id")))
        {
            throw new CheckpointException("checkpoint in " + folder.checkpoint() + " is of another node", null);
        }

        final List<String> alone = tables.stream().filter((table) -> Subtable.of(table).stream()
            .anyMatch((subtable) -> subtable.memoryNodeId() == folder.nodeId())).map(TableDescriptor::name).toList();

        if (state.isEmpty() && !alone.isEmpty())
        {
            throw new CheckpointException("memory of node " + folder.nodeId() + " is gone, and with it records of " +
                "tables that it keeps alone, because there is no checkpoint of them: it was in shared memory of this " +
                "host, which was restarted, or somebody removed it. Drop these tables, and start it again, or begin " +
                "with an empty data folder instead of " + folder.path() + ": " + String.join(", ", alone), null);
        }
    }

    private static void clearChunks(final MemorySegment region, final Superblock superblock)
    {
        region.asSlice(superblock.chunksOffset(), (long)superblock.chunkCount() * superblock.chunkLengthBytes())
            .fill((byte)0);
    }
}
