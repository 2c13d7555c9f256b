package io.verbena.compute.control;

import io.verbena.compute.catalog.TableRegistry;
import io.verbena.compute.group.KnownLeases;
import io.verbena.compute.group.LinkedChunks;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.TableEntry;
import io.verbena.protocol.request.ControlRequest;
import io.verbena.protocol.request.ControlRequest.Status;
import io.verbena.protocol.session.MetaLink;
import io.verbena.table.format.FormatException;
import io.verbena.table.format.TableDescriptor;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;

/**
 * Drops a table at the meta server, and forgets it here. Its memory is not free at once: other nodes may still use it,
 * see {@code IndexReturn} for the index and {@code Reclaimer} for the blocks.
 */
final class DropTableTask extends ControlTask
{
    private static final Logger LOGGER = LoggerFactory.getLogger(DropTableTask.class);

    /** How long it waits for a look at members of groups: 100 ms; then what is known has to do. */
    private static final long LOOK_LIMIT_NS = 100_000_000;

    private final MetaLink metaLink;
    private final TableRegistry tables;
    private final LinkedChunks chunks;
    private final BiConsumer<TableDescriptor, KnownLeases> dropped;
    private final BooleanSupplier looked;
    private final long beganNs;
    /** From before anybody could drop the table by this. */
    private KnownLeases known = KnownLeases.NONE;
    private ControlCall<TableEntry> call;

    DropTableTask(
        final ControlRequest request, final MetaLink metaLink, final TableRegistry tables,
        final LinkedChunks chunks, final BiConsumer<TableDescriptor, KnownLeases> dropped, final long nowNs)
    {
        super(request);
        this.metaLink = metaLink;
        this.tables = tables;
        this.chunks = chunks;
        this.dropped = dropped;
        looked = chunks.look();
        beganNs = nowNs;
        begin(nowNs);
    }

    private void begin(final long nowNs)
    {
        if (looked.getAsBoolean() || nowNs - beganNs > LOOK_LIMIT_NS)
        {
            known = chunks.known();
            call = metaLink.client().dropTable(request().tableName(), remainingNs(nowNs));
        }
    }

    @Override
    int poll(final long nowNs)
    {
        if (null == call)
        {
            begin(nowNs);
            return null == call ? 0 : 1;
        }
        if (!call.isDone())
        {
            return 0;
        }
        if (ControlStatus.OK == call.status())
        {
            tables.forget(request().tableName());
            returnIndex(call.result());
            end(Status.OK, null, null);
        }
        else
        {
            endAsChanging(call);
        }
        return 1;
    }

    /** Of a table that cannot be read, nobody knows what it had: it is swept. */
    private void returnIndex(final TableEntry entry)
    {
        try
        {
            dropped.accept(TableDescriptor.decode(entry.descriptor()), known);
        }
        catch (final FormatException ex)
        {
            LOGGER.warn("table {} was dropped unread: {}", entry.name(), ex.getMessage());
        }
    }

    @Override
    boolean mayHaveChanged()
    {
        return null != call;
    }
}
