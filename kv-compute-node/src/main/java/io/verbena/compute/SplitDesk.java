package io.verbena.compute;

import io.verbena.control.ChunkLease;
import io.verbena.control.ChunkPurpose;
import io.verbena.control.ChunkRun;
import io.verbena.control.ControlCall;
import io.verbena.control.ControlStatus;
import io.verbena.control.TableEntry;
import io.verbena.table.OpenTable;
import io.verbena.table.SplitSource;
import io.verbena.table.Subtable;
import io.verbena.table.TableGrowth;
import io.verbena.table.TableSplit;
import io.verbena.table.format.FormatException;
import io.verbena.table.format.TableDescriptor;

import org.agrona.collections.Int2ObjectHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntToLongFunction;

/**
 * Splits subtables that fill up, one at a time: leases memory for two, lets the engine split, publishes the descriptor
 * that names them, and gives the old one's memory back when nobody can look there any more. Also ends splits that
 * others began, if nobody has after a while: whoever met one looks. Owned by the node's thread.
 */
final class SplitDesk implements SplitSource
{
    /** A split makes two subtables. */
    private static final int CHUNKS = 2;
    private static final Logger LOGGER = LoggerFactory.getLogger(SplitDesk.class);
    /** How long a split that was met is left to who began it: 250 ms. */
    private static final long FINISH_AFTER_NS = 250_000_000;
    /** How long nothing is split at a memory node that had no memory for it: 500 ms. */
    private static final long NO_MEMORY_PAUSE_NS = 500_000_000;
    private static final long RETRY_PAUSE_NS = 5_000_000;
    private static final long SPLIT_TIMEOUT_NS = 10_000_000_000L;

    private enum Step
    {
        IDLE, LEASING, SPLITTING, ASKING, PUBLISHING
    }

    /** Gives subtables back that no descriptor names, when nobody can look there any more. */
    @FunctionalInterface
    interface Retirement
    {
        /**
         * @param tableName   for messages.
         * @param subtables   of one memory node.
         * @param newestLease of a node, older than any by which somebody else can have their memory; 0 for unknown.
         */
        void retire(String tableName, List<Subtable> subtables, IntToLongFunction newestLease);
    }

    /** Begins not before the instant; a split that was met is only finished. */
    private record Wanted(OpenTable table, Subtable subtable, boolean isMet, long notBeforeNs)
    {
    }

    /** Subtables that a publication replaces whose answer was lost, and a lease from before it. */
    private record Doubt(List<Subtable> replaced, long newestLease)
    {
    }

    private final Int2ObjectHashMap<MemoryLink> links;
    private final IndexReturns returns;
    private final Retirement retirement;
    private final ArrayDeque<Wanted> queue = new ArrayDeque<>();
    /** Looked at whether their split has begun, and then finished. */
    private final ArrayDeque<Wanted> unfinished = new ArrayDeque<>();
    private final Int2ObjectHashMap<Long> refusedUntilNs = new Int2ObjectHashMap<>();
    private SessionParts session;
    private TableRegistry tables;
    private boolean beginsSplits;
    private Step step = Step.IDLE;
    private Wanted current;
    private long nowNs;
    private long pauseUntilNs;
    private long requestNumber;
    private ControlCall<ChunkLease> leasing;
    private ChunkLease lease;
    private long newestLease;
    private final List<Doubt> doubts = new ArrayList<>();
    private TableSplit split;
    private ControlCall<TableEntry> asking;
    private ControlCall<Void> publishing;
    private TableGrowth growth;
    private long splitCount;
    private SplitFinish finishing;
    private boolean isFinishing;
    private int finishedCount;

    SplitDesk(
        final Int2ObjectHashMap<MemoryLink> links, final IndexReturns returns,
        final Retirement retirement)
    {
        this.links = links;
        this.returns = returns;
        this.retirement = retirement;
    }

    /** @param isBeginning whether it begins splits; those that have begun it finishes and publishes always. */
    void open(final SessionParts parts, final TableRegistry registry, final boolean isBeginning)
    {
        session = parts;
        tables = registry;
        beginsSplits = isBeginning;
    }

