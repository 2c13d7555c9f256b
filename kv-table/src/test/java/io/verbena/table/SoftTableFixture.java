package io.verbena.table;

import io.verbena.raas.Admission;
import io.verbena.raas.PeerAddress;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.RaasConfiguration;
import io.verbena.raas.RaasContext;
import io.verbena.raas.ReadTargetAddress;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.RpcServer;
import io.verbena.raas.VirtualQp;
import io.verbena.rdma.soft.SoftFabric;
import io.verbena.rdma.soft.SoftFabricOptions;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.TableCreator;
import io.verbena.table.directory.TablePlan;
import io.verbena.table.operation.Operation;
import io.verbena.table.operation.TableRequest;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/** An engine over virtual queue pairs on the soft fabric, with one memory node, stepped by one thread. */
final class SoftTableFixture implements AutoCloseable
{
    static final int NODE = 1;
    private static final int PORT = 7;
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);

    final SoftFabric fabric;
    final Device serverDevice;
    final Device clientDevice;
    final RaasContext server;
    final RaasContext client;
    final MemoryRegion region;
    final RpcServer rpcServer;
    final VirtualQp vqp;
    final TableEngine engine;
    final long chunkBytes;
    private long nextChunk = 4096;
    private final UnsafeBuffer memory;
    private final TableRequest request = new TableRequest();
    long completed;
    int lastResult;
    long lastVersion;
    int lastRoundTrips;
    int lastVerbs;
    int lastDoorbells;
    int lastValueLength;
    final MemorySegment lastValue = MemorySegment.ofArray(new byte[16 * 1024]);

    SoftTableFixture(final Path directory, final int regionBytes, final long chunkBytes, final int slots)
    {
        this.chunkBytes = chunkBytes;
        fabric = SoftFabric.open(new SoftFabricOptions().directory(directory));
        serverDevice = fabric.openDevice("memory-node");
        clientDevice = fabric.openDevice("compute-node");
        server = RaasContext.open(serverDevice, new RaasConfiguration());
        client = RaasContext.open(clientDevice, new RaasConfiguration().identity(new PeerIdentity(3, 1)));
        region = server.protectionDomain().allocateRegistered(regionBytes, AccessFlags.ALL_REMOTE);
        memory = new UnsafeBuffer(region.segment().address(), regionBytes);
        rpcServer = server.serve(PORT,
            (caller, source) -> Admission.accept(AccessFlags.ALL_REMOTE, new byte[0], region),
            (caller, method, request, offset, length, reply) -> 0);
        engine = TableEngine.open(client.protectionDomain(), clientDevice.attributes(), client.clock(),
            new TableEngineConfiguration().operationSlots(slots).locationCacheEntries(1 << 20)
                .chunkSource(this::lease).operationListener(this::note));
        vqp = client.connect(new PeerAddress(serverDevice.address(), PORT, NODE, 1),
            ReadTargetAddress.NONE, RemoteRegion.of(region),
            (connection, cookie, status) -> engine.onBatchComplete(cookie, status), TIMEOUT_NS);
        runUntil(() -> vqp.state() == VirtualQp.State.READY);
        engine.attach(NODE, vqp);
    }

    private void lease(final int memoryNodeId)
    {
        engine.chunkLeased(memoryNodeId, nextChunk, chunkBytes);
        nextChunk += chunkBytes;
        if (nextChunk > region.lengthBytes())
        {
            throw new AssertionError("the fixture's memory is too small");
        }
    }

    private void note(final Operation operation)
    {
        completed++;
        lastResult = operation.result();
        lastVersion = operation.version();
        lastRoundTrips = operation.roundTrips();
        lastVerbs = operation.verbs();
        lastDoorbells = operation.doorbells();
        lastValueLength = operation.valueLength();
        if (lastValueLength > 0)
        {
            operation.copyValueTo(lastValue, 0);
        }
    }

    OpenTable createTable(final String name, final int tableId, final long expectedRecords)
    {
        final TablePlan plan =
            TablePlan.forRecords(name, tableId, tableId * 31L, expectedRecords, new int[]{NODE}, chunkBytes);
        while (plan.place(NODE, nextChunk))
        {
            nextChunk += chunkBytes;
        }
        final TableCreator creator = engine.createTable(plan, client.clock().nanoTime() + TIMEOUT_NS);
        runUntil(() -> creator.state() != TableCreator.State.RUNNING);
        if (creator.failure() != null)
        {
            throw new AssertionError(creator.failure());
        }
        return engine.openTable(creator.descriptor());
    }

    void work()
    {
        engine.poll();
        client.poll();
        server.poll();
    }

    void runUntil(final BooleanSupplier condition)
    {
        final long deadlineNs = System.nanoTime() + TIMEOUT_NS;
        while (!condition.getAsBoolean())
        {
            work();
            if (System.nanoTime() - deadlineNs > 0)
            {
                throw new AssertionError("condition not reached in time");
            }
        }
    }

    /** Runs one operation to its end, in the way of a thread that waits for nothing else. */
    int run(
        final int kind,
        final OpenTable table,
        final MemorySegment key,
        final MemorySegment value,
        final long version)
    {
        final long before = completed;
        final long deadlineNs = client.clock().nanoTime() + TIMEOUT_NS;
        request.of(kind, table, deadlineNs, 0).key(key, 0, (int)key.byteSize()).expectedVersion(version);
        if (value != null)
        {
            request.value(value, 0, (int)value.byteSize());
        }
        if (!engine.begin(request))
        {
            throw new AssertionError("no free slot");
        }
        while (completed == before)
        {
            client.poll();
            if (completed == before)
            {
                engine.poll();
            }
        }
        return lastResult;
    }

    void read(final int memoryNodeId, final long offset, final MutableDirectBuffer target, final int lengthBytes)
    {
        target.putBytes(0, memory, (int)offset, lengthBytes);
    }

    @Override
    public void close()
    {
        vqp.close();
        engine.close();
        client.close();
        rpcServer.close();
        region.close();
        server.close();
        clientDevice.close();
        serverDevice.close();
        fabric.close();
    }
}
