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
    /** Most calls for tables at once: those of the session's lease and maintenance find room beside them. */
    static final int MAX_CALLS = 16;
    private static final long EXPIRY_PAUSE_NS = 1_000_000;

    /** By name and id: the answer to a request with a wrong name concerns none with the right one. */
    private record FetchKey(Object holder, TableReference table)
    {
    }

    private static final class Fetch
    {
        private final FetchKey key;
        private ControlCall<TableEntry> call;
        private long askedNews;
        private final ArrayDeque<OperationRequest> waiting = new ArrayDeque<>();

        Fetch(final FetchKey key)
        {
            this.key = key;
        }
    }

    /** What becomes of operations that waited. */
    public interface Waiters
    {
        /**
         * The table is open: begin, or queue again.
         *
         * @param holder as {@link #await} was given it.
         */
        void onOpen(OperationRequest request, Object holder);

        /**
         * It cannot be opened, or was not before the deadline.
         *
         * @param holder as {@link #await} was given it.
         */
        void onFailure(OperationRequest request, Object holder, OperationAnswer answer, String detail);
    }

    private final Int2ObjectHashMap<OpenTable> open = new Int2ObjectHashMap<>();
    /** Why tables were closed whose descriptors cannot be read; a few, since each is one that was open. */
    private final Int2ObjectHashMap<String> unreadable = new Int2ObjectHashMap<>();
    private final Map<FetchKey, Fetch> fetches = new LinkedHashMap<>();
    /** Those of them that have no call yet. */
    private final CallerTurns<Fetch> unasked = new CallerTurns<>();
    private int calls;
    private long expiryAtNs;
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

    /**
     * Keeps an operation until its table was fetched.
     *
     * @param request for a table that is not open.
     * @param holder  whose turn it takes where many tables are to be fetched; one fetches no table for another.
     * @param nowNs   time now.
     */
    public void await(final OperationRequest request, final Object holder, final long nowNs)
    {
        final FetchKey key = new FetchKey(holder, request.table());
        expiryAtNs = fetches.isEmpty() ? nowNs : expiryAtNs;
        Fetch fetch = fetches.get(key);
        if (null == fetch)
        {
            fetch = new Fetch(key);
            fetches.put(key, fetch);
            unasked.add(holder, fetch);
        }
        fetch.waiting.add(request);
    }

    /** @return true while a table is being fetched. */
    public boolean isWaiting()
    {
        return !fetches.isEmpty();
    }

    /**
     * Ends the waiting of operations whose table was fetched, one table for each call, or whose deadline has passed.
     *
     * @param waiters takes these operations.
     * @param nowNs   time now.
     * @return work done.
     */
    public int poll(final Waiters waiters, final long nowNs)
    {
        if (fetches.isEmpty())
        {
            return 0;
        }
        int workCount = expire(waiters, nowNs) + askNext();
        final Iterator<Fetch> pending = fetches.values().iterator();
        while (pending.hasNext())
        {
            final Fetch fetch = pending.next();
            if (null == fetch.call || !fetch.call.isDone())
            {
                continue;
            }
            if (ControlStatus.OK == fetch.call.status() && fetch.askedNews != news.getAsLong())
            {
                ask(fetch);
                workCount++;
            }
            else
            {
                pending.remove();
                calls--;
                finish(fetch, waiters);
                workCount++;
                break; // waiters may begin fetches: the iterator is of no more use
            }
        }
        return workCount;
    }

    private int askNext()
    {
        int asked = 0;
        while (calls < MAX_CALLS && !unasked.isEmpty())
        {
            final Fetch fetch = unasked.poll();
            if (fetch.waiting.isEmpty())
            {
                fetches.remove(fetch.key);
            }
            else
            {
                ask(fetch);
                calls++;
                asked++;
            }
        }
        return asked;
    }

    /** A table whose turn comes late keeps no operation beyond its deadline. */
    private int expire(final Waiters waiters, final long nowNs)
    {
        if (expiryAtNs - nowNs > 0)
        {
            return 0;
        }
        expiryAtNs = nowNs + EXPIRY_PAUSE_NS;
        final ArrayDeque<Runnable> late = new ArrayDeque<>();
        for (final Fetch fetch : fetches.values())
        {
            fetch.waiting.removeIf((request) -> request.deadlineNs() - nowNs <= 0 && late.add(() ->
                waiters.onFailure(request, fetch.key.holder(), OperationAnswer.TIMED_OUT, null)));
        }
        if (!late.isEmpty())
        {
            // Else as many as anybody thinks of would stay while no call comes back.
            unasked.removeIf((fetch) -> fetch.waiting.isEmpty());
            fetches.values().removeIf((fetch) -> null == fetch.call && fetch.waiting.isEmpty());
        }
        late.forEach(Runnable::run);
        return late.size();
    }

    /** @return tables that it looks for, or is to. */
    int wantedCount()
    {
        return fetches.size();
    }

    /** Ends all waiting; the registry is of no more use. */
    public void close(final Waiters waiters)
    {
        for (final Fetch fetch : fetches.values())
        {
            fetch.waiting.forEach((request) ->
                waiters.onFailure(request, fetch.key.holder(), OperationAnswer.NOT_SERVING, "node stops"));
        }
        fetches.clear();
        unasked.drain((_) -> { });
    }

    private void ask(final Fetch fetch)
    {
        fetch.askedNews = news.getAsLong();
        fetch.call = metaLink.client().table(fetch.key.table().name(), timeoutNs);
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
                detail = failures.onFailure(fetch.key.table(), ex);
            }
        }
        else if (ControlStatus.NO_SUCH_TABLE != fetch.call.status())
        {
            answer = OperationAnswer.UNREACHABLE;
            detail = fetch.call.failure();
        }
        final boolean isOpen = open.containsKey(fetch.key.table().id());
        for (final OperationRequest request : fetch.waiting)
        {
            if (isOpen)
            {
                waiters.onOpen(request, fetch.key.holder());
            }
            else
            {
                waiters.onFailure(request, fetch.key.holder(), answer, detail);
            }
        }
    }
}
