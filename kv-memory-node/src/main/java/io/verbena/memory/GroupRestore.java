package io.verbena.memory;

import io.verbena.memory.checkpoint.CheckpointException;
import io.verbena.memory.checkpoint.CheckpointRestore;
import io.verbena.memory.checkpoint.CheckpointStore;
import io.verbena.memory.checkpoint.ChunkUse;
import io.verbena.memory.checkpoint.DamagedCheckpointException;
import io.verbena.memory.checkpoint.GroupRestoreException;
import io.verbena.protocol.view.RestoredGroup;
import io.verbena.protocol.view.View;
import org.agrona.CloseHelper;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;

/**
 * The part of a restoration that brings back tables of groups of memory nodes: of those that name this node as a
 * member, as far as it has a checkpoint of them. Their chunks get leases of the group, by which a member that comes in
 * later gets the same ones. What becomes of it the meta server decides. One use, one thread; closed by its opener.
 */
final class GroupRestore implements ChunkUse, AutoCloseable
{
    private static final Logger LOGGER = LoggerFactory.getLogger(GroupRestore.class);
    /** No lease of before outlives the memory, and no request the process: so counts begin anew. */
    private static final long FIRST_COUNT = 1;

    private final MemoryFolder folder;
    private final List<View> views;
    private final RestoredGroups restored;
    private final ChunkTable chunks;
    private final TreeMap<Integer, CheckpointStore> stores = new TreeMap<>();
    /** What each of them is, without records. */
    private final Map<Integer, RestoredGroup> found = new TreeMap<>();

    /**
     * @param folder   of the node.
     * @param views    of all groups.
     * @param restored hears what was restored.
     * @param chunks   all free.
     */
    GroupRestore(
        final MemoryFolder folder, final List<View> views, final RestoredGroups restored, final ChunkTable chunks)
    {
        this.folder = folder;
        this.views = views;
        this.restored = restored;
        this.chunks = chunks;
    }

    /**
     * Opens the checkpoints of groups; those that are damaged are left out.
     *
     * @throws CheckpointException when one cannot be read, though it may be whole: with it left out an older one of
     *                             another member would be taken.
     */
    void open()
    {
        views.stream().filter(this::isMember).map(View::group).filter(folder::hasCheckpoint).forEach(this::open);
    }

    /** Adds the checkpoints of groups to a restoration. @return it. */
    CheckpointRestore addTo(final CheckpointRestore restore)
    {
        stores.forEach(restore::addGroup);
        return restore;
    }

    /**
     * Leaves out a group whose checkpoint is damaged: it has other members, and does not keep this node and its own
     * tables from starting.
     *
     * @param failure of a restoration that may be repeated without that group.
     * @throws GroupRestoreException the failure, when there is a remedy for it: with the group left out an older
     *                               checkpoint of another member would be taken.
     */
    void exclude(final GroupRestoreException failure)
    {
        if (!failure.isDamaged())
        {
            throw failure;
        }

        exclude(failure.group(), failure);
    }

    private void exclude(final int group, final RuntimeException why)
    {
        LOGGER.error("the checkpoint of group {} is not restored, and that of another of its memory nodes is taken, " +
            "if there is one: {}; to use this one, restore {} from a copy, end this memory node, remove its memory " +
            "({}), and start it again, before the others have been started", group, why.getMessage(),
            folder.checkpoint(group), folder.memoryName(), why);
        CloseHelper.quietClose(stores.remove(group));
        found.remove(group);
    }

    private boolean isMember(final View view)
    {
        return view.members().stream().anyMatch((member) -> member.nodeId() == folder.nodeId());
    }

    private View view(final int group)
    {
        return views.stream().filter((view) -> view.group() == group).findFirst().orElse(null);
    }

    private void open(final int group)
    {
        try
        {
            final CheckpointStore store = folder.openCheckpoint(group);
            stores.put(group, store);
            final Properties state = store.state();

            if (!Long.toHexString(folder.memoryId()).equals(state.getProperty("memory_id")))
            {
                throw new DamagedCheckpointException("it is of another memory node, or none was ever complete", null);
            }

            found.put(group, new RestoredGroup(group, Long.parseLong(state.getProperty("view")),
                Long.parseLong(state.getProperty("started_ms")), 0,
                GroupCheckpoints.PRIMARY.equals(state.getProperty("place"))));
        }
        catch (final RuntimeException ex)
        {
            exclude(new GroupRestoreException(group, ex));
        }
    }

    /** Writes down what was restored, and that nothing was, before it can be found. */
    void keep(final Map<Integer, Long> records)
    {
        final List<RestoredGroup> kept = new ArrayList<>();
        views.stream().filter(this::isMember).map(View::group).map(RestoredGroup::nothing).forEach(kept::add);
        found.forEach((group, of) ->
        {
            final Long count = records.get(group);

            if (null == count)
            {
                LOGGER.warn("the checkpoint of group {} is left out: chunks of the group are had by other tables of " +
                    "this memory node, or are behind the end of its memory", group);
                return;
            }

            kept.add(new RestoredGroup(group, of.number(), of.startedMs(), count, of.isOfPrimary()));
            LOGGER.info("restored: {} records of group {} as of view {}; the meta server decides whether they are used",
                count, group, of.number());
        });
        restored.set(kept);
    }

    @Override
    public void index(final int chunk, final int group)
    {
        name(chunk, group);
        chunks.restoredIndex(chunk);
    }

    @Override
    public void blocks(final int chunk, final int group)
    {
        name(chunk, group);
        chunks.restoredBlocks(chunk);
    }

    private void name(final int chunk, final int group)
    {
        if (0 != group)
        {
            chunks.leaseNames().name(chunk, group, view(group).number(), FIRST_COUNT);
        }
    }

    @Override
    public void close()
    {
        CloseHelper.closeAll(stores.values());
    }
}
