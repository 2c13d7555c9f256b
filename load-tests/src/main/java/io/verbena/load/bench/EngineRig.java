package io.verbena.load.bench;

import io.verbena.raas.Admission;
import io.verbena.raas.BatchListener;
import io.verbena.raas.PeerAddress;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.RaasConfiguration;
import io.verbena.raas.RaasContext;
import io.verbena.raas.ReadTargetAddress;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.RpcServer;
import io.verbena.raas.VirtualQp;
import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.ConnectionAttempt;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.VerbCounters;
import io.verbena.table.TableEngine;
import io.verbena.table.TableEngineConfiguration;
import io.verbena.table.directory.GrowthSource;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.TableCreator;
import io.verbena.table.directory.TablePlan;
import io.verbena.table.mirror.MirrorPort;
import io.verbena.table.operation.Operation;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.OperationListener;
import io.verbena.table.operation.TableRequest;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * An engine over virtual queue pairs on the soft fabric, with the memory of one node, or of a group of them, all
 * stepped by the calling thread. The memory's owner does nothing but admit the connection.
 */
final class EngineRig implements AutoCloseable, OperationListener
{
    private static final int NODE = 1;
    private static final int PORT = 7;
    private static final long FIRST_CHUNK = 4096;
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(20);
    private static final QueuePairCapabilities CAPABILITIES = new QueuePairCapabilities(64, 1, 0, 16);
    private static final int OPERATIONS_PER_DEADLINE = 1 << 10;

    private final Path directory;
    private final Fabric fabric;
    private final Device serverDevice;
    private final Device clientDevice;
    private final RaasContext server;
    private final RaasContext client;
    /** The one that is read. */
    private final MemoryRegion region;
    private final List<MemoryRegion> regions = new ArrayList<>();
    private final List<RpcServer> rpcServers = new ArrayList<>();
    private final VirtualQp[] members;
    private final MirrorPort mirror;
    private final TableEngine engine;
    private final long chunkBytes;
    private long nextChunk = FIRST_CHUNK;
    private long completed;
    private long begun;
    private final TableRequest request = new TableRequest();
    private long deadlineNs;
    private MemorySegment target;
    private int lastResult;
    private long lastVersion;
    private int lastRoundTrips;
    private int mostRoundTrips;
    private RoundTripCounts roundTripCounts;
    private Runnable turn = () -> { };
    /** Of connections beside the engine's, in the order in which they are to be closed. */
    private final List<Runnable> extras = new ArrayList<>();

    EngineRig(final long regionBytes, final long chunkBytes, final int slots, final int cacheEntries)
        throws IOException
    {
        this(regionBytes, chunkBytes, slots, cacheEntries, GrowthSource.NONE);
    }

    /** @param growthSource hears which subtables fill up. */
    EngineRig(
        final long regionBytes, final long chunkBytes, final int slots, final int cacheEntries,
        final GrowthSource growthSource) throws IOException
    {
        this(regionBytes, chunkBytes, slots, cacheEntries, growthSource, 1);
    }

    /** @param copies of the memory, each at another port of the server. */
    EngineRig(
        final long regionBytes, final long chunkBytes, final int slots, final int cacheEntries,
        final GrowthSource growthSource, final int copies) throws IOException
    {
        this.chunkBytes = chunkBytes;
        directory = Files.createTempDirectory(Path.of("/dev/shm"), "verbena-bench-");
        fabric = Fabrics.open("soft:" + directory);
        serverDevice = fabric.openDevice("memory-node");
        clientDevice = fabric.openDevice("compute-node");
        server = RaasContext.open(serverDevice, new RaasConfiguration());
        client = RaasContext.open(clientDevice, new RaasConfiguration().identity(new PeerIdentity(3, 1)));
        for (int copy = 0; copy < copies; copy++)
        {
            serve(copy, server.protectionDomain().allocateRegistered(regionBytes, AccessFlags.ALL_REMOTE));
        }
        region = regions.getLast();
        engine = TableEngine.open(client.protectionDomain(), clientDevice.attributes(), client.clock(),
            new TableEngineConfiguration().operationSlots(slots).locationCacheEntries(cacheEntries)
                .maxQuarantineBytes(regionBytes).chunkSource(this::lease).operationListener(this)
                .growthSource(growthSource));
        members = new VirtualQp[copies];
        mirror = 1 == copies ? null : connectMembers();
        if (null == mirror)
        {
            members[0] = connect(0, engine::onBatchComplete);
        }
        engine.attach(NODE, null == mirror ? members[0] : mirror);
    }

    private void serve(final int copy, final MemoryRegion memory)
    {
        regions.add(memory);
        rpcServers.add(server.serve(port(copy),
            (caller, source) -> Admission.accept(AccessFlags.ALL_REMOTE, new byte[0], memory),
            (caller, method, request, offset, length, reply) -> 0));
    }

    /** The next port is that of queue pairs of their own. */
    private int port(final int copy)
    {
        return PORT + 2 * copy;
    }

