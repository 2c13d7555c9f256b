package io.verbena.memory;

import io.verbena.memory.checkpoint.CheckpointException;
import io.verbena.memory.checkpoint.CheckpointStore;
import io.verbena.memory.checkpoint.CheckpointWriter;
import io.verbena.memory.checkpoint.MappedLoads;
import io.verbena.memory.checkpoint.RegionLoads;
import io.verbena.table.format.SizeClasses;
import org.agrona.concurrent.EpochClock;
import org.agrona.concurrent.NanoClock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Makes the checkpoints of a memory node, on a thread of its own: every so often, when the folder has a request, and at
 * the end; and one of a group's tables alone when this node has become its head or primary. Closed before the region is
 * unmapped. Thread-safe.
 */
public final class Checkpointer implements AutoCloseable
{
    private static final Logger LOGGER = LoggerFactory.getLogger(Checkpointer.class);
    private static final long LOOK_NS = TimeUnit.MILLISECONDS.toNanos(250);
    private static final long END_NS = TimeUnit.SECONDS.toNanos(60);
    /** Between attempts to make one of a group at once, after one that failed: as of a disk that is full. */
    private static final long RETRY_NS = TimeUnit.SECONDS.toNanos(10);

    private final MemoryFolder folder;
    private final MemorySegment region;
    private final long periodNs;
    private final NanoClock clock;
    private final EpochClock wallClock;
    private GroupCheckpoints groups;
    private final Thread thread = new Thread(this::run, "verbena-checkpointer");
    private long nextNs;
    private long nextOfGroupNs;
    private boolean hasOwn;
    private volatile boolean isCancelled;
    private volatile boolean isLastWanted;
    private volatile boolean isLastDone;
    private volatile String failure = "";
    private volatile long failedMs;
    private volatile long finishedMs;
    private volatile long durationMs;
    private volatile long records;
    private volatile Set<Integer> groupsLeftOut = Set.of();
    private volatile Progress progress = Progress.NONE;

    /**
     * How far the checkpoint is that is being made.
     *
     * @param startedMs when it began, ms since 1970; 0: none is being made.
     * @param subtables that were looked at.
     * @param all       subtables that there were when it began.
     * @param records   found so far.
     */
    public record Progress(long startedMs, int subtables, int all, long records)
    {
        static final Progress NONE = new Progress(0, 0, 0, 0);

        /** @return the part that is done, 0 to 1; 0 while nothing is known. */
        public double fraction()
        {
            return 0 == all ? 0 : Math.min(1, (double)subtables / all);
        }
    }

    Checkpointer(
        final MemoryFolder folder,
        final MemorySegment region,
        final long periodNs,
        final NanoClock clock,
        final EpochClock wallClock)
    {
        this.folder = folder;
        this.region = region;
        this.periodNs = periodNs;
        this.clock = clock;
        this.wallClock = wallClock;
        nextNs = clock.nanoTime() + periodNs;
        nextOfGroupNs = clock.nanoTime();
    }

    /** Makes checkpoints of the tables of groups, too; before it is started. @return this. */
    Checkpointer coverGroups(final GroupCheckpoints ofGroups)
    {
        groups = ofGroups;
        return this;
    }

    /** Sets what is done while the node's thread asks the meta server; where one thread does everything. */
    void pause(final Runnable meanwhile)
    {
        groups.pause(meanwhile);
    }

    void start()
    {
        thread.start();
    }

    /** Asks for one more checkpoint, after which there is none; returns at once. */
    public void makeLast()
    {
        isLastWanted = true;
        LockSupport.unpark(thread);
    }

    /** @return whether the last one is done, or has failed. */
    public boolean isLastDone()
    {
        return isLastDone || !thread.isAlive();
    }

    /** @return why the latest checkpoint could not be made; empty when it was. */
    public String failure()
    {
        return failure;
    }

    /** @return when the latest one that could not be made was given up, ms since 1970; 0 for none. */
    public long failedMs()
    {
        return failedMs;
    }

    /** @return when the latest complete one of this process ended, ms since 1970; 0 for none. */
    public long finishedMs()
    {
        return finishedMs;
    }

    /** @return how long the latest complete one of this process took, in ms. */
    public long durationMs()
    {
        return durationMs;
    }

    /** @return records in the latest complete one of this process. */
    public long records()
    {
        return records;
    }

