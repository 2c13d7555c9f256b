package io.verbena.client;

import io.verbena.protocol.request.RecordPage;

import java.util.Arrays;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.LongFunction;

/**
 * A walk over all records of a table, in no order, while others may write. A key that is there from before the scan was
 * made until {@link #hasNext()} is false is met once, with a value that it had meanwhile, and again only if a subtable
 * was split while the walk was in it; one that is never there is never met; one that is written for the first time,
 * deleted, or deleted and written again meanwhile is met, or not, or twice. Records are fetched by stretches, the next
 * one while this one is read. Nothing is held at the nodes, so a scan can be left at any time, and another one can go
 * on where {@link #cursor()} says. Not thread-safe.
 */
public final class KvScan implements Iterator<KvRecord>
{
    /**
     * A stretch as a compute node answered it.
     *
     * @param bytes        see {@link RecordPage}.
     * @param nextPosition of the table.
     */
    record Page(byte[] bytes, long nextPosition)
    {
    }

    private final int tableId;
    private final LongFunction<CompletableFuture<Page>> fetch;
    private long position;
    private long nextPosition;
    private CompletableFuture<Page> next;
    private byte[] page = {};
    private int at;

    /**
     * @param tableId  of the table.
     * @param position where it begins, or {@link RecordPage#END}: it is over.
     * @param fetch    asks for the stretch that begins at a position.
     */
    KvScan(final int tableId, final long position, final LongFunction<CompletableFuture<Page>> fetch)
    {
        this.tableId = tableId;
        this.position = position;
        this.fetch = fetch;
        next = fetchFrom(position);
    }

    private CompletableFuture<Page> fetchFrom(final long from)
    {
        nextPosition = from;
        return RecordPage.END == from ? null : fetch.apply(from);
    }

    /**
     * Where the walk stands: behind the record that {@link #next()} returned last, or at its beginning. {@link
     * KvTable#scanFrom(String)} goes on from there, in this process or another one, now or later, also when subtables
     * were split and merged meanwhile: both walks together meet a key that is there throughout at least once, and once
     * where nothing was split. Also when a stretch could not be read.
     *
     * @return text without spaces; it holds as long as the table is not dropped.
     */
    public String cursor()
    {
        return ScanCursor.encode(tableId, position);
    }

    /**
     * Waits for the next stretch where needed, as long as the scan's timeout says.
     *
     * @return false when the walk is over.
     * @throws KvException when a stretch could not be read in time: the scan is over, and not complete.
     */
    @Override
    public boolean hasNext()
    {
        while (at == page.length && null != next)
        {
            final CompletableFuture<Page> awaited = next;
            next = null;
            position = nextPosition; // nothing lies between the records of a stretch and the next one
            final Page fetched = join(awaited);
            if (!RecordPage.isWhole(fetched.bytes()))
            {
                throw new KvCorruptException("a compute node answered a scan with bytes that are no records");
            }
            page = fetched.bytes();
            at = 0;
            next = fetchFrom(fetched.nextPosition());
        }
        if (at == page.length && RecordPage.END == nextPosition)
        {
            position = RecordPage.END;
        }
        return at < page.length;
    }

    @Override
    public KvRecord next()
    {
        if (!hasNext())
        {
            throw new NoSuchElementException("the scan is over");
        }
        final int keyAt = at + RecordPage.KEY_OFFSET;
        final int valueAt = keyAt + RecordPage.keyLength(page, at);
        final int end = valueAt + RecordPage.valueLength(page, at);
        final KvRecord record = new KvRecord(Arrays.copyOfRange(page, keyAt, valueAt),
            Arrays.copyOfRange(page, valueAt, end), RecordPage.version(page, at));
        position = RecordPage.behind(page, at);
        at = end;
        return record;
    }

    private static Page join(final CompletableFuture<Page> future)
    {
        try
        {
            return future.join();
        }
        catch (final CompletionException ex)
        {
            throw ex.getCause() instanceof final KvException known ? known : ex;
        }
    }
}
