package io.verbena.compute.catalog;

import io.verbena.compute.figures.UnexpectedFailures;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.TableEntry;
import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.OperationRequest;
import io.verbena.protocol.request.TableReference;
import io.verbena.protocol.session.MetaLink;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.format.FormatException;
import io.verbena.table.format.TableDescriptor;

import org.agrona.collections.Int2ObjectHashMap;

import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.LongSupplier;

/**
 * The tables a node has open, by id, and the operations that wait for one to be opened. A table that is not open is
 * fetched from the meta server when the first operation names it. Owned by the node's thread.
 */
public final class TableRegistry
{
    private static final class Fetch
    {
        private final TableReference table;
        private ControlCall<TableEntry> call;
        private long askedNews;
        private final ArrayDeque<OperationRequest> waiting = new ArrayDeque<>();

        Fetch(final TableReference table)
        {
            this.table = table;
        }
    }

    /** What becomes of operations that waited. */
    public interface Waiters
    {
        /** The table is open: begin, or queue again. */
        void onOpen(OperationRequest request);

        /** It cannot be opened. */
        void onFailure(OperationRequest request, OperationAnswer answer, String detail);
    }

    private final Int2ObjectHashMap<OpenTable> open = new Int2ObjectHashMap<>();
    /** Why tables were closed whose descriptors cannot be read; a few, since each is one that was open. */
    private final Int2ObjectHashMap<String> unreadable = new Int2ObjectHashMap<>();
    /** By name and id: the answer to a request with a wrong name concerns none with the right one. */
    private final Map<TableReference, Fetch> fetches = new LinkedHashMap<>();
    private final MetaLink metaLink;
    private final Function<TableDescriptor, OpenTable> opener;
    private final LongSupplier news;
    private final long timeoutNs;
    private final UnexpectedFailures failures;

    /**
     * @param news     {@link CatalogWatch#news()}.
     * @param failures counts tables that could not be opened for no reason that is foreseen.
     */
    public TableRegistry(
        final MetaLink metaLink, final Function<TableDescriptor, OpenTable> opener, final LongSupplier news,
        final long timeoutNs, final UnexpectedFailures failures)
    {
        this.failures = failures;
        this.news = news;
        this.metaLink = metaLink;
        this.opener = opener;
        this.timeoutNs = timeoutNs;
    }

    /**
     * @param tableId of a table.
     * @return the table, or null when it is not open here.
     */
    public OpenTable find(final int tableId)
    {
        return open.get(tableId);
    }

    /**
     * Opens a table, if it is not open.
     *
     * @param entry as the meta server knows it.
     * @throws FormatException when this version cannot read its descriptor.
     */
    public void open(final TableEntry entry)
    {
        if (!open.containsKey(entry.tableId()))
        {
            open.put(entry.tableId(), opener.apply(TableDescriptor.decode(entry.descriptor())));
            unreadable.remove(entry.tableId());
        }
    }

    /** @return how often anything new was heard; an answer is too old to be opened when it was asked for before. */
    public long news()
    {
        return news.getAsLong();
    }

    /**
     * Opens a table, unless the answer may be older than an epoch that this node may have passed since: subtables that
     * were split, and then named no more, may be something else by now. Nor if it may be older than a version that was
     * heard since: what that one is about is looked for in tables that were open by then, and not again. Then the first
     * operation asks again.
     *
     * @param entry     as the meta server knew it.
     * @param askedNews {@link #news()} when it was asked.
     */
    public void openIfFresh(final TableEntry entry, final long askedNews)
    {
        if (askedNews == news.getAsLong())
        {
            open(entry);
        }
    }

    /**
     * Forgets a table of this name: operations that come later ask the meta server again.
     *
     * @param name of a table that was dropped.
     */
    public void forget(final String name)
    {
        final Iterator<OpenTable> tables = open.values().iterator();
        while (tables.hasNext())
        {
            final OpenTable table = tables.next();
            if (table.descriptor().name().equals(name))
            {
                table.close();
                tables.remove();
            }
        }
    }

