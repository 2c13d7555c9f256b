package io.verbena.compute;

import io.verbena.protocol.message.TableEntry;
import io.verbena.raas.directory.PeerListing;

import java.util.List;

/** The tables that a node opens while it joins; any further one is opened by its first operation. */
final class FirstTables
{
    private static final int MAX_TABLES = 64;

    private FirstTables()
    {
    }

    /** @return the first tables of a view, by their names; a new list. */
    static List<TableEntry> of(final PeerListing listing)
    {
        return listing.named().stream().limit(MAX_TABLES)
            .map((table) -> new TableEntry(table.name(), table.number(), table.content())).toList();
    }
}
