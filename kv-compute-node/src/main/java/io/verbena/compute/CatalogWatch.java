package io.verbena.compute;

import io.verbena.control.ControlCall;
import io.verbena.control.ControlStatus;
import io.verbena.control.Heartbeat;
import io.verbena.control.TableEntry;
import io.verbena.table.OpenTable;
import io.verbena.table.format.FormatException;
import io.verbena.table.format.TableDescriptor;

import java.util.ArrayList;
import java.util.List;

/**
 * Finds out which of the open tables were dropped or have grown, whenever the cluster's version has changed; closes the
 * ones, and takes over the descriptors of the others. A node says that it passed epoch p only when a look for the
 * version heard with epoch p or later is done ({@link #epoch}): then it begins nothing on a table that was dropped
 * before, nor on a subtable that was replaced before. Owned by the node's thread.
 */
final class CatalogWatch
{
    private static final long SLOW_NS = 100_000_000;

    private final MetaLink metaLink;
    private final TableRegistry tables;
    private final long timeoutNs;
    private final List<OpenTable> asked = new ArrayList<>();
    private final List<ControlCall<TableEntry>> calls = new ArrayList<>();
    private final long latenessNs;
    private long dueNs;
    private long heardVersion;
    private long heardEpoch;
    private long version = -1;
    private long comingVersion;
    private long comingEpoch;
    private long epoch;
    private long closedCount;

    /** @param droppedGuards for {@link ReclaimGuard#SLOW_CATALOG} only. */
    CatalogWatch(
        final MetaLink metaLink, final TableRegistry tables, final long timeoutNs, final int droppedGuards)
    {
        latenessNs = 0 == (droppedGuards & ReclaimGuard.SLOW_CATALOG) ? 0 : SLOW_NS;
        this.metaLink = metaLink;
        this.tables = tables;
        this.timeoutNs = timeoutNs;
    }

    /** Takes what a registration or heartbeat said. */
    void onHeard(final long newEpoch, final long newVersion)
    {
        heardEpoch = newEpoch;
        heardVersion = newVersion;
        if (newVersion == version && calls.isEmpty())
        {
            epoch = newEpoch;
        }
    }

    void onHeartbeat(final Heartbeat heartbeat)
    {
        onHeard(heartbeat.epoch(), heartbeat.membershipVersion());
    }

    /** A table was opened from an answer that may be older than the last look. */
    void lookAgain()
    {
        version = -1;
    }

    /** @return epoch heard with the newest version that was looked after. */
    long epoch()
    {
        return epoch;
    }

    /** @return newest version looked after; -1 while a look is due. */
    long version()
    {
        return calls.isEmpty() && version == heardVersion ? version : -1;
    }

    /** @return tables found dropped so far. */
    long closedCount()
    {
        return closedCount;
    }

    boolean isBusy()
    {
        return version != heardVersion || !calls.isEmpty();
    }

    int poll(final long nowNs)
    {
        if (isBusy() && isLate(nowNs))
        {
            return 0;
        }
        if (!calls.isEmpty())
        {
            return calls.stream().allMatch(ControlCall::isDone) ? onAnswers() : 0;
        }
        if (version == heardVersion || !metaLink.isUsable())
        {
            return 0;
        }
        comingVersion = heardVersion;
        comingEpoch = heardEpoch;
        asked.clear();
        asked.addAll(tables.openTables());
        for (final OpenTable table : asked)
        {
            calls.add(metaLink.client().table(table.descriptor().name(), timeoutNs));
        }
        if (calls.isEmpty())
        {
            finish();
        }
        return 1;
    }

    /** A fault: each step of a look comes long after it became due. */
    private boolean isLate(final long nowNs)
    {
        if (0 == latenessNs)
        {
            return false;
        }
        dueNs = 0 == dueNs ? nowNs : dueNs;
        final boolean isLate = nowNs - dueNs < latenessNs;
        dueNs = isLate ? dueNs : 0;
        return isLate;
    }

    private int onAnswers()
    {
        boolean allAnswered = true;
        for (int i = 0; i < calls.size(); i++)
        {
            final ControlCall<TableEntry> call = calls.get(i);
            final int tableId = asked.get(i).descriptor().tableId();
            if (ControlStatus.NO_SUCH_TABLE == call.status() ||
                ControlStatus.OK == call.status() && call.result().tableId() != tableId)
            {
                tables.close(tableId);
                closedCount++;
            }
            else if (ControlStatus.OK == call.status())
            {
                refresh(asked.get(i), call.result());
            }
            allAnswered &= ControlStatus.OK == call.status() || ControlStatus.NO_SUCH_TABLE == call.status();
        }
        calls.clear();
        if (allAnswered)
        {
            finish();
        }
        return 1;
    }

    /** Subtables that were split since are forgotten here, before this node passes an epoch after which they go. */
    private void refresh(final OpenTable table, final TableEntry entry)
    {
        try
        {
            table.refresh(TableDescriptor.decode(entry.descriptor()));
        }
        catch (final FormatException ex)
        {
            tables.close(entry.tableId());
        }
    }

    private void finish()
    {
        version = comingVersion;
        epoch = comingEpoch;
        if (heardVersion == version)
        {
            epoch = heardEpoch;
        }
    }
}
