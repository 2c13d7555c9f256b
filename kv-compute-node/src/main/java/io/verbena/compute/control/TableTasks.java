package io.verbena.compute.control;

import io.verbena.compute.catalog.TableRegistry;
import io.verbena.compute.group.KnownLeases;
import io.verbena.compute.group.LinkedChunks;
import io.verbena.compute.memory.MemoryLinks;
import io.verbena.compute.session.SessionParts;
import io.verbena.protocol.request.ControlRequest;
import io.verbena.protocol.session.MetaLink;
import io.verbena.table.format.TableDescriptor;

import java.util.SplittableRandom;
import java.util.function.BiConsumer;

/** Makes the tasks of requests about tables, of which creations take turns. Owned by the node's thread. */
public final class TableTasks
{
    private final SessionParts session;
    private final TableRegistry tables;
    private final MemoryLinks links;
    private final LinkedChunks chunks;
    private final BiConsumer<TableDescriptor, KnownLeases> dropped;
    private final SplittableRandom random;
    private final boolean grows;
    private final CreationSlot creationSlot = new CreationSlot();

    /**
     * @param chunks  of memory nodes and groups.
     * @param dropped takes a table that was dropped, and leases from before.
     * @param random  for the hash seeds of tables.
     * @param grows   whether subtables will be split.
     */
    public TableTasks(
        final SessionParts session, final TableRegistry tables, final MemoryLinks links, final LinkedChunks chunks,
        final BiConsumer<TableDescriptor, KnownLeases> dropped, final SplittableRandom random,
        final boolean grows)
    {
        this.session = session;
        this.tables = tables;
        this.links = links;
        this.chunks = chunks;
        this.dropped = dropped;
        this.random = random;
        this.grows = grows;
    }

    ControlTask begin(final ControlRequest request, final long nowNs)
    {
        final MetaLink metaLink = session.metaLink();
        return switch (request.kind())
        {
            case FIND_TABLE -> new FindTableTask(request, metaLink, tables, nowNs);
            case CREATE_TABLE -> 1 == request.copies() ?
                new CreateTableTask(request, session, tables, chunks.returns(), creationSlot, links,
                chunks::mayFindMemory, random, grows, nowNs) :
                new CreateCopiesTask(
                request, session, tables, creationSlot, links, chunks.groups(), random, nowNs);
            case DROP_TABLE -> new DropTableTask(
                request, metaLink, tables, chunks, dropped, nowNs);
            case LIST_TABLES -> new ListTablesTask(request, metaLink, nowNs);
            default -> throw new IllegalStateException("answered at once: " + request);
        };
    }
}
