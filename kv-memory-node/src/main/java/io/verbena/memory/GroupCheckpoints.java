package io.verbena.memory;

import io.verbena.memory.checkpoint.CheckpointException;
import io.verbena.memory.checkpoint.CheckpointStore;
import io.verbena.memory.checkpoint.CheckpointWriter;
import io.verbena.memory.checkpoint.RegionLoads;
import io.verbena.protocol.view.View;
import io.verbena.table.format.SizeClasses;
import io.verbena.table.format.Superblock;
import io.verbena.table.format.SuperblockDescriptor;
import org.agrona.concurrent.EpochClock;
import org.agrona.concurrent.NanoClock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Makes checkpoints of the tables that this memory node has as a member of groups, one database for each group: where
 * it is the head or the primary of the view, see {@link GroupCoverage}, also where the group has no tables any more. Of
 * other groups the database stays as it is: it says of which view it is. It is removed when the group has gone on
 * without this node. On the checkpointer's thread.
 */
final class GroupCheckpoints
{
    private static final Logger LOGGER = LoggerFactory.getLogger(GroupCheckpoints.class);
    private static final long ANSWER_NS = TimeUnit.SECONDS.toNanos(5);
    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(1);
    /** A view that changes is over soon, or not for long. */
    private static final int MAX_ATTEMPTS = 3;
    /** Of this memory node in the view of a checkpoint, whose only member is the primary. */
    static final String PRIMARY = "primary";
    private static final String HEAD = "head";

    /** What came of making checkpoints of several groups. One thread. */
    static final class Outcome
    {
        private final Set<Integer> made = new TreeSet<>();
        private final Set<Integer> leftOut = new TreeSet<>();
        /** Those of which one may be made a moment later. */
        private final Set<Integer> open = new TreeSet<>();
        private long records;
        private RuntimeException failure;

        /** @return records in those that were made. */
        long records()
        {
            return records;
        }

        /** @return groups of which one was made. */
        Set<Integer> made()
        {
            return made;
        }

        /** @return groups of which nobody else makes one, and none could be made here. */
        Set<Integer> leftOut()
        {
            return leftOut;
        }

        /** @return why one could not be made, with the others that could not; null: there is no such. */
        RuntimeException failure()
        {
            return failure;
        }

        private void leaveOpen(final Set<Integer> groups)
        {
            leftOut.addAll(groups);
            open.addAll(groups);
        }

        private void failed(final int group, final RuntimeException ex)
        {
            leaveOpen(Set.of(group));
            fail(new CheckpointException("no checkpoint of group " + group + ": " + ex.getMessage(), ex));
        }

        private void fail(final RuntimeException ex)
        {
            if (null == failure)
            {
                failure = ex;
            }
            else
            {
                failure.addSuppressed(ex);
            }
        }
    }

    private final MemoryFolder folder;
    private final MemorySegment region;
    private final GroupCoverage coverage;
    private final NanoClock clock;
    private final EpochClock wallClock;
    private Runnable pause = GroupCheckpoints::park;

    GroupCheckpoints(
        final MemoryFolder folder,
        final MemorySegment region,
        final GroupCoverage coverage,
        final NanoClock clock,
        final EpochClock wallClock)
    {
        this.folder = folder;
        this.region = region;
        this.coverage = coverage;
        this.clock = clock;
        this.wallClock = wallClock;
    }

    /** Sets what is done, again and again, while the node's thread asks the meta server. */
    void pause(final Runnable meanwhile)
    {
        pause = meanwhile;
    }

    private static void park()
    {
        LockSupport.parkNanos(PAUSE_NS);
    }

    /** @return groups that have chunks in a region; a new set, ascending. */
    static Set<Integer> groupsIn(final MemorySegment region)
    {
        final Superblock superblock = SuperblockDescriptor.read(region);
        return new TreeSet<>(
            new ChunkHeaders(region, superblock.chunkHeadersOffset(), superblock.chunkCount()).groups());
    }