    private VirtualQp connect(final int copy, final MirrorPort.Completions completions)
    {
        final VirtualQp member = client.connect(
            new PeerAddress(serverDevice.address(), port(copy), NODE + copy, 1), ReadTargetAddress.NONE,
            RemoteRegion.of(regions.get(copy)),
            (connection, cookie, status) -> completions.onBatchComplete(cookie, status), TIMEOUT_NS);
        runUntil(() -> member.state() == VirtualQp.State.READY);
        return member;
    }

    private MirrorPort connectMembers()
    {
        final MirrorPort[] made = new MirrorPort[1];
        for (int copy = 0; copy < members.length; copy++)
        {
            members[copy] = connect(copy, (cookie, status) -> made[0].onMemberComplete(cookie, status));
        }
        made[0] = new MirrorPort(client.protectionDomain(), 1, members, engine::onBatchComplete);
        return made[0];
    }

    private void lease(final int memoryNodeId)
    {
        if (nextChunk + chunkBytes > region.lengthBytes())
        {
            engine.chunkRefused(memoryNodeId);
        }
        else
        {
            engine.chunkLeased(memoryNodeId, nextChunk, chunkBytes);
            nextChunk += chunkBytes;
        }
    }

    OpenTable createTable(final long expectedRecords)
    {
        return createTable(TablePlan.forRecords("bench", 1, 31, expectedRecords, new int[]{NODE}, chunkBytes));
    }

    OpenTable createTable(final TablePlan plan)
    {
        while (plan.place(NODE, nextChunk))
        {
            nextChunk += chunkBytes;
        }
        final TableCreator creator = engine.createTable(plan, client.clock().nanoTime() + TIMEOUT_NS);
        runUntil(() -> creator.state() != TableCreator.State.RUNNING);
        if (creator.failure() != null)
        {
            throw new IllegalStateException(creator.failure());
        }
        return engine.openTable(creator.descriptor());
    }

    private void runUntil(final BooleanSupplier condition)
    {
        final long deadlineNs = client.clock().nanoTime() + TIMEOUT_NS;
        while (!condition.getAsBoolean())
        {
            engine.poll();
            client.poll();
            server.poll();
            pollMirror();
            if (client.clock().nanoTime() - deadlineNs > 0)
            {
                throw new IllegalStateException("the engine did not get ready in " + TIMEOUT_NS + " ns");
            }
        }
    }

    private void pollMirror()
    {
        if (null != mirror)
        {
            mirror.poll();
        }
    }

    /** @return where the engine's side registers memory and makes queue pairs. */
    ProtectionDomain clientDomain()
    {
        return client.protectionDomain();
    }

    /** @return a completion queue of the engine's side, to be closed. */
    CompletionQueue createCompletionQueue()
    {
        return clientDevice.createCompletionQueue(2 * CAPABILITIES.maxSendRequests());
    }

    /** @return what peers need to reach all of the memory. */
    RemoteRegion remoteRegion()
    {
        return RemoteRegion.of(region);
    }

    /** @return another virtual queue pair to the memory, to be closed. */
    VirtualQp connect(final BatchListener listener)
    {
        final VirtualQp connected = client.connect(
            new PeerAddress(serverDevice.address(), PORT, NODE, 1), listener, TIMEOUT_NS);
        runUntil(() -> connected.state() == VirtualQp.State.READY);
        return connected;
    }

    /** @return a queue pair to the memory, to be closed; its peer is never used. */
    QueuePair connectQueuePair(final CompletionQueue completions)
    {
        final QueuePair requester = client.protectionDomain().createQueuePair(completions, completions, CAPABILITIES);
        final CompletionQueue unused = serverDevice.createCompletionQueue(2 * CAPABILITIES.maxSendRequests());
        final QueuePair responder = server.protectionDomain().createQueuePair(unused, unused, CAPABILITIES);
        try (ConnectionListener connections = serverDevice.listen(PORT + 1))
        {
            final ConnectionAttempt attempt = clientDevice.connect(
                requester, serverDevice.address(), PORT + 1, 0, new byte[0], TIMEOUT_NS);
            connections.poll().accept(responder, AccessFlags.ALL_REMOTE, new byte[0]);
            runUntil(() -> attempt.poll() == ConnectionAttempt.State.ESTABLISHED);
        }
        extras.add(responder::close);
        extras.add(unused::close);
        return requester;
    }

    /** Hands completions to the waiting thread. */
    void pollConnections()
    {
        client.poll();
    }

    TableEngine engine()
    {
        return engine;
    }

    /** @return the registered memory, as its owner sees it. */
    MemorySegment memory()
    {
        return region.segment();
    }

    /** @return what the engine's connections were asked to do. Live where there is one copy, else a sum. */
    VerbCounters counters()
    {
        if (null == mirror)
        {
            return members[0].counters();
        }
        final VerbCounters sum = new VerbCounters();
        for (final VirtualQp member : members)
        {
            sum.add(member.counters());
        }
        return sum;
    }

