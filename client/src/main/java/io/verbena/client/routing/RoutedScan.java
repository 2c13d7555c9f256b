package io.verbena.client.routing;

import io.verbena.client.KvCorruptException;
import io.verbena.client.KvException;
import io.verbena.client.KvRecord;
import io.verbena.client.KvScan;
import io.verbena.protocol.request.RecordPage;

import java.util.Arrays;
import java.util.NoSuchElementException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.LongFunction;

/** A scan that fetches its pages from compute nodes, by whatever the table asks them with. Not thread-safe. */
final class RoutedScan implements KvScan
{
    /**
     * A page as a compute node answered it.
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
     * @param fetch    asks for the page that begins at a position.
     */
    RoutedScan(final int tableId, final long position, final LongFunction<CompletableFuture<Page>> fetch)
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

    @Override
    public String cursor()
    {
        return ScanCursor.encode(tableId, position);
    }

    @Override
    public boolean hasNext()
    {
        while (at == page.length && null != next)
        {
            final CompletableFuture<Page> awaited = next;
            next = null;
            position = nextPosition; // nothing lies between the records of a page and the next one
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
