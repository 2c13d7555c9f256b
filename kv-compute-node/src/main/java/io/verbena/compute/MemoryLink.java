package io.verbena.compute;

import io.verbena.control.ChunkLease;
import io.verbena.control.ChunkPurpose;
import io.verbena.control.ChunkRun;
import io.verbena.control.ControlCall;
import io.verbena.control.ControlStatus;
import io.verbena.control.MemoryNodeClient;
import io.verbena.raas.RaasContext;
import io.verbena.raas.VirtualQp;
import io.verbena.raas.directory.PeerLookup;
import io.verbena.raas.directory.PeerRecord;
import io.verbena.table.TableEngine;
import io.verbena.table.VirtualQpPort;

/**
 * The connection of a node to one memory node: looked up with a one-sided READ of the meta server's view, connected,
 * attached to the engine, and made anew, after a pause, whenever it breaks. It also leases chunks for the engine. Owned
 * by the node's thread.
 */
final class MemoryLink implements AutoCloseable
{
    private enum State
    {
        LOOKING_UP, CONNECTING, READY, PAUSING
    }

    /** Pause before the first new attempt: 2 ms; each further one twice as long. */
    private static final long MIN_PAUSE_NS = 2_000_000;
    /** Longest pause between attempts: 128 ms. */
    private static final long MAX_PAUSE_NS = 128_000_000;
    /**
     * Most bytes of chunks asked for at a time: 1 MiB. Each lease asks for twice as much as the one before: a node with
     * many writes makes few calls, and one with few does not sit on memory that others need.
     */
    private static final long MAX_LEASE_BYTES = 1 << 20;

    private final RaasContext raas;
    private final MetaLink metaLink;
    private final TableEngine engine;
    private final int memoryNodeId;
    private final long timeoutNs;
    private State state;
    private PeerLookup lookup;
    private PeerRecord record;
    private VirtualQp vqp;
    private MemoryNodeClient client;
    private long retryAtNs;
    private long pauseNs = MIN_PAUSE_NS;
    private String failure = "";
    private ControlCall<ChunkLease> lease;
    private boolean leaseWanted;
    private int leaseChunkCount = 1;
    private int leaseAskedCount;

    MemoryLink(
        final RaasContext raas, final MetaLink metaLink, final TableEngine engine, final int memoryNodeId,
        final long timeoutNs)
    {
        this.raas = raas;
        this.metaLink = metaLink;
        this.engine = engine;
        this.memoryNodeId = memoryNodeId;
        this.timeoutNs = timeoutNs;
        lookUp();
    }

    int memoryNodeId()
    {
        return memoryNodeId;
    }

    boolean isReady()
    {
        return State.READY == state;
    }

    /** @return proxy for calls while {@link #isReady()}. */
    MemoryNodeClient client()
    {
        return client;
    }

    /** @return true while the first attempt since the node was last reached goes on: it may end at any moment. */
    boolean isConnecting()
    {
        return State.READY != state && failure.isEmpty();
    }

    /** @return true while memory for blocks is asked for at a node that can be reached. */
    boolean isLeasing()
    {
        return State.READY == state && null != lease;
    }

    /** @return when a pause ends, or {@link Long#MAX_VALUE} when there is none. */
    long retryAtNs()
    {
        return State.PAUSING == state ? retryAtNs : Long.MAX_VALUE;
    }

    /** Leases memory for blocks as soon as the connection allows; see {@link io.verbena.table.ChunkSource}. */
    void requestChunk()
    {
        leaseWanted = true;
    }

    int poll(final long nowNs)
    {
        return pollLease() + switch (state)
        {
            case LOOKING_UP -> pollLookup(nowNs);
            case CONNECTING -> pollConnect(nowNs);
            case READY -> pollFailed(nowNs);
            case PAUSING -> pollPause(nowNs);
        };
    }

    private void lookUp()
    {
        lookup = metaLink.directory().lookup(memoryNodeId, 0, timeoutNs);
        state = State.LOOKING_UP;
    }

    private int pollLookup(final long nowNs)
    {
        switch (lookup.state())
        {
            case PENDING ->
            {
                return 0;
            }
            case FOUND ->
            {
                record = lookup.record();
                vqp = raas.connect(record.address(), this::onBatchComplete, timeoutNs);
                client = new MemoryNodeClient(raas, vqp);
                state = State.CONNECTING;
            }
            case NOT_FOUND -> pause(nowNs, "memory node is not registered: nodeId=" + memoryNodeId);
            case FAILED -> pause(nowNs, lookup.failure());
        }
        return 1;
    }

    private int pollConnect(final long nowNs)
    {
        if (VirtualQp.State.READY == vqp.state())
        {
            engine.attach(memoryNodeId, new VirtualQpPort(vqp, record.region()));
            failure = "";
            pauseNs = MIN_PAUSE_NS;
            state = State.READY;
            return 1;
        }
        return pollFailed(nowNs);
    }

    private int pollFailed(final long nowNs)
    {
        if (VirtualQp.State.FAILED == vqp.state() && 0 == vqp.outstandingBatches())
        {
            final String why = vqp.failure();
            vqp.close();
            metaLink.directory().forget(memoryNodeId, record.incarnation());
            pause(nowNs, why);
            return 1;
        }
        return 0;
    }

    private void pause(final long nowNs, final String why)
    {
        failure = why;
        retryAtNs = nowNs + pauseNs;
        pauseNs = Math.min(MAX_PAUSE_NS, pauseNs * 2);
        state = State.PAUSING;
    }

    private int pollPause(final long nowNs)
    {
        if (nowNs - retryAtNs >= 0 && metaLink.isUsable())
        {
            lookUp();
            return 1;
        }
        return 0;
    }

    private int pollLease()
    {
        if (null != lease)
        {
            return lease.isDone() ? leaseDone() : 0;
        }
        if (leaseWanted && State.READY == state)
        {
            leaseAskedCount = leaseChunkCount;
            lease = client.leaseChunks(ChunkPurpose.BLOCKS, leaseAskedCount, false, timeoutNs);
            leaseWanted = false;
            return 1;
        }
        return 0;
    }

    private int leaseDone()
    {
        final ControlCall<ChunkLease> ended = lease;
        lease = null;
        if (ControlStatus.OK == ended.status())
        {
            final ChunkLease leased = ended.result();
            leaseChunkCount = (int)Math.clamp(MAX_LEASE_BYTES / leased.chunkLengthBytes(), 1, leaseAskedCount * 2L);
            for (final ChunkRun run : leased.runs())
            {
                engine.chunkLeased(memoryNodeId, run.offset(), (long)run.chunkCount() * leased.chunkLengthBytes());
            }
        }
        else if (ControlStatus.EXHAUSTED == ended.status() && 1 == leaseAskedCount)
        {
            engine.chunkRefused(memoryNodeId);
        }
        else
        {
            // Fewer may be had; and a call that failed on its way says nothing about memory: made again when connected.
            leaseChunkCount = 1;
            leaseWanted = true;
        }
        return 1;
    }

    private void onBatchComplete(final VirtualQp from, final int cookie, final int status)
    {
        engine.onBatchComplete(cookie, status);
    }

    @Override
    public void close()
    {
        if (null != vqp)
        {
            vqp.close();
        }
    }

    @Override
    public String toString()
    {
        return "MemoryLink{memoryNodeId=" + memoryNodeId + ", state=" + state + ", failure=" + failure + '}';
    }
}