    /** @return steps, each after the one before, that went to several copies; 0 where there is one. */
    long stepsPosted()
    {
        return null == mirror ? 0 : mirror.stepsPosted();
    }

    /** @return a second engine on the same memory, which only splits and merges; to be closed first. */
    SplitterRig splitter()
    {
        return new SplitterRig(fabric, server, new PeerAddress(serverDevice.address(), PORT, NODE, 1),
            RemoteRegion.of(region));
    }

    /** @return offset of a chunk that nothing uses. */
    long takeChunk()
    {
        final long chunk = nextChunk;
        if (chunk + chunkBytes > region.lengthBytes())
        {
            throw new IllegalStateException("no chunk is left of " + region.lengthBytes() + " bytes");
        }
        nextChunk += chunkBytes;
        return chunk;
    }

    /** Lets two epochs pass: no cached location is current any more, but each is still where to look first. */
    void expireLocations()
    {
        final long passed = engine.passedEpoch();
        engine.onEpoch(passed + 3, passed);
    }

    /** Forgets cached locations. */
    void coolDown()
    {
        expireLocations();
        engine.epochs().forgetLocations();
    }

    /** Lets epochs pass until retired blocks are free again. */
    void reuseBlocks()
    {
        while (engine.allocator(NODE).quarantinedBytes() > 0)
        {
            expireLocations();
        }
    }

    /** Where values of GETs go; null: they are left where they arrived. */
    void target(final MemorySegment segment)
    {
        target = segment;
    }

    /** Begins an operation; the value is what is stored, or null. */
    void begin(
        final int kind, final OpenTable table, final MemorySegment key, final MemorySegment value, final long operand)
    {
        // A caller reads its clock once a duty cycle, not once an operation.
        if (begun++ % OPERATIONS_PER_DEADLINE == 0)
        {
            deadlineNs = client.clock().nanoTime() + TIMEOUT_NS;
        }
        request.of(kind, table, deadlineNs, 0).key(key, 0, (int)key.byteSize()).expectedVersion(operand).delta(operand);
        if (OperationKind.takesValue(kind))
        {
            request.value(value, 0, (int)value.byteSize());
        }
        if (!engine.begin(request))
        {
            throw new IllegalStateException("no free operation slot");
        }
    }

    /** Runs one operation to its end. @return its result. */
    int run(
        final int kind, final OpenTable table, final MemorySegment key, final MemorySegment value, final long operand)
    {
        final long before = completed;
        begin(kind, table, key, value, operand);
        await(before + 1);
        return lastResult;
    }

    /** Waits until so many operations have ended since the beginning. */
    void await(final long count)
    {
        while (completed < count)
        {
            client.poll();
            pollMirror();
            if (completed < count)
            {
                engine.poll();
            }
            turn.run();
        }
    }

    long completed()
    {
        return completed;
    }

    /** @return something of the value that was copied out last. */
    long seen()
    {
        return target == null ? 0 : target.get(ValueLayout.JAVA_LONG, 0);
    }

    long lastVersion()
    {
        return lastVersion;
    }

    int lastResult()
    {
        return lastResult;
    }

    int lastRoundTrips()
    {
        return lastRoundTrips;
    }

    /** @return most round trips of an operation since the last call. */
    int mostRoundTrips()
    {
        final int most = mostRoundTrips;
        mostRoundTrips = 0;
        return most;
    }

    /** Done whenever the engine was polled, while operations are awaited. */
    void onTurn(final Runnable work)
    {
        turn = work;
    }

    /** Counts round trips of operations that end from now on; null: no more. */
    void countRoundTrips(final RoundTripCounts counts)
    {
        roundTripCounts = counts;
    }

    /** @return the engine's time. */
    long nowNs()
    {
        return client.clock().nanoTime();
    }

    @Override
    public void onOperationComplete(final Operation operation)
    {
        completed++;
        if (roundTripCounts != null)
        {
            roundTripCounts.add(operation.kind(), operation.roundTrips());
        }
        lastResult = operation.result();
        lastVersion = operation.version();
        lastRoundTrips = operation.roundTrips();
        mostRoundTrips = Math.max(mostRoundTrips, lastRoundTrips);
        if (target != null && operation.valueLength() > 0)
        {
            operation.copyValueTo(target, 0);
        }
    }

    @Override
    public void close()
    {
        for (final VirtualQp member : members)
        {
            member.close();
        }
        if (null != mirror)
        {
            mirror.close();
        }
        engine.close();
        extras.forEach(Runnable::run);
        client.close();
        rpcServers.forEach(RpcServer::close);
        regions.forEach(MemoryRegion::close);
        server.close();
        clientDevice.close();
        serverDevice.close();
        fabric.close();
        try
        {
            Files.deleteIfExists(directory);
        }
        catch (final IOException ex)
        {
            throw new IllegalStateException("cannot remove " + directory, ex);
        }
    }
}
