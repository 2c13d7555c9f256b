package io.verbena.client;

import java.util.Iterator;
import java.util.List;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * A scan of all records of a table, in no order, while others may write:
 *
 * <pre>{@code for (KvRecord record : table.scan()) ...}</pre>
 *
 * <p>A key that is there from before {@link #iterator()} was called until its {@link Records#hasNext()} is false is
 * returned once, with a value that it had meanwhile, and again only if a subtable was split while the scan was in it;
 * one that is never there is never returned; one that is written for the first time, deleted, or deleted and written
 * again meanwhile is returned, or not, or twice. Records are fetched by pages, the next one while this one is read; the
 * table's {@link KvTable#timeout()} is that of each page.
 *
 * <p>Nothing is held at the nodes, so a scan needs no closing and can be left at any time, and another one can resume
 * where {@link Records#cursor()} is. A scan itself is immutable and thread-safe: each call of {@link #iterator()}
 * begins again, from the same place. An iterator belongs to one thread.
 */
public interface KvScan extends Iterable<KvRecord>
{
    /** The records of a scan, one after the other. Not thread-safe. */
    interface Records extends Iterator<KvRecord>
    {
        /**
         * Where the scan is: behind the record that {@link #next()} returned last, or at its beginning. {@link
         * KvTable#scanFrom(String)} resumes from there, in this process or another one, now or later, also when
         * subtables were split and merged meanwhile: both scans together return a key that is there throughout at least
         * once, and once where nothing was split. It can be called also after a page could not be read.
         *
         * @return text without spaces; it holds as long as the table is not dropped.
         */
        String cursor();

        /**
         * Waits for the next page where needed, up to the table's timeout.
         *
         * @return false when the scan is over.
         * @throws KvException when a page could not be read in time; so does each further call. The scan is not
         *                     complete, and can be resumed from {@link #cursor()}.
         */
        @Override
        boolean hasNext();
    }

    /**
     * Some records of a scan.
     *
     * @param records in no order; may be empty also where the scan is not over.
     * @param cursor  where the scan resumes: {@link KvTable#scanFrom(String)}.
     * @param isLast  whether the scan is over.
     */
    record Page(List<KvRecord> records, String cursor, boolean isLast)
    {
    }

    /**
     * Begins to read.
     *
     * @return the records from where this scan begins.
     */
    @Override
    Records iterator();

    /**
     * Reads the first page from where this scan begins, some tens of KiB. The next one is that of {@code
     * table.scanFrom(page.cursor())}.
     *
     * @return future of the page.
     */
    CompletableFuture<Page> pageAsync();

    /** {@return the records as a sequential stream, which needs no closing; it throws what the iterator throws} */
    default Stream<KvRecord> stream()
    {
        return StreamSupport.stream(Spliterators.spliteratorUnknownSize(
            iterator(), Spliterator.NONNULL | Spliterator.IMMUTABLE), false);
    }
}