    @Override
    public boolean requestSplit(final OpenTable table, final Subtable subtable)
    {
        final Long refusedUntil = refusedUntilNs.get(subtable.memoryNodeId());
        if (!beginsSplits || !table.mayBeSplit(subtable, TableEntry.MAX_DESCRIPTOR_BYTES) ||
            null != refusedUntil && refusedUntil - nowNs > 0)
        {
            return false;
        }
        want(new Wanted(table, subtable, false, nowNs));
        return true;
    }

    @Override
    public void onSplitMet(final OpenTable table, final Subtable subtable)
    {
        if (null == current || !current.subtable.equals(subtable) || current.table != table)
        {
            want(new Wanted(table, subtable, true, nowNs + FINISH_AFTER_NS));
        }
    }

    /** Ends all splits of all tables that have begun, also of those that are not open. */
    void finishAll()
    {
        finishing = new SplitFinish(session, tables, this);
    }

    /** @return whether that is under way. */
    boolean isFinishingAll()
    {
        return null != finishing && !finishing.isDone();
    }

    /** @return why a table could not be looked at last, one line for people; empty when none failed. */
    String finishFailure()
    {
        return null == finishing ? "" : finishing.failure();
    }

    /** Ends every split of a table that has begun, also where nothing meets it, and publishes what was made. */
    void finish(final OpenTable table)
    {
        table.subtables().forEach((subtable) -> unfinished.add(new Wanted(table, subtable, true, nowNs)));
    }

    /** @return splits that {@link #finish} found to have begun, or not to be published. */
    int finishedCount()
    {
        return finishedCount;
    }

    private void want(final Wanted wanted)
    {
        if (!isSame(current, wanted) && queue.stream().noneMatch((other) -> isSame(other, wanted)))
        {
            queue.add(wanted);
        }
    }

    private static boolean isSame(final Wanted one, final Wanted other)
    {
        return null != one && one.table == other.table && one.subtable.equals(other.subtable) &&
            one.isMet == other.isMet;
    }

    /** @return splits that this node has brought to their ends. */
    long splitCount()
    {
        return splitCount;
    }

    /** @return whether something is under way. */
    boolean isBusy()
    {
        return Step.IDLE != step || !unfinished.isEmpty();
    }

    /** @return when something is to begin, or {@link Long#MAX_VALUE}. */
    long nextAtNs()
    {
        long next = Long.MAX_VALUE;
        for (final Wanted wanted : queue)
        {
            next = Math.min(next, wanted.notBeforeNs);
        }
        return next;
    }

    int poll(final long atNs)
    {
        nowNs = atNs;
        if (null != finishing)
        {
            finishing.poll(nowNs);
        }
        if (pauseUntilNs - nowNs > 0 || Step.IDLE == step && queue.isEmpty() && unfinished.isEmpty())
        {
            return 0;
        }
        return switch (step)
        {
            case IDLE -> pollIdle();
            case LEASING -> pollLeasing();
            case SPLITTING -> pollSplitting();
            case ASKING -> pollAsking();
            case PUBLISHING -> pollPublishing();
        };
    }

    private int pollIdle()
    {
        for (int i = queue.size(); i > 0; i--)
        {
            final Wanted wanted = queue.poll();
            if (wanted.notBeforeNs - nowNs > 0)
            {
                queue.add(wanted);
            }
            else if (isKnown(wanted) && isStillWanted(wanted))
            {
                begin(wanted);
                return 1;
            }
        }
        if (!unfinished.isEmpty())
        {
            final Wanted wanted = unfinished.poll();
            if (isKnown(wanted))
            {
                isFinishing = true;
                begin(wanted);
            }
            return 1;
        }
        return 0;
    }

    /** A table that is dropped is forgotten before an epoch is passed in which its memory may go to another one. */
    private boolean isKnown(final Wanted wanted)
    {
        return tables.find(wanted.table.descriptor().tableId()) == wanted.table;
    }

    private static boolean isStillWanted(final Wanted wanted)
    {
        final Subtable present = wanted.table.subtable(wanted.subtable.suffix());
        return wanted.isMet ? wanted.table.mayWaitForWords(present) : present.equals(wanted.subtable);
    }

    private void begin(final Wanted wanted)
    {
        current = wanted;
        lease = null;
        newestLease = 0;
        if (wanted.isMet)
        {
            beginSplit(0, 0);
        }
        else
        {
            requestNumber = session.numbers().begin();
            askForChunks(true);
        }
    }

