package io.verbena.compute;

import io.verbena.compute.catalog.CatalogWatch;
import io.verbena.compute.catalog.TableRegistry;
import io.verbena.compute.catalog.ViewWatch;
import io.verbena.compute.figures.ReclaimCounters;
import io.verbena.compute.figures.UnexpectedFailures;
import io.verbena.compute.group.GroupLinks;
import io.verbena.compute.group.LinkedChunks;
import io.verbena.compute.memory.IndexReturns;
import io.verbena.compute.memory.MemoryLink;
import io.verbena.compute.memory.MemoryLinks;
import io.verbena.compute.session.RequestNumbers;
import io.verbena.compute.session.SessionParts;
import io.verbena.protocol.control.MemoryNodeDispatcher;
import io.verbena.protocol.control.MemoryNodeService;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.TablePage;
import io.verbena.raas.Admission;
import io.verbena.raas.RaasConfiguration;
import io.verbena.raas.RaasContext;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.directory.NodeRole;
import io.verbena.raas.directory.PeerRecord;
import io.verbena.rdma.sim.SimNode;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.table.TableEngine;
import io.verbena.table.TableEngineConfiguration;
import io.verbena.table.format.ChunkDescriptor;
import io.verbena.table.format.Superblock;
import io.verbena.table.format.SuperblockDescriptor;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.List;
import java.util.function.Function;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * The link of a compute node to one memory node, with an engine, in virtual time: the memory node is a region with the
 * chunk headers that a test writes, and answers calls as it says. The meta server is a {@link MetaRig}.
 */
public final class MemoryRig implements AutoCloseable
{
    public static final int MEMORY_NODE = 2;
    public static final int CHUNKS = 4;
    public static final int CHUNK_BYTES = 64 << 10;
    /** Owner of chunks that has ended. */
    public static final int ENDED_NODE = 9;
    private static final int PORT = 1;
    private static final long HEADERS_OFFSET = SuperblockDescriptor.SPACE_BYTES + (long)CHUNKS * CHUNK_BYTES;
    private static final long REGION_BYTES = HEADERS_OFFSET + (long)CHUNKS * ChunkDescriptor.HEADER_BYTES;

    public final MetaRig meta = new MetaRig();
    public final TableEngine engine;
    public final SessionParts parts;
    public final IndexReturns returns = new IndexReturns(meta.link::retryBackoff);
    private final MemoryLinks links = new MemoryLinks("compute-1", CHUNKS);
    public final UnexpectedFailures failures = new UnexpectedFailures(meta.world.clock());
    public final LinkedChunks chunks = new LinkedChunks(
        links.byId(), new GroupLinks(links, failures, 1 << 30), returns);
    private final CatalogWatch catalog;
    private final Script script = new Script();
    private final int memoryNodeId;
    private final SimNode memoryNode;
    private RaasContext memory;
    private MemoryRegion region;
    private MemoryRegion local;
    private long viewVersion;
    private long leaseEndsNs = Long.MAX_VALUE;
    private boolean holdsLease = true;
    private long epoch = MetaRig.REGISTRATION.epoch();

    /** The memory node listens, and is not registered at the meta server yet; nothing runs. */
    public MemoryRig()
    {
        this(MEMORY_NODE);
    }

    /** @param memoryNodeId of the memory node. */
    public MemoryRig(final int memoryNodeId)
    {
        this.memoryNodeId = memoryNodeId;
        meta.registered();
        meta.raas.identity(MetaRig.REGISTRATION.identity());
        meta.answer("tables", (arguments) -> new TablePage(List.of(), false));
        memoryNode = meta.world.addNode("memory");
        start();
        memoryNode.addAgent(agent());
        engine = TableEngine.open(meta.raas.protectionDomain(), meta.raas.device().attributes(), meta.world.clock(),
            new TableEngineConfiguration().operationSlots(1).locationCacheEntries(0).initialEpoch(epoch)
                .operationListener((operation) -> { }).chunkSource(chunks));
        final TableRegistry tables =
            new TableRegistry(meta.link, engine::openTable, () -> 0, MetaRig.TIMEOUT_NS, failures);
        catalog = new CatalogWatch(meta.link, tables, MetaRig.TIMEOUT_NS, failures);
        catalog.onHeard(epoch, MetaRig.REGISTRATION.membershipVersion());
        parts = new SessionParts(meta.raas, meta.link, engine, MetaRig.REGISTRATION.identity(), new RequestNumbers(),
            catalog, new ViewWatch(meta.link, catalog, meta.nowNs(), MetaRig.TIMEOUT_NS, chunks.groups()::onView),
            new ReclaimCounters(), () -> holdsLease, () -> leaseEndsNs, MetaRig.TIMEOUT_NS, true);
    }

    private Agent agent()
    {
        return new Agent()
        {
            @Override
            public int doWork()
            {
                return null == memory ? 0 : memory.poll();
            }

            @Override
            public String roleName()
            {
                return "memory";
            }
        };
    }

    /** The lease is over, and nobody has noticed yet. */
    public void loseLease()
    {
        holdsLease = false;
    }

    /** The lease ends then; who renews it notifies the links. */
    public void leaseEndsAt(final long endsNs)
    {
        leaseEndsNs = endsNs;
    }

    /** Begins to connect, and runs the duty cycle of a session without its lease. */
    public MemoryLink connect()
    {
        links.add(parts, memoryNodeId);
        meta.run((nowNs) -> link().poll(nowNs) + engine.poll(nowNs) + catalog.poll(nowNs) +
            returns.poll(parts, links.byId(), nowNs));
        return link();
    }