    /**
     * @return numbers of the groups whose tables are not in the latest complete one of this process, nor in one of the
     *     group since, though no other memory node makes one in its place; ascending, with commas and spaces between
     *     them, empty for none.
     */
    public String groupsLeftOut()
    {
        return text(groupsLeftOut);
    }

    private static String text(final Set<Integer> groups)
    {
        return groups.stream().map(String::valueOf).collect(Collectors.joining(", "));
    }

    /** @return how far the checkpoint is that is being made now. */
    public Progress progress()
    {
        return progress;
    }

    private void run()
    {
        while (!isCancelled && !isLastDone)
        {
            if (!poll())
            {
                LockSupport.parkNanos(this, LOOK_NS);
            }
        }
    }

    /** Makes one when it is time, or somebody asks for it; on the thread of this alone. Whether it did. */
    boolean poll()
    {
        final boolean isLast = isLastWanted;
        final boolean isDue = periodNs > 0 && nextNs - clock.nanoTime() <= 0;
        if (!isRequested() && !isLast && !isDue)
        {
            return null != groups && groups.isWanted() && nextOfGroupNs - clock.nanoTime() <= 0 &&
                makeWanted(MappedLoads::new);
        }
        make();
        nextNs = clock.nanoTime() + periodNs;
        isLastDone = isLast;
        return true;
    }

    private boolean isRequested()
    {
        try
        {
            return folder.takeCheckpointRequest();
        }
        catch (final MemoryNodeException ex)
        {
            failure = ex.getMessage();
            return false;
        }
    }

    /** Makes one on the caller's thread; {@link #failure} says whether it was made. */
    void make()
    {
        make(MappedLoads::new);
    }

    void make(final Function<MemorySegment, RegionLoads> loads)
    {
        final Properties state = identity();
        final long startedMs = wallClock.time();
        state.setProperty("started_ms", Long.toString(startedMs));
        progress = new Progress(startedMs, 0, 0, 0);
        try
        {
            final RegionLoads used = loads.apply(region);
            final RuntimeException ownFailure = tryToWrite(state, used);
            // Whatever became of the node's own: neither is to keep the other from being made.
            final GroupCheckpoints.Outcome ofGroups =
                null == groups ? null : groups.make(identity(), used, () -> isCancelled, this::onProgress);

            if (null != ownFailure)
            {
                throw ownFailure;
            }

            report(state, ofGroups);

            if (null != ofGroups && null != ofGroups.failure())
            {
                throw ofGroups.failure();
            }
        }
        catch (final CheckpointException | MemoryNodeException ex)
        {
            onFailure(ex.getMessage(), null);
        }
        catch (final RuntimeException | Error ex)
        {
            // The thread goes on: a node that makes no more checkpoints, and does not say so, is worse.
            onFailure("no checkpoint: " + ex, ex);
        }
        finally
        {
            progress = Progress.NONE;
        }
    }

    /** Why it could not be written; null: it is. */
    private RuntimeException tryToWrite(final Properties state, final RegionLoads loads)
    {
        try
        {
            write(state, loads);
            return null;
        }
        catch (final RuntimeException ex)
        {
            return ex;
        }
    }

    /** Why there is none that was ever complete; null: there is. */
    private RuntimeException tryToWriteFirst(final RegionLoads loads)
    {
        try
        {
            hasOwn = folder.hasCheckpoint();
        }
        catch (final CheckpointException ex)
        {
            return ex;
        }

        return hasOwn ? null : tryToWrite(identity(), loads);
    }

    private void report(final Properties state, final GroupCheckpoints.Outcome ofGroups)
    {
        final long groupRecords = null == ofGroups ? 0 : ofGroups.records();
        // Without a meta server to ask, none is made of any.
        final Set<Integer> leftOut = null == ofGroups ? GroupCheckpoints.groupsIn(region) : ofGroups.leftOut();
        state.setProperty("records", Long.toString(Long.parseLong(state.getProperty("records")) + groupRecords));
        state.setProperty("group_records", Long.toString(groupRecords));
        state.setProperty("groups_left_out", text(leftOut));
        state.setProperty("finished_ms", Long.toString(wallClock.time()));

        if (null != ofGroups && null != ofGroups.failure())
        {
            // With it: who waits for the checkpoint reads of both, or of neither.
            state.setProperty("failed_ms", state.getProperty("finished_ms"));
            state.setProperty("failure", ofGroups.failure().getMessage());
        }

        folder.reportCheckpoint(state);
        failure = "";
        groupsLeftOut = leftOut;
        records = Long.parseLong(state.getProperty("records"));
        final long endedMs = Long.parseLong(state.getProperty("finished_ms"));
        durationMs = endedMs - Long.parseLong(state.getProperty("started_ms"));
        finishedMs = endedMs;
        LOGGER.info("checkpoint: {} records, {} changed, {} bytes, {} ms", records,
            state.getProperty("changed_records"), state.getProperty("written_bytes"),
            durationMs);
        warnOfDamage(state.getProperty("damaged_records"));
    }

