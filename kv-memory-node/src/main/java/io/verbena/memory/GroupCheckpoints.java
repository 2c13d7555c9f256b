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
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Makes checkpoints of the tables that this memory node has as a member of groups, one database for each group: where
 * it is the head or the primary of the view, see {@link GroupCoverage}. Of other groups the database stays as it is: it
 * says of which view it is. On the checkpointer's thread.
 */
final class GroupCheckpoints
{
    private static final Logger LOGGER = LoggerFactory.getLogger(GroupCheckpoints.class);
    private static final long ANSWER_NS = TimeUnit.SECONDS.toNanos(5);
    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(1);
    /** A view that changes is over soon, or not for long. */
    private static final int MAX_ATTEMPTS = 3;

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

    /**
     * Makes those that can be made.
     *
     * @param identity    says whose they are.
     * @param loads       from the region.
     * @param isCancelled asked often: ends them early.
     * @param listener    hears how far each is.
     * @return records in those that were made.
     * @throws CheckpointException when one cannot be made; the one before stays good.
     */
    long make(
        final Properties identity, final RegionLoads loads, final BooleanSupplier isCancelled,
        final CheckpointWriter.Listener listener)
    {
        final Set<Integer> groups = groups();
        long records = 0;

        for (int attempt = 0; attempt < MAX_ATTEMPTS && !groups.isEmpty(); attempt++)
        {
            final Map<Integer, Long> changes = new HashMap<>();
            groups.forEach((group) -> changes.put(group, coverage.changes(group)));
            // Before it is asked for the views: what was acknowledged by now is in the memory of all their members.
            final long startedMs = wallClock.time();

            if (!await(coverage.ask(), isCancelled))
            {
                LOGGER.warn("checkpoint: the tables of groups {} are left out, since the meta server does not say " +
                    "which views they are in; their checkpoints stay as they were", groups);
                return records;
            }

            for (final int group : Set.copyOf(groups))
            {
                final View view = coverage.covered(group);
                final long made = null == view ? 0 : make(
                    view, state(identity, view, startedMs), changes.get(group), loads, isCancelled, listener);

                if (made >= 0)
                {
                    groups.remove(group);
                    records += made;
                }
            }
        }

        if (!groups.isEmpty())
        {
            LOGGER.warn("checkpoint: the tables of groups {} are left out, since their views changed meanwhile; " +
                "their checkpoints stay as they were", groups);
        }

        return records;
    }

    private Set<Integer> groups()
    {
        final Superblock superblock = SuperblockDescriptor.read(region);
        return new TreeSet<>(
            new ChunkHeaders(region, superblock.chunkHeadersOffset(), superblock.chunkCount()).groups());
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
        return state;
    }

    /** Records found; -1 when the group has changed meanwhile. */
    private long make(
        final View view, final Properties state, final long changes, final RegionLoads loads,
        final BooleanSupplier isCancelled, final CheckpointWriter.Listener listener)
    {
        final int group = view.group();

        try (Arena arena = Arena.ofConfined(); CheckpointStore store = folder.openCheckpoint(group))
        {
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