    /** @return the links of the node, of which there is one after {@link #connect}. */
    public MemoryLinks links()
    {
        return links;
    }

    /** @return what {@link #connect} began. */
    public MemoryLink link()
    {
        return links.byId().get(memoryNodeId);
    }

    /** Begins to connect to a memory node that is registered, and waits until it can be used. */
    public MemoryLink reach()
    {
        register();
        final MemoryLink link = connect();
        meta.runUntil(() -> link.isReady() && link.maintenance().isConnected());
        return link;
    }

    /** The memory node is registered at the meta server. */
    public void register()
    {
        register(1);
    }

    /** It is registered as an incarnation, with the memory that it has. */
    public void register(final int incarnation)
    {
        superblock(incarnation);
        publish(incarnation);
    }

    /** It is registered as an incarnation, of which its memory does not know. */
    public void publish(final int incarnation)
    {
        meta.view.publish(new PeerRecord(memoryNodeId, incarnation, 1, NodeRole.MEMORY_NODE,
            memoryNode.device().address(), PORT, RemoteRegion.of(region)));
    }

    private void superblock(final int incarnation)
    {
        SuperblockDescriptor.writeBoth(region.segment(), new Superblock(memoryNodeId, incarnation, REGION_BYTES,
            SuperblockDescriptor.SPACE_BYTES, CHUNK_BYTES, CHUNKS, HEADERS_OFFSET));
    }

    /** The memory node starts, with free chunks. */
    public void start()
    {
        memory = RaasContext.open(memoryNode.device(), new RaasConfiguration());
        region = memory.protectionDomain().allocateRegistered(REGION_BYTES, AccessFlags.ALL_REMOTE);
        superblock(1);
        for (int i = 0; i < CHUNKS; i++)
        {
            chunk(i, ChunkDescriptor.STATE_FREE, 0, 0);
        }
        final MemoryRegion served = region;
        memory.serve(PORT, (caller, source) -> Admission.accept(AccessFlags.ALL_REMOTE, new byte[0], served),
            new MemoryNodeDispatcher(script.service(MemoryNodeService.class)));
    }

    /** The memory node ends, and its memory with it. */
    public void stop()
    {
        region.close();
        memory.close();
        memory = null;
    }

    /** The memory node says that its memory was restored from a checkpoint while a node of an incarnation lived. */
    public void restored(final long incarnation)
    {
        SuperblockDescriptor.writeRestored(region.segment(), incarnation);
    }

    /** Changes the header of a chunk; it belongs to an incarnation 1 of its owner if that is another node. */
    public void chunk(final int index, final int state, final int ownerNodeId, final long requestId)
    {
        final int incarnation = 0 == ownerNodeId ? 0 :
            ownerNodeId == MetaRig.REGISTRATION.nodeId() ? MetaRig.REGISTRATION.incarnation() : 1;
        ChunkDescriptor.write(header(index), 0, state, ownerNodeId, incarnation, 0, 0, index + 1, requestId);
        SuperblockDescriptor.writeViewVersion(region.segment(), ++viewVersion);
    }

    /** Gives a chunk to an index that a group has leased. */
    public void groupIndex(final int index, final int group, final long view, final long count)
    {
        ChunkDescriptor.write(
            header(index), 0, ChunkDescriptor.STATE_INDEX, 0, 0, 0, 0, index + 1, 0, group, view, count);
        SuperblockDescriptor.writeViewVersion(region.segment(), ++viewVersion);
    }

    private UnsafeBuffer header(final int index)
    {
        return new UnsafeBuffer(region.segment().address() + HEADERS_OFFSET +
            (long)index * ChunkDescriptor.HEADER_BYTES, ChunkDescriptor.HEADER_BYTES);
    }

    /** @return offset of a chunk in the region. */
    public static long offset(final int index)
    {
        return SuperblockDescriptor.SPACE_BYTES + (long)index * CHUNK_BYTES;
    }

    /** So many epochs later; all nodes have passed what they can. */
    public void pass(final long epochs)
    {
        epoch += epochs;
        engine.onEpoch(epoch, epoch - 1);
        catalog.onHeard(epoch, catalog.heardVersion());
    }

    /** The epoch goes on, and some node passes none. */
    public void passNothing()
    {
        engine.onEpoch(++epoch, 0);
        catalog.onHeard(epoch, catalog.heardVersion());
    }

    /** A heartbeat brings a new version of the cluster. */
    public void newVersion()
    {
        catalog.onHeard(epoch, catalog.heardVersion() + 1);
    }

    /** Says how the memory node answers a method from now on. */
    public void answer(final String method, final Function<Object[], Object> answer)
    {
        script.answer(method, answer);
    }

    /** Has the memory node answer a method with a failure from now on. */
    public void refuse(final String method, final ControlStatus status)
    {
        script.refuse(method, status);
    }

    /** @return memory of the compute node, to read to. */
    public MemoryRegion local()
    {
        if (null == local)
        {
            local = meta.raas.protectionDomain().allocateRegistered(64, AccessFlags.LOCAL_WRITE);
        }
        return local;
    }

    /** @return a word of its memory. */
    public long word(final long offset)
    {
        return new UnsafeBuffer(region.segment().address() + offset, Long.BYTES).getLong(0, LITTLE_ENDIAN);
    }

    /** @return how often the memory node was asked for something. */
    public long count(final String method)
    {
        return script.count(method);
    }

    @Override
    public void close()
    {
        links.all().forEach(MemoryLink::close);
        engine.close();
        if (null != local)
        {
            local.close();
        }
        if (null != memory)
        {
            stop();
        }
        meta.close();
    }
}
