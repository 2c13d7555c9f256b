package io.verbena.client.routing;

import io.verbena.client.KvException;
import io.verbena.client.KvRecord;
import io.verbena.client.KvScan;
import io.verbena.protocol.request.RecordPage;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/** Where a scan begins, and how its pages are fetched. Immutable, thread-safe. */
final class RoutedScan implements KvScan
{
    /**
     * For futures that only an iterator waits for: completed by whoever ends the operation, because the user's executor
     * may be busy with the very thread that waits.
     */
    private static final Executor DIRECTLY = Runnable::run;

    /** How a page is fetched. */
    interface PageFetch
    {
        /**
         * Asks a compute node.
         *
         * @param position that the page begins at.
         * @param executor that completes the future.
         * @return future of the page.
         */
        CompletableFuture<ScannedRecords.Fetched> from(long position, Executor executor);
    }

    private final int tableId;
    private final long position;
    private final Executor completionExecutor;
    private final PageFetch fetch;

    /**
     * @param tableId            of the table.
     * @param position           where it begins, or {@link RecordPage#END}: it is over.
     * @param completionExecutor of the client.
     * @param fetch              of pages.
     */
    RoutedScan(final int tableId, final long position, final Executor completionExecutor, final PageFetch fetch)
    {
        this.tableId = tableId;
        this.position = position;
        this.completionExecutor = completionExecutor;
        this.fetch = fetch;
    }

    @Override
    public Records iterator()
    {
        return new ScannedRecords(tableId, position, (from) -> fetch.from(from, DIRECTLY));
    }

    @Override
    public CompletableFuture<Page> pageAsync()
    {
        if (RecordPage.END == position)
        {
            return CompletableFuture.completedFuture(page(new byte[0], RecordPage.END));
        }
        // Not thenApply, which would wrap the exception of a failure.
        final CompletableFuture<Page> result = new CompletableFuture<>();
        fetch.from(position, completionExecutor).whenComplete((fetched, failure) ->
        {
            try
            {
                if (null != failure)
                {
                    result.completeExceptionally(failure);
                }
                else
                {
                    result.complete(page(fetched.checkedBytes(), fetched.nextPosition()));
                }
            }
            catch (final KvException ex)
            {
                result.completeExceptionally(ex);
            }
        });
        return result;
    }

    private Page page(final byte[] bytes, final long nextPosition)
    {
        final List<KvRecord> records = new ArrayList<>();
        for (int at = 0; at < bytes.length; at = ScannedRecords.end(bytes, at))
        {
            records.add(ScannedRecords.record(bytes, at));
        }
        return new Page(List.copyOf(records), ScanCursor.encode(tableId, nextPosition), RecordPage.END == nextPosition);
    }

    @Override
    public String toString()
    {
        return "KvScan{tableId=" + tableId + ", cursor=" + ScanCursor.encode(tableId, position) + '}';
    }
}