    private void askForChunks(final boolean isFirst)
    {
        final MemoryLink link = links.get(current.subtable.memoryNodeId());
        if (null == link || !link.isReady())
        {
            if (!isFirst)
            {
                returns.addRequest(current.table.descriptor().name(), current.subtable.memoryNodeId(),
                    requestNumber, CHUNKS);
                requestNumber = 0; // it ends when that is answered
            }
            end();
            return;
        }
        leasing = link.client().leaseChunks(requestNumber, ChunkPurpose.INDEX, CHUNKS, false, session.timeoutNs());
        step = Step.LEASING;
    }

    private int pollLeasing()
    {
        if (!leasing.isDone())
        {
            return 0;
        }
        switch (leasing.status())
        {
            case OK -> onLeased(leasing.result());
            case TIMED_OUT, PEER_FAILED, MALFORMED_REPLY, UNAVAILABLE ->
            {
                pauseUntilNs = nowNs + RETRY_PAUSE_NS;
                askForChunks(false); // the same request again, for the same chunks
            }
            default ->
            {
                refusedUntilNs.put(current.subtable.memoryNodeId(), (Long)(nowNs + NO_MEMORY_PAUSE_NS));
                links.get(current.subtable.memoryNodeId()).onIndexRefused();
                end();
            }
        }
        return 1;
    }

    private void onLeased(final ChunkLease leased)
    {
        lease = leased;
        newestLease = leased.newestLease();
        final List<Long> offsets = new ArrayList<>();
        for (final ChunkRun run : leased.runs())
        {
            for (int i = 0; i < run.chunkCount(); i++)
            {
                offsets.add(run.offset() + (long)i * leased.chunkLengthBytes());
            }
        }
        if (offsets.size() < CHUNKS || !isKnown(current) || !isStillWanted(current))
        {
            returnLease();
            end();
        }
        else
        {
            beginSplit(offsets.get(0), offsets.get(1));
        }
    }

    /** In the poll that has found the table known: the split holds the epoch of now. */
    private void beginSplit(final long offset0, final long offset1)
    {
        split = session.engine().splits().begin(
            current.table, current.subtable.suffix(), offset0, offset1, nowNs + SPLIT_TIMEOUT_NS);
        step = Step.SPLITTING;
    }

    private int pollSplitting()
    {
        if (!split.isFinished())
        {
            return 0;
        }
        if (null != lease && !split.usesGivenMemory())
        {
            returnLease();
        }
        if (TableSplit.State.DONE == split.state())
        {
            onSplit();
        }
        else
        {
            LOGGER.warn("split of {} of table {} goes on later: {}", current.subtable,
                current.table.descriptor().name(), split.failure());
            queue.add(new Wanted(current.table, current.subtable, current.isMet || split.usesGivenMemory(),
                nowNs + FINISH_AFTER_NS));
            sweepWhen(split.usesGivenMemory()); // the link may not have arrived
            end();
        }
        return 1;
    }

    private void sweepWhen(final boolean isUnused)
    {
        if (isUnused)
        {
            links.get(current.subtable.memoryNodeId()).sweepIndexes();
        }
    }

    private void onSplit()
    {
        final OpenTable table = current.table;
        final Subtable present = table.subtable(current.subtable.suffix());
        if (isFinishing && present.depth() == current.subtable.depth())
        {
            end(); // no split of it has begun
            return;
        }
        if (isFinishing)
        {
            finishedCount++;
            unfinished.add(new Wanted(table, present, true, nowNs));
            unfinished.add(new Wanted(
                table, table.subtable(present.suffix() | 1 << current.subtable.depth()), true, nowNs));
        }
        splitCount++;
        ask();
    }

    private void ask()
    {
        asking = session.metaLink().client().table(current.table.descriptor().name(), session.timeoutNs());
        step = Step.ASKING;
    }

    private int pollAsking()
    {
        if (!asking.isDone())
        {
            return 0;
        }
        final ControlStatus status = asking.status();
        if (ControlStatus.OK == status && asking.result().tableId() == current.table.descriptor().tableId())
        {
            publish(asking.result());
        }
        else if (ControlStatus.OK == status || ControlStatus.NO_SUCH_TABLE == status)
        {
            onDropped();
        }
        else
        {
            pauseUntilNs = nowNs + RETRY_PAUSE_NS;
            ask();
        }
        return 1;
    }

