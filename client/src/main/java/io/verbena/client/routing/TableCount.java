package io.verbena.client.routing;

import io.verbena.client.KvCorruptException;
import io.verbena.client.TableStat;
import io.verbena.protocol.request.CountPage;
import io.verbena.protocol.request.OperationRequest;

/** The sum over the pages of a count. Not thread-safe. */
final class TableCount
{
    private static final int SLOTS_PER_GROUP = 21;
    private static final int GROUP_BYTES = 192;
    private static final int SUBTABLE_HEADER_BYTES = 64;

    private long records;
    private long undecided;
    private long blockBytes;
    private long slots;
    private long splits;
    private long frozen;
    private long uninitialised;
    private CountPage last;

    /**
     * Adds a page.
     *
     * @param request answered FOUND.
     * @return where the next one begins.
     */
    long add(final OperationRequest request)
    {
        final CountPage page = CountPage.of(request.foundValue());
        if (null == page)
        {
            throw new KvCorruptException("a compute node answered a count with bytes that are none");
        }
        records += page.records();
        undecided += page.tentative();
        blockBytes += page.blockBytes();
        slots = page.slots();
        splits += page.splits();
        frozen += page.frozen();
        uninitialised += page.uninitialised();
        last = page;
        return request.version();
    }

    TableStat stat()
    {
        final long groups = slots / SLOTS_PER_GROUP;
        return new TableStat(records, undecided, slots, groups, last.subtables(), blockBytes,
            groups * GROUP_BYTES + last.subtables() * SUBTABLE_HEADER_BYTES, last.depth(), splits, frozen,
            uninitialised, last.falseMatches(), last.pairsHelped());
    }
}
