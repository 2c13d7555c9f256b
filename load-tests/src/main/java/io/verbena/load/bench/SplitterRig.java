package io.verbena.load.bench;

import io.verbena.raas.PeerAddress;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.RaasConfiguration;
import io.verbena.raas.RaasContext;
import io.verbena.raas.ReadTargetAddress;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.VirtualQp;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.table.TableEngine;
import io.verbena.table.TableEngineConfiguration;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.format.DirectoryEntry;
import io.verbena.table.format.TableDescriptor;
import io.verbena.table.growth.TableMerge;
import io.verbena.table.growth.TableSplit;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.OperationResult;
import io.verbena.table.operation.TableRequest;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * A second engine on the memory of an {@link EngineRig}, which only splits and merges, and stands still where the
 * caller wants it. Stepped by the calling thread; to be closed before the rig.
 */
final class SplitterRig implements AutoCloseable
{
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(20);

    private final Device device;
    private final RaasContext context;
    private final RaasContext server;
    private final VirtualQp vqp;
    private final TableEngine engine;

    SplitterRig(
        final Fabric fabric, final RaasContext server, final PeerAddress memoryNode, final RemoteRegion region)
    {
        this.server = server;
        device = fabric.openDevice("splitter");
        context = RaasContext.open(device, new RaasConfiguration().identity(new PeerIdentity(4, 1)));
        engine = TableEngine.open(context.protectionDomain(), device.attributes(), context.clock(),
            new TableEngineConfiguration().operationSlots(2).writerNumber(2).splitGroupsUnderWay(1)
                .chunkSource(memoryNodeId -> { }).operationListener(operation -> { }));
        vqp = context.connect(memoryNode, ReadTargetAddress.NONE, region,
            (connection, cookie, status) -> engine.onBatchComplete(cookie, status), TIMEOUT_NS);
        runUntil(() -> vqp.state() == VirtualQp.State.READY);
        engine.attach(memoryNode.nodeId(), vqp);
    }

    /**
     * Begins a split of the table's subtable 0.
     *
     * @param descriptor of the table.
     * @param offset0    of memory for the two that take its place.
     * @param offset1    of the other one.
     * @return its progress.
     */
    TableSplit begin(final TableDescriptor descriptor, final long offset0, final long offset1)
    {
        final OpenTable table = engine.openTable(descriptor);
        return engine.growth().begin(table, 0, offset0, offset1, context.clock().nanoTime() + TIMEOUT_NS);
    }

    /**
     * Begins a merge of the table's subtable 0 with its sibling.
     *
     * @param descriptor of the table.
     * @param offset     of memory for the one that takes their place.
     * @return its progress.
     */
    TableMerge beginMerge(final TableDescriptor descriptor, final long offset)
    {
        final OpenTable table = engine.openTable(descriptor);
        return engine.growth().beginMerge(table, 0, offset, context.clock().nanoTime() + TIMEOUT_NS);
    }

    /**
     * Puts a record, as another compute node would.
     *
     * @param descriptor of the table.
     * @param key        of the record.
     * @param value      of the record.
     * @param chunk      of memory for the block, which nothing uses.
     * @param chunkBytes its length.
     */
    void put(
        final TableDescriptor descriptor, final MemorySegment key, final MemorySegment value, final long chunk,
        final long chunkBytes)
    {
        engine.chunkLeased(DirectoryEntry.memoryNodeId(descriptor.entry(0)), chunk, chunkBytes);
        engine.begin(new TableRequest()
            .of(OperationKind.PUT, engine.openTable(descriptor), context.clock().nanoTime() + TIMEOUT_NS, 0)
            .key(key, 0, (int)key.byteSize()).value(value, 0, (int)value.byteSize()));
        runUntil(() -> engine.active() == 0);
        if (engine.counters().results[OperationResult.STORED] == 0)
        {
            throw new IllegalStateException("nothing was stored: " + engine);
        }
    }

    /** Works until something is so; what was posted then is done, and nothing more is posted. */
    void runUntil(final BooleanSupplier condition)
    {
        final long deadlineNs = context.clock().nanoTime() + TIMEOUT_NS;
        while (!condition.getAsBoolean())
        {
            context.poll();
            server.poll();
            engine.poll();
            if (context.clock().nanoTime() - deadlineNs > 0)
            {
                throw new IllegalStateException("the splitter did not get there in " + TIMEOUT_NS + " ns: " + engine);
            }
        }
    }

    @Override
    public void close()
    {
        vqp.close();
        engine.close();
        context.close();
        device.close();
    }
}