    /**
     * Makes those that can be made, each for itself: one that fails does not keep others from being made.
     *
     * @param identity    says whose they are.
     * @param loads       from the region.
     * @param isCancelled asked often: ends them early.
     * @param listener    hears how far each is.
     * @return what came of it; of a group that failed the one before stays good.
     */
    Outcome make(
        final Properties identity, final RegionLoads loads, final BooleanSupplier isCancelled,
        final CheckpointWriter.Listener listener)
    {
        // Also of those without tables now: they may have some when all their memory is lost.
        final Outcome outcome = new Outcome();
        final Set<Integer> known = known(outcome);
        final Set<Integer> groups = groupsIn(region);
        groups.addAll(known);
        make(groups, identity, loads, isCancelled, listener, outcome);
        known.forEach((group) -> removeUnused(group, outcome));
        return outcome;
    }

    private Set<Integer> known(final Outcome outcome)
    {
        try
        {
            return folder.groupCheckpoints();
        }
        catch (final MemoryNodeException ex)
        {
            outcome.fail(ex);
            return Set.of();
        }
    }

    /** @return whether this node has become head or primary of a group, and has to make a checkpoint at once. */
    boolean isWanted()
    {
        return !coverage.wanted().isEmpty();
    }

    /** As {@link #make}, of groups of which this node has become head or primary, and has none of that view yet. */
    Outcome makeWanted(
        final Properties identity, final RegionLoads loads, final BooleanSupplier isCancelled,
        final CheckpointWriter.Listener listener)
    {
        final Map<Integer, Long> wanted = coverage.wanted();
        final Set<Integer> groups = new TreeSet<>(wanted.keySet());
        groups.removeIf((group) -> viewOf(group) >= wanted.get(group));
        final Outcome outcome = new Outcome();
        make(groups, identity, loads, isCancelled, listener, outcome);

        // What the meta server did not answer, what changed meanwhile and what failed is tried again.
        wanted.forEach((group, number) ->
        {
            if (!outcome.open.contains(group))
            {
                coverage.settled(group, number);
            }
        });
        return outcome;
    }

    /** View in which the complete checkpoint of a group was made; 0: there is none; -1: it cannot be read. */
    private long viewOf(final int group)
    {
        if (!folder.hasCheckpoint(group))
        {
            return 0;
        }

        try (CheckpointStore store = folder.openCheckpoint(group))
        {
            final Properties state = store.state();
            return Long.toHexString(folder.memoryId()).equals(state.getProperty("memory_id")) ?
                Long.parseLong(state.getProperty("view", "0")) : 0;
        }
        catch (final CheckpointException | NumberFormatException ex)
        {
            return -1;
        }
    }

    /** One of a later view than the last answer knows is kept, since that is late; so is one that cannot be read. */
    private void removeUnused(final int group, final Outcome outcome)
    {
        final long without = coverage.without(group);

        if (0 == without)
        {
            return;
        }

        final long made = viewOf(group);

        if (made < 0)
        {
            LOGGER.warn("the checkpoint of group {} in {} cannot be read, and the group has gone on without this " +
                "memory node: remove it", group, folder.checkpoint(group));
        }
        else if (made <= without)
        {
            LOGGER.info("the checkpoint of group {} is removed: in view {} this memory node is no member", group,
                without);

            try
            {
                folder.removeCheckpoint(group);
            }
            catch (final MemoryNodeException ex)
            {
                outcome.fail(ex);
            }
        }
    }