    /**
     * Makes one of each group of which this node has become head or primary. The first time with one of its own tables:
     * a node without that does not start when its memory is gone.
     *
     * @return whether one was made.
     */
    boolean makeWanted(final Function<MemorySegment, RegionLoads> loads)
    {
        progress = new Progress(wallClock.time(), 0, 0, 0);

        try
        {
            final RegionLoads used = loads.apply(region);
            final RuntimeException ownFailure = hasOwn ? null : tryToWriteFirst(used);
            final GroupCheckpoints.Outcome made =
                groups.makeWanted(identity(), used, () -> isCancelled, this::onProgress);
            final Set<Integer> stillLeftOut = new TreeSet<>(groupsLeftOut);
            stillLeftOut.removeAll(made.made());
            groupsLeftOut = stillLeftOut;

            if (null != made.failure())
            {
                throw made.failure();
            }

            if (null != ownFailure)
            {
                throw ownFailure;
            }

            return !made.made().isEmpty();
        }
        catch (final CheckpointException | MemoryNodeException ex)
        {
            nextOfGroupNs = clock.nanoTime() + RETRY_NS;
            onFailure(ex.getMessage(), null);
            return false;
        }
        catch (final RuntimeException | Error ex)
        {
            nextOfGroupNs = clock.nanoTime() + RETRY_NS;
            onFailure("no checkpoint: " + ex, ex);
            return false;
        }
        finally
        {
            progress = Progress.NONE;
        }
    }

    private static void warnOfDamage(final String damaged)
    {
        if (!"0".equals(damaged))
        {
            LOGGER.warn("checkpoint: {} slots name no whole record, and were left out or kept as they were before: " +
                "what a dropped table left behind, or damage", damaged);
        }
    }

    private void onFailure(final String message, final Throwable cause)
    {
        failure = message;
        failedMs = wallClock.time();
        LOGGER.error("{}", message, cause);
        reportFailure();
    }

    /** The database is open only meanwhile: between checkpoints it takes neither memory nor descriptors. */
    private void write(final Properties state, final RegionLoads loads)
    {
        try (Arena arena = Arena.ofConfined(); CheckpointStore store = folder.openCheckpoint())
        {
            new CheckpointWriter(
                region, loads, store, arena.allocate(SizeClasses.MAX_BLOCK_BYTES, 64), () -> isCancelled)
                .listener(this::onProgress).run(state);
        }
    }

    private Properties identity()
    {
        final Properties identity = new Properties();
        identity.setProperty("memory_id", Long.toHexString(folder.memoryId()));
        identity.setProperty("node_id", Integer.toString(folder.nodeId()));
        identity.setProperty("cluster_id", Long.toHexString(folder.clusterId()));
        return identity;
    }

    private void onProgress(final int subtables, final int all, final long found)
    {
        progress = new Progress(progress.startedMs, subtables, all, found);
    }

    private void reportFailure()
    {
        try
        {
            final Properties report = folder.lastCheckpoint();
            report.setProperty("failed_ms", Long.toString(wallClock.time()));
            report.setProperty("failure", failure);
            folder.reportCheckpoint(report);
        }
        catch (final MemoryNodeException ex)
        {
            LOGGER.error("{}", ex.getMessage());
        }
    }

    /** Ends the thread, and a checkpoint that it is making, which counts as not made. */
    @Override
    public void close()
    {
        isCancelled = true;
        LockSupport.unpark(thread);
        final long deadlineNs = clock.nanoTime() + END_NS;
        while (thread.isAlive())
        {
            if (deadlineNs - clock.nanoTime() <= 0)
            {
                throw new MemoryNodeException("the checkpointer does not end: its disk does not answer", null);
            }
            LockSupport.parkNanos(this, TimeUnit.MILLISECONDS.toNanos(1));
        }
    }
}
