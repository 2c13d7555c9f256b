package io.verbena.compute.catalog;

import io.verbena.compute.figures.UnexpectedFailures;
import io.verbena.protocol.message.TableEntry;
import io.verbena.protocol.session.MetaLink;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.format.FormatException;
import io.verbena.table.format.TableDescriptor;

/**
 * Finds out which of the open tables were dropped or have grown, whenever the cluster's version has changed; closes the
 * ones, and takes over the descriptors of the others. A node says that it passed epoch p only when a look for the
 * version heard with epoch p or later is done ({@link #epoch}): then it begins nothing on a table that was dropped
 * before, nor on a subtable that was replaced before. Owned by the node's thread.
 */
public final class CatalogWatch
{
    private final MetaLink metaLink;
    private final UnexpectedFailures failures;
    private final TableRegistry tables;
    private final TableInquiry<OpenTable> inquiry;
    private boolean isLooking;
    private long heardVersion;
    private long heardEpoch;
    private long news;
    private long version = -1;
    private long comingVersion;
    private long comingEpoch;
    private long epoch;
    private long closedCount;

    /** @param failures counts descriptors that cannot be read for no reason that is foreseen. */
    public CatalogWatch(
        final MetaLink metaLink, final TableRegistry tables, final long timeoutNs, final UnexpectedFailures failures)
    {
        this.failures = failures;
        this.metaLink = metaLink;
        this.tables = tables;
        inquiry = new TableInquiry<>(metaLink, tables, timeoutNs, this::onAnswer);
    }

    /** Takes what a registration or heartbeat said. */
    public void onHeard(final long newEpoch, final long newVersion)
    {
        news += newEpoch == heardEpoch && newVersion == heardVersion ? 0 : 1;
        heardEpoch = newEpoch;
        heardVersion = newVersion;
        if (newVersion == version && !isLooking)
        {
            epoch = newEpoch;
        }
    }

    /**
     * All tables that are open were opened as the meta server showed them after a version had been heard: what that one
     * is about is known, and nobody has to be asked. Not while a lookup is under way.
     *
     * @param knownVersion that had been heard before they were read.
     */
    public void onOpened(final long knownVersion)
    {
        version = knownVersion;
        epoch = heardVersion == version ? heardEpoch : epoch;
    }

    /** @return how often an epoch or a version was heard that is another than the one before. */
    public long news()
    {
        return news;
    }

    /** @return epoch heard with the newest version that was looked after. */
    public long epoch()
    {
        return epoch;
    }

    /** @return newest version heard. */
    public long heardVersion()
    {
        return heardVersion;
    }

    /** @return newest version looked after; -1 while a look is due. */
    public long version()
    {
        return !isLooking && version == heardVersion ? version : -1;
    }

    /** @return tables found dropped so far. */
    public long closedCount()
    {
        return closedCount;
    }

    /** @return whether a lookup is due or under way. */
    public boolean isBusy()
    {
        return version != heardVersion || isLooking;
    }

    /**
     * Goes on.
     *
     * @param nowNs time now, by the clock of the device.
     * @return work done.
     */
    public int poll(final long nowNs)
    {
        if (!isLooking)
        {
            if (version == heardVersion || !metaLink.isUsable())
            {
                return 0;
            }
            begin();
        }
        final int workCount = inquiry.poll(nowNs);
        if (!inquiry.isDone())
        {
            return workCount;
        }
        finish();
        return workCount + 1;
    }

    private void begin()
    {
        isLooking = true;
        comingVersion = heardVersion;
        comingEpoch = heardEpoch;
        tables.openTables().forEach((table) -> inquiry.add(table, table.descriptor().name()));
    }

    private boolean onAnswer(final OpenTable table, final TableEntry entry, final long askedNews)
    {
        final int tableId = table.descriptor().tableId();
        if (null == entry || entry.tableId() != tableId)
        {
            tables.close(tableId);
            closedCount++;
        }
        else
        {
            refresh(table, entry);
        }
        return true;
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
            tables.closeUnreadable(entry.tableId(), ex.getMessage());
        }
        catch (final RuntimeException ex)
        {
            tables.closeUnreadable(entry.tableId(), failures.onFailure(table.descriptor().name(), ex));
        }
    }

    private void finish()
    {
        isLooking = false;
        version = comingVersion;
        epoch = heardVersion == version ? heardEpoch : comingEpoch;
    }
}