    /** @return tables open here; a copy. */
    public List<OpenTable> openTables()
    {
        return List.copyOf(open.values());
    }

    /** Closes a table that was dropped: operations that come later ask the meta server again. */
    public void close(final int tableId)
    {
        final OpenTable table = open.remove(tableId);
        if (null != table)
        {
            table.close();
        }
    }

    /**
     * Closes a table whose newer descriptor this node cannot read: operations that come later ask the meta server
     * again, and those under way end as of a table that cannot be reached.
     *
     * @param why for who made them.
     */
    void closeUnreadable(final int tableId, final String why)
    {
        unreadable.put(tableId, why);
        close(tableId);
    }

    /** @return why a table was closed whose descriptor cannot be read any more, or null for any other. */
    public String whyUnreadable(final int tableId)
    {
        return unreadable.get(tableId);
    }

    /** Keeps an operation until its table was fetched. */
    public void await(final OperationRequest request)
    {
        final TableReference table = request.table();
        Fetch fetch = fetches.get(table);
        if (null == fetch)
        {
            fetch = new Fetch(table);
            ask(fetch);
            fetches.put(table, fetch);
        }
        fetch.waiting.add(request);
    }

    /** @return true while a table is being fetched. */
    public boolean isWaiting()
    {
        return !fetches.isEmpty();
    }

    /**
     * Ends the waiting of operations whose table was fetched; one table for each call.
     *
     * @param waiters takes these operations.
     * @return work done.
     */
    public int poll(final Waiters waiters)
    {
        if (fetches.isEmpty())
        {
            return 0;
        }
        int workCount = 0;
        final Iterator<Fetch> pending = fetches.values().iterator();
        while (pending.hasNext())
        {
            final Fetch fetch = pending.next();
            if (fetch.call.isDone() && ControlStatus.OK == fetch.call.status() && fetch.askedNews != news.getAsLong())
            {
                ask(fetch);
                workCount++;
            }
            else if (fetch.call.isDone())
            {
                pending.remove();
                finish(fetch, waiters);
                workCount++;
                break; // waiters may begin fetches: the iterator is of no more use
            }
        }
        return workCount;
    }

    /** Ends all waiting; the registry is of no more use. */
    public void close(final Waiters waiters)
    {
        for (final Fetch fetch : fetches.values())
        {
            fetch.waiting.forEach((request) -> waiters.onFailure(request, OperationAnswer.NOT_SERVING, "node stops"));
        }
        fetches.clear();
    }

    private void ask(final Fetch fetch)
    {
        fetch.askedNews = news.getAsLong();
        fetch.call = metaLink.client().table(fetch.table.name(), timeoutNs);
    }

    private void finish(final Fetch fetch, final Waiters waiters)
    {
        OperationAnswer answer = OperationAnswer.NO_SUCH_TABLE;
        String detail = null;
        if (ControlStatus.OK == fetch.call.status())
        {
            try
            {
                open(fetch.call.result());
            }
            catch (final FormatException ex)
            {
                answer = OperationAnswer.UNREACHABLE;
                detail = ex.getMessage();
            }
            catch (final RuntimeException ex)
            {
                answer = OperationAnswer.UNREACHABLE;
                detail = failures.onFailure(fetch.table, ex);
            }
        }
        else if (ControlStatus.NO_SUCH_TABLE != fetch.call.status())
        {
            answer = OperationAnswer.UNREACHABLE;
            detail = fetch.call.failure();
        }
        final boolean isOpen = open.containsKey(fetch.table.id());
        for (final OperationRequest request : fetch.waiting)
        {
            if (isOpen)
            {
                waiters.onOpen(request);
            }
            else
            {
                waiters.onFailure(request, answer, detail);
            }
        }
    }
}
