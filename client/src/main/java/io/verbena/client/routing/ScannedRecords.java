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

/** The records of a scan, whose pages it fetches from compute nodes. Not thread-safe. */
final class ScannedRecords implements KvScan.Records
{
    /**
     * A page as a compute node answered it.
     *
     * @param bytes        see {@link RecordPage}.
     * @param nextPosition of the table.
     */
    record Fetched(byte[] bytes, long nextPosition)
    {
        /** Not the constructor: that runs on the node's thread, which an exception must not meet. */
        byte[] checkedBytes()
        {
            if (!RecordPage.isWhole(bytes))
            {
                throw new KvCorruptException("a compute node answered a scan with bytes that are no records");
            }
            return bytes;
        }
    }

    private final int tableId;
    private final LongFunction<CompletableFuture<Fetched>> fetch;
    private long position;
    private long nextPosition;
    private CompletableFuture<Fetched> next;
    private byte[] page = {};
    private int at;

    /**
     * @param tableId  of the table.
     * @param position where it begins, or {@link RecordPage#END}: it is over.
     * @param fetch    asks for the page that begins at a position.
     */
    ScannedRecords(final int tableId, final long position, final LongFunction<CompletableFuture<Fetched>> fetch)
    {
        this.tableId = tableId;
        this.position = position;
        this.fetch = fetch;
        nextPosition = position;
        askForNext();
    }

    private void askForNext()
    {
        if (null == next && RecordPage.END != nextPosition)
        {
            next = fetch.apply(nextPosition);
        }
    }

    @Override
    public String cursor()
    {
        return ScanCursor.encode(tableId, position);
    }

    @Override
    public boolean hasNext()
    {
        while (at == page.length)
        {
            position = nextPosition; // nothing lies between the records of a page and the next one
            askForNext();
            if (null == next)
            {
                return false;
            }
            // One that failed stays, and fails each further call: what is not complete must not look so.
            final Fetched fetched = join(next);
            page = fetched.checkedBytes();
            at = 0;
            nextPosition = fetched.nextPosition();
            next = null;
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
        if (at >= page.length / 2)
        {
            askForNext(); // not before: most loops that are left are left early. It may throw: then nothing was read.
        }
        final KvRecord record = record(page, at);
        position = RecordPage.behind(page, at);
        at = end(page, at);
        return record;
    }

    /** A record of a page, with arrays of its own. */
    static KvRecord record(final byte[] page, final int at)
    {
        final int keyAt = at + RecordPage.KEY_OFFSET;
        final int valueAt = keyAt + RecordPage.keyLength(page, at);
        final int end = valueAt + RecordPage.valueLength(page, at);
        return new KvRecord(Arrays.copyOfRange(page, keyAt, valueAt), Arrays.copyOfRange(page, valueAt, end),
            RecordPage.version(page, at), RecordPage.expiryMs(page, at));
    }

    /** Where the next record of a page begins. */
    static int end(final byte[] page, final int at)
    {
        return at + RecordPage.KEY_OFFSET + RecordPage.keyLength(page, at) + RecordPage.valueLength(page, at);
    }

    private static Fetched join(final CompletableFuture<Fetched> future)
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
