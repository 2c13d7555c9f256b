package io.verbena.compute.maintenance;

import io.verbena.compute.catalog.TableRegistry;
import io.verbena.table.TableEngine;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.Subtable;
import io.verbena.table.operation.OperationResult;
import io.verbena.table.sweep.ExpirySweep;
import org.agrona.collections.Int2ObjectHashMap;
import org.agrona.concurrent.EpochNanoClock;

import java.util.List;
import java.util.function.Supplier;

/**
 * Sweeps all open tables once in an interval, together with the other compute nodes: a few groups at a time, with
 * pauses by which a round takes most of the interval, and one after the other at most. Owned by the node's thread.
 */
public final class ExpirySweeper
{
    /** Least time between two ranges: 100 us. */
    private static final long LEAST_PAUSE_NS = 100_000;
    /** Longest time that a range may take: 1 s. */
    private static final long RANGE_TIMEOUT_NS = 1_000_000_000;
    /** Until a range is begun again that found no room for the marks of removals: 20 ms. */
    private static final long RETRY_NS = 20_000_000;

    /** What is known of a table. */
    private static final class Known
    {
        private boolean hasDeadlines;
        private boolean isSeen;
        /** Rounds in a row in which none was met. */
        private int roundsWithout;
    }

    private final long intervalNs;
    private final EpochNanoClock wallClock;
    private final Int2ObjectHashMap<Known> known = new Int2ObjectHashMap<>();
    private TableEngine engine;
    private TableRegistry tables;
    private int nodeId;
    private Supplier<int[]> computeNodes;
    private boolean isLeaving;
    private boolean isRound;
    private long roundBegunNs;
    private long nextAtNs;
    private long pauseNs;
    private SweepShare share;
    private List<OpenTable> roundTables = List.of();
    private int tableIndex;
    private List<Subtable> subtables = List.of();
    private int subtableIndex;
    private int range;
    private boolean isUnderWay;
    private OpenTable sweptTable;
    private Subtable sweptPart;

    /**
     * @param intervalNs in which all tables are walked; 0: none is.
     * @param wallClock  by which nodes count rounds.
     */
    public ExpirySweeper(final long intervalNs, final EpochNanoClock wallClock)
    {
        this.intervalNs = intervalNs;
        this.wallClock = wallClock;
    }

    /**
     * Begins to sweep; the first round comes an eighth of the interval later, when a node that joins is done with that.
     *
     * @param ownNodeId number of this node.
     * @param nodes     numbers of the compute nodes that are known, ascending.
     */
    public void open(
        final TableEngine ofNode, final TableRegistry registry, final int ownNodeId, final Supplier<int[]> nodes,
        final long nowNs)
    {
        engine = ofNode;
        tables = registry;
        nodeId = ownNodeId;
        computeNodes = nodes;
        nextAtNs = nowNs + intervalNs / 8;
    }

    /** The node leaves: nothing more is begun. */
    public void leave()
    {
        isLeaving = true;
    }

    /** @return whether requests are under way. */
    public boolean isBusy()
    {
        return isUnderWay;
    }

    /** @return when something is due, or {@link Long#MAX_VALUE}; while not {@link #isBusy()}. */
    public long nextAtNs()
    {
        return null == engine || 0 == intervalNs || isLeaving ? Long.MAX_VALUE : nextAtNs;
    }

    /** Goes on, while the node serves. @return work done. */
    public int poll(final long nowNs)
    {
        if (isUnderWay)
        {
            return onEnd(nowNs);
        }
        if (nextAtNs() - nowNs > 0 || Long.MAX_VALUE == nextAtNs())
        {
            return 0;
        }
        if (!isRound)
        {
            beginRound(nowNs);
        }
        if (find())
        {
            begin(nowNs);
        }
        else
        {
            endRound(nowNs);
        }
        return 1;
    }

    private int onEnd(final long nowNs)
    {
        final ExpirySweep sweep = engine.sweep();
        if (sweep.isRunning())
        {
            return 0;
        }
        isUnderWay = false;
        if (OperationResult.NO_MEMORY == sweep.result())
        {
            nextAtNs = nowNs + RETRY_NS;
            return 1;
        }
        known(sweptTable).isSeen |= sweep.deadlines() > 0;
        range += share.stride(known(sweptTable).hasDeadlines);
        // What was late is not made up for by a burst.
        nextAtNs = Math.max(nextAtNs + pauseNs, nowNs + LEAST_PAUSE_NS);
        return 1;
    }

    private void beginRound(final long nowNs)
    {
        isRound = true;
        roundBegunNs = nowNs;
        share = SweepShare.of(nodeId, computeNodes.get(), wallClock.nanoTime() / intervalNs);
        roundTables = tables.openTables();
        known.keySet().removeIf((tableId) -> null == tables.find(tableId));
        tableIndex = 0;
        subtables = List.of();
        subtableIndex = 0;
        double ranges = 1;
        for (final OpenTable table : roundTables)
        {
            final Known ofTable = known(table);
            ofTable.hasDeadlines |= table.takeDeadlinesWritten();
            ofTable.isSeen = false;
            ranges += 1 + (double)table.subtableCount() * SweepShare.ranges(table.groupCount) /
                share.stride(ofTable.hasDeadlines);
        }
        // A fifth is left for what takes longer, and for what splits bring.
        pauseNs = Math.max(LEAST_PAUSE_NS, (long)(intervalNs * 4 / 5 / ranges));
    }

    private Known known(final OpenTable table)
    {
        return known.computeIfAbsent(table.tableId, (id) -> new Known());
    }

    /** @return whether there is a range yet. */
    private boolean find()
    {
        while (subtableIndex < subtables.size() || tableIndex < roundTables.size())
        {
            if (subtableIndex == subtables.size())
            {
                sweptTable = roundTables.get(tableIndex++);
                subtables = sweptTable.isClosed() ? List.of() : sweptTable.subtables();
                subtableIndex = 0;
                takeFirstRange();
            }
            else if (range < SweepShare.ranges(sweptTable.groupCount) && !sweptTable.isClosed())
            {
                sweptPart = subtables.get(subtableIndex);
                return true;
            }
            else
            {
                subtableIndex++;
                takeFirstRange();
            }
        }
        return false;
    }

    private void takeFirstRange()
    {
        if (subtableIndex < subtables.size())
        {
            range = share.first(
                sweptTable.tableId, subtables.get(subtableIndex).suffix(), known(sweptTable).hasDeadlines);
        }
    }

    private void begin(final long nowNs)
    {
        // As the engine knows it now: it may have been split since the round came to the table.
        final Subtable present = sweptTable.subtable(sweptPart.suffix());
        engine.sweep().begin(
            sweptTable, present, range * ExpirySweep.GROUPS, nowNs + RANGE_TIMEOUT_NS);
        isUnderWay = true;
    }

    private void endRound(final long nowNs)
    {
        isRound = false;
        nextAtNs = Math.max(roundBegunNs + intervalNs, nowNs + LEAST_PAUSE_NS);
        for (final OpenTable table : roundTables)
        {
            final Known ofTable = known(table);
            ofTable.roundsWithout = ofTable.isSeen ? 0 : ofTable.roundsWithout + 1;
            // Forgotten when all of it was walked in vain.
            ofTable.hasDeadlines = ofTable.isSeen || ofTable.hasDeadlines && ofTable.roundsWithout <= share.nodes();
        }
        roundTables = List.of();
    }

    @Override
    public String toString()
    {
        return "ExpirySweeper{share=" + share + " underWay=" + isUnderWay + " part=" + sweptPart + " range=" + range +
            '}';
    }
}
