package io.verbena.client;

import java.util.Iterator;

/**
 * A scan of all records of a table, in no order, while others may write. A key that is there from before the scan was
 * made until {@link #hasNext()} is false is returned once, with a value that it had meanwhile, and again only if a
 * subtable was split while the scan was in it; one that is never there is never returned; one that is written for the
 * first time, deleted, or deleted and written again meanwhile is returned, or not, or twice. Records are fetched by
 * pages, the next one while this one is read. Nothing is held at the nodes, so a scan can be left at any time, and
 * another one can go on where {@link #cursor()} says. Not thread-safe.
 */
public interface KvScan extends Iterator<KvRecord>
{
    /**
     * Where the scan stands: behind the record that {@link #next()} returned last, or at its beginning. {@link
     * KvTable#scanFrom(String)} goes on from there, in this process or another one, now or later, also when subtables
     * were split and merged meanwhile: both scans together return a key that is there throughout at least once, and
     * once where nothing was split. It can be asked also after a page could not be read.
     *
     * @return text without spaces; it holds as long as the table is not dropped.
     */
    String cursor();

    /**
     * Waits for the next page where needed, as long as the scan's timeout says.
     *
     * @return false when the scan is over.
     * @throws KvException when a page could not be read in time: the scan is over, and not complete.
     */
    @Override
    boolean hasNext();
}
