package io.verbena.load.wire;

import io.verbena.raas.PeerAddress;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.RaasConfiguration;
import io.verbena.raas.RaasContext;
import io.verbena.raas.ReadTargetAddress;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.VirtualQp;
import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.table.TableEngine;
import io.verbena.table.TableEngineConfiguration;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.TableCreator;
import io.verbena.table.directory.TablePlan;
import io.verbena.table.operation.Operation;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.OperationListener;
import io.verbena.table.operation.OperationResult;
import io.verbena.table.operation.TableRequest;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * A table in the memory of a {@link WireMemoryMain}, and the engine of a compute node on this side of the wire, driven
 * by the calling thread. Keys are numbers.
 */
final class WireStore implements AutoCloseable, OperationListener
{
    static final int BATCH = 64;
    static final long MEMORY_BYTES = 64 << 20;
    private static final int VALUE_BYTES = 100;
    private static final int NODE = 1;
    private static final long CHUNK_BYTES = 1 << 18;
    private static final long FIRST_CHUNK = 4096;
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(20);

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment key = arena.allocate(Long.BYTES, Long.BYTES);
    private final MemorySegment value = arena.allocate(VALUE_BYTES, Long.BYTES);
    private final TableRequest request = new TableRequest();
    private final Fabric fabric;
    private final Device device;
    private final RaasContext raas;
    private final TableEngine engine;
    private final VirtualQp vqp;
    private final OpenTable table;
    private final int records;
    private final long memoryBytes;
    private long nextChunk = FIRST_CHUNK;
    private long completed;
    private long failed;
    private long roundTrips;
    private int nextKey;

    /**
     * @param address of this side.
     * @param peer    device of the memory.
     * @param region  that is this store's.
     * @param records that are stored.
     */
    WireStore(final String address, final DeviceAddress peer, final RemoteRegion region, final int records)
    {
        this.records = records;
        memoryBytes = region.lengthBytes();
        fabric = Fabrics.open("roce:" + address);
        device = fabric.openDevice("compute");
        raas = RaasContext.open(device, new RaasConfiguration().identity(new PeerIdentity(3, 1)));
        engine = TableEngine.open(raas.protectionDomain(), device.attributes(), raas.clock(),
            new TableEngineConfiguration().operationSlots(BATCH).locationCacheEntries(4 * records)
                .maxQuarantineBytes(MEMORY_BYTES).chunkSource(this::lease).operationListener(this));
        vqp = raas.connect(new PeerAddress(peer, WireMemoryMain.PORT, NODE, 1), ReadTargetAddress.NONE, region,
            (connection, cookie, status) -> engine.onBatchComplete(cookie, status), TIMEOUT_NS);
        runUntil(() -> vqp.state() == VirtualQp.State.READY);
        engine.attach(NODE, vqp);
        table = createTable();
        for (int i = 0; i < records; i++)
        {
            run(OperationKind.PUT);
        }
        get();
    }

    private OpenTable createTable()
    {
        final TablePlan plan = TablePlan.forRecords("wire", 1, 31, records, new int[]{NODE}, CHUNK_BYTES);
        while (plan.place(NODE, nextChunk))
        {
            nextChunk += CHUNK_BYTES;
        }
        final TableCreator creator = engine.createTable(plan, raas.clock().nanoTime() + TIMEOUT_NS);
        runUntil(() -> creator.state() != TableCreator.State.RUNNING);
        if (creator.failure() != null)
        {
            throw new IllegalStateException(creator.failure());
        }
        return engine.openTable(creator.descriptor());
    }

    private void lease(final int memoryNodeId)
    {
        if (nextChunk + CHUNK_BYTES > memoryBytes)
        {
            engine.chunkRefused(memoryNodeId);
        }
        else
        {
            engine.chunkLeased(memoryNodeId, nextChunk, CHUNK_BYTES);
            nextChunk += CHUNK_BYTES;
        }
    }

    private void runUntil(final BooleanSupplier condition)
    {
        final long deadlineNs = raas.clock().nanoTime() + TIMEOUT_NS;
        while (!condition.getAsBoolean())
        {
            engine.poll();
            raas.poll();
            if (raas.clock().nanoTime() - deadlineNs > 0)
            {
                throw new IllegalStateException("the memory did not answer for 20 s");
            }
        }
    }

    /** GETs one record, the next one. */
    void get()
    {
        run(OperationKind.GET);
    }

    /** GETs the next {@value #BATCH} records together. */
    void getBatch()
    {
        final long before = completed;
        engine.beginGroup();
        for (int i = 0; i < BATCH; i++)
        {
            begin(OperationKind.GET);
        }
        engine.endGroup();
        await(before + BATCH);
    }

    /** Stores one record anew, the next one. */
    void update()
    {
        run(OperationKind.PUT);
        if (engine.allocator(NODE).quarantinedBytes() > MEMORY_BYTES / 4)
        {
            // Blocks that were replaced are free again when two epochs have passed.
            final long passed = engine.passedEpoch();
            engine.onEpoch(passed + 3, passed);
        }
    }

    private void run(final int kind)
    {
        final long before = completed;
        begin(kind);
        await(before + 1);
    }

    private void begin(final int kind)
    {
        nextKey = (nextKey + 1) % records;
        key.set(ValueLayout.JAVA_LONG, 0, nextKey);
        request.of(kind, table, raas.clock().nanoTime() + TIMEOUT_NS, 0).key(key, 0, Long.BYTES);
        if (OperationKind.takesValue(kind))
        {
            request.value(value, 0, VALUE_BYTES);
        }
        if (!engine.begin(request))
        {
            throw new IllegalStateException("no free operation slot");
        }
    }

    private void await(final long count)
    {
        while (completed < count)
        {
            raas.pollCompletions();
            if (completed < count)
            {
                engine.poll();
            }
        }
    }

    /** @return round trips of an operation on average since the last call; which all did what they were asked. */
    double takeRoundTrips()
    {
        if (failed > 0)
        {
            throw new IllegalStateException(failed + " operations failed");
        }
        final double mean = (double)roundTrips / completed;
        roundTrips = 0;
        completed = 0;
        return mean;
    }

    @Override
    public void onOperationComplete(final Operation operation)
    {
        completed++;
        roundTrips += operation.roundTrips();
        failed += operation.result() == OperationResult.FOUND || operation.result() == OperationResult.STORED ? 0 : 1;
    }

    @Override
    public void close()
    {
        vqp.close();
        engine.close();
        raas.close();
        device.close();
        fabric.close();
        arena.close();
    }
}
