package io.verbena.compute.catalog;

import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.TableEntry;
import io.verbena.protocol.message.TablePage;
import io.verbena.protocol.session.MetaLink;
import io.verbena.raas.failure.Backoff;
import io.verbena.table.format.FormatException;
import io.verbena.table.format.TableDescriptor;

import org.agrona.concurrent.NanoClock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.ArrayList;
import java.util.List;

/**
 * Fetches the descriptors of all tables there are; begins anew, after a pause, when a call fails. Owned by the node's
 * thread.
 */
public final class TableLister
{
    private static final Logger LOGGER = LoggerFactory.getLogger(TableLister.class);
    /** Descriptors asked for at a time. */
    private static final int MAX_CALLS = 16;

    private final MetaLink metaLink;
    private final long timeoutNs;
    private final List<String> names = new ArrayList<>();
    private final List<ControlCall<TableEntry>> calls = new ArrayList<>();
    private final List<TableDescriptor> tables = new ArrayList<>();
    private final NanoClock clock;
    private final Backoff backoff;
    private ControlCall<TablePage> page;
    private int nextName;
    private boolean isDone;
    private boolean isUnreadable;
    private boolean isPausing;
    private long againAtNs;

    /**
     * Nothing is asked before {@link #start}.
     *
     * @param timeoutNs of a call, in nanoseconds.
     * @param clock     of the device.
     */
    public TableLister(final MetaLink metaLink, final long timeoutNs, final NanoClock clock)
    {
        this.metaLink = metaLink;
        this.timeoutNs = timeoutNs;
        this.clock = clock;
        backoff = metaLink.retryBackoff();
    }

    /** Begins anew. */
    public void start()
    {
        names.clear();
        calls.clear();
        tables.clear();
        nextName = 0;
        isDone = false;
        isUnreadable = false;
        page = null;
    }

    /** @return whether there is a list, until it begins anew. */
    public boolean isDone()
    {
        return isDone;
    }

    /** @return whether a table is there whose descriptor cannot be read: there is no list until it begins anew. */
    public boolean isUnreadable()
    {
        return isUnreadable;
    }

    /** @return all that were there throughout; those made or dropped meanwhile may be among them. */
    public List<TableDescriptor> tables()
    {
        return List.copyOf(tables);
    }

    /** Goes on, while the meta server can be reached. */
    public void poll()
    {
        isPausing = isPausing && againAtNs - clock.nanoTime() > 0;
        if (isDone || isUnreadable || isPausing || !metaLink.isUsable())
        {
            return;
        }
        if (0 == nextName && calls.isEmpty() && tables.isEmpty() && !hasAllNames())
        {
            return;
        }
        if (!calls.stream().allMatch(ControlCall::isDone))
        {
            return;
        }
        for (final ControlCall<TableEntry> call : calls)
        {
            if (ControlStatus.OK == call.status())
            {
                if (!decode(call.result()))
                {
                    isUnreadable = true;
                    return;
                }
            }
            else if (ControlStatus.NO_SUCH_TABLE != call.status())
            {
                startLater();
                return;
            }
        }
        calls.clear();
        isDone = nextName == names.size();
        if (isDone)
        {
            backoff.reset();
        }
        while (nextName < names.size() && calls.size() < MAX_CALLS)
        {
            calls.add(metaLink.client().table(names.get(nextName++), timeoutNs));
        }
    }

    private void startLater()
    {
        start();
        isPausing = true;
        againAtNs = clock.nanoTime() + backoff.nextPauseNs();
    }

    /** A table of another version cannot be scanned: nothing is reclaimed while it is there. */
    private boolean decode(final TableEntry entry)
    {
        try
        {
            return tables.add(TableDescriptor.decode(entry.descriptor()));
        }
        catch (final FormatException ex)
        {
            LOGGER.warn("table {} cannot be read, so nothing is reclaimed while it is there: {}", entry.name(),
                ex.getMessage());
            return false;
        }
    }

    /** @return whether the last page of names is there. */
    private boolean hasAllNames()
    {
        if (null == page)
        {
            page = metaLink.client().tables(names.isEmpty() ? "" : names.getLast(), timeoutNs);
            return false;
        }
        if (!page.isDone())
        {
            return false;
        }
        if (ControlStatus.OK != page.status())
        {
            startLater();
            return false;
        }
        names.addAll(page.result().names());
        if (page.result().hasMore())
        {
            page = null;
            return false;
        }
        return true;
    }
}