    /**
     * The subtables that were made are named by nothing but the old one, whose memory goes with the table; or a
     * publication has named them whose answer was lost, and who dropped the table returns them too. Of two returns of
     * the same lease one is nothing, and what somebody leased in between is newer.
     */
    private void onDropped()
    {
        if (null != lease && split.usesGivenMemory())
        {
            final List<Subtable> made = new ArrayList<>();
            for (final ChunkRun run : lease.runs())
            {
                for (int i = 0; i < run.chunkCount(); i++)
                {
                    made.add(new Subtable(current.subtable.memoryNodeId(), 0, 0,
                        run.offset() + (long)i * lease.chunkLengthBytes()));
                }
            }
            retire(made, newestLease);
        }
        doubts.forEach((doubt) -> retire(doubt.replaced, doubt.newestLease));
        doubts.clear();
        end();
    }

    private void publish(final TableEntry entry)
    {
        final MemoryLink link = links.get(current.subtable.memoryNodeId());
        if (null == link || !link.isReady())
        {
            // What was made is in its memory, if that is still the same when it is back.
            queue.add(new Wanted(current.table, current.subtable, true, nowNs + FINISH_AFTER_NS));
            end();
            return;
        }
        try
        {
            final TableDescriptor published = TableDescriptor.decode(entry.descriptor());
            resolveDoubts(published);
            growth = TableGrowth.ofSplit(published, current.table, current.subtable);
        }
        catch (final FormatException ex)
        {
            LOGGER.warn("table {} cannot be published: {}", entry.name(), ex.getMessage());
            end();
            return;
        }
        final byte[] descriptor = growth.descriptor().encode();
        if (descriptor.length > TableEntry.MAX_DESCRIPTOR_BYTES)
        {
            LOGGER.warn("table {} stays as published: its descriptor would have {} bytes, more than {}", entry.name(),
                descriptor.length, TableEntry.MAX_DESCRIPTOR_BYTES);
        }
        if (growth.replaced().isEmpty() || descriptor.length > TableEntry.MAX_DESCRIPTOR_BYTES)
        {
            end();
            return;
        }
        final byte[] present = entry.descriptor();
        final long checksum =
            ByteBuffer.wrap(present).order(ByteOrder.LITTLE_ENDIAN).getLong(present.length - Long.BYTES);
        newestLease = Math.max(newestLease, link.newestLease());
        publishing = session.metaLink().client().growTable(
            new TableEntry(entry.name(), entry.tableId(), descriptor), checksum, List.of(link.identity()),
            session.timeoutNs());
        step = Step.PUBLISHING;
    }

    private int pollPublishing()
    {
        if (!publishing.isDone())
        {
            return 0;
        }
        if (ControlStatus.OK == publishing.status())
        {
            retire(growth.replaced(), newestLease);
            doubts.clear();
            end();
        }
        else
        {
            // Somebody else was faster, the memory node is another one by now, or the answer is lost.
            if (publishing.status().isUnknown())
            {
                doubts.add(new Doubt(growth.replaced(), newestLease));
            }
            pauseUntilNs = nowNs + RETRY_PAUSE_NS;
            ask();
        }
        return 1;
    }

    /** Two may return what was replaced, of which one return is nothing; see {@link IndexReturn}. */
    private void resolveDoubts(final TableDescriptor published)
    {
        final List<Subtable> named = Subtable.of(published);
        doubts.removeIf((doubt) ->
        {
            final boolean isReplaced = doubt.replaced.stream().noneMatch(named::contains);
            if (isReplaced)
            {
                retire(doubt.replaced, doubt.newestLease);
            }
            return isReplaced;
        });
    }

    private void retire(final List<Subtable> subtables, final long olderLease)
    {
        retirement.retire(current.table.descriptor().name(), subtables, (memoryNodeId) -> olderLease);
    }

    private void returnLease()
    {
        returns.addLeased(current.table.descriptor().name(), current.subtable.memoryNodeId(), lease);
        lease = null;
    }

    private void end()
    {
        sweepWhen(!doubts.isEmpty());
        doubts.clear();
        session.numbers().end(requestNumber);
        requestNumber = 0;
        isFinishing = false;
        current = null;
        lease = null;
        step = Step.IDLE;
    }
}