    private void make(
        final Set<Integer> groups, final Properties identity, final RegionLoads loads,
        final BooleanSupplier isCancelled, final CheckpointWriter.Listener listener, final Outcome outcome)
    {
        final Set<Integer> open = new TreeSet<>(groups);

        for (int attempt = 0; attempt < MAX_ATTEMPTS && !open.isEmpty(); attempt++)
        {
            final Map<Integer, Long> changes = new HashMap<>();
            open.forEach((group) -> changes.put(group, coverage.changes(group)));
            // Before it is asked for the views: what was acknowledged by now is in the memory of all their members.
            final long startedMs = wallClock.time();

            if (!await(coverage.ask(), isCancelled))
            {
                LOGGER.warn("checkpoint: the tables of groups {} are left out, since the meta server does not say " +
                    "which views they are in; their checkpoints stay as they were", open);
                outcome.leaveOpen(open);
                return;
            }

            open.removeIf((group) -> isOver(
                group, identity, startedMs, changes.get(group), loads, isCancelled, listener, outcome));
        }

        if (!open.isEmpty())
        {
            LOGGER.warn("checkpoint: the tables of groups {} are left out, since their views changed meanwhile; " +
                "their checkpoints stay as they were", open);
            outcome.leaveOpen(open);
        }
    }

    /** Whether one was made, or cannot be made; else the group has changed meanwhile. */
    private boolean isOver(
        final int group, final Properties identity, final long startedMs, final long changes, final RegionLoads loads,
        final BooleanSupplier isCancelled, final CheckpointWriter.Listener listener, final Outcome outcome)
    {
        final View view = coverage.covered(group);

        if (null == view)
        {
            if (coverage.isMissed(group))
            {
                LOGGER.warn("checkpoint: the tables of group {} are left out, since its copies are being made equal, " +
                    "or all its members are lost; its checkpoint stays as it was", group);
                outcome.leftOut.add(group);
            }

            return true;
        }

        try
        {
            final long made = make(view, state(identity, view, startedMs), changes, loads, isCancelled, listener);

            if (made >= 0)
            {
                outcome.records += made;
                outcome.made.add(group);
                coverage.settled(group, view.number());
            }

            return made >= 0;
        }
        catch (final RuntimeException ex)
        {
            outcome.failed(group, ex);
            return true;
        }
    }

    private boolean await(final long asked, final BooleanSupplier isCancelled)
    {
        final long deadlineNs = clock.nanoTime() + ANSWER_NS;

        while (!coverage.isAnswered(asked) && !isCancelled.getAsBoolean() && deadlineNs - clock.nanoTime() > 0)
        {
            pause.run();
        }

        return coverage.isAnswered(asked);
    }

    private Properties state(final Properties identity, final View view, final long startedMs)
    {
        final Properties state = new Properties();
        state.putAll(identity);
        state.setProperty("started_ms", Long.toString(startedMs));
        state.setProperty("group", Integer.toString(view.group()));
        state.setProperty("view", Long.toString(view.number()));
        state.setProperty("place", coverage.isPrimary(view) ? PRIMARY : HEAD);
        return state;
    }

    /**
     * Before pages are replaced by those of a head, which may have words of operations that will be refused: the
     * database is that of a head from now on, also when this one is cut short and the view of it stays the one before.
     */
    private static void restate(final CheckpointStore store, final Properties state)
    {
        final Properties before = store.state();

        if (PRIMARY.equals(before.getProperty("place")) && HEAD.equals(state.getProperty("place")))
        {
            before.setProperty("place", HEAD);
            store.restate(before);
        }
    }

    /** Records found; -1 when the group has changed meanwhile. */
    private long make(
        final View view, final Properties state, final long changes, final RegionLoads loads,
        final BooleanSupplier isCancelled, final CheckpointWriter.Listener listener)
    {
        final int group = view.group();

        try (Arena arena = Arena.ofConfined(); CheckpointStore store = folder.openCheckpoint(group))
        {
            restate(store, state);
            new CheckpointWriter(region, loads, store, arena.allocate(SizeClasses.MAX_BLOCK_BYTES, 64), isCancelled)
                .ofGroup(group, () -> coverage.changes(group) == changes).listener(listener).run(state);
            LOGGER.info("checkpoint: {} records of group {} in view {}, {} changed", state.getProperty("records"),
                group, view.number(), state.getProperty("changed_records"));
            return Long.parseLong(state.getProperty("records"));
        }
        catch (final CheckpointException ex)
        {
            if (coverage.changes(group) == changes)
            {
                throw ex;
            }

            return -1;
        }
    }
}
