package io.verbena.raas.directory;

import io.verbena.raas.PeerAddress;
import io.verbena.raas.RaasContext;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.VirtualQp;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import org.agrona.collections.Int2ObjectHashMap;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.ArrayList;
import java.util.List;

/**
 * The reading side: finds nodes by number, from a cache or with one one-sided READ of the view. A record caught halfway
 * is read again until the deadline. Belongs to the owner thread of its {@link RaasContext}.
 */
public final class PeerDirectory implements AutoCloseable
{
    private static final int MAX_READS_IN_FLIGHT = 8;

    private final RaasContext context;
    private final PeerAddress owner;
    private final long connectTimeoutNs;
    private final MemoryRegion windows;
    private final UnsafeBuffer buffer;
    private final PeerLookup[] reading = new PeerLookup[MAX_READS_IN_FLIGHT];
    private final boolean[] isInFlight = new boolean[MAX_READS_IN_FLIGHT];
    private final List<PeerLookup> pending = new ArrayList<>();
    private final Int2ObjectHashMap<PeerRecord> cache = new Int2ObjectHashMap<>();
    private VirtualQp vqp;
    private long reads;
    private boolean isClosed;

    /**
     * @param context   over which to read; not closed here.
     * @param owner     the node with the view, which grants the view's region first and sends
     *                  {@link DirectoryView#privateData()}.
     * @param timeoutNs for connecting to it.
     */
    public PeerDirectory(final RaasContext context, final PeerAddress owner, final long timeoutNs)
    {
        this.context = context;
        this.owner = owner;
        connectTimeoutNs = timeoutNs;
        final int lengthBytes = MAX_READS_IN_FLIGHT * DirectoryViewDescriptor.WINDOW_LENGTH_BYTES;
        windows = context.protectionDomain().allocateRegistered(lengthBytes, AccessFlags.LOCAL_WRITE);
        buffer = new UnsafeBuffer(windows.segment().address(), lengthBytes);
        connect();
    }

    private void connect()
    {
        // READs of a broken connection are not called back any more once its virtual queue pair is closed.
        for (int slot = 0; slot < MAX_READS_IN_FLIGHT; slot++)
        {
            if (reading[slot] != null)
            {
                reading[slot].isReading(false);
            }
            reading[slot] = null;
            isInFlight[slot] = false;
        }
        vqp = context.connect(owner, this::onRead, connectTimeoutNs);
    }

    /**
     * Looks a node up.
     *
     * @param nodeId      of the node.
     * @param incarnation the life wanted, or 0 for the present one, which the cache may have from before.
     * @param timeoutNs   after which it has FAILED.
     * @return the lookup; already FOUND when cached, otherwise decided by later calls of {@link #poll()}.
     */
    public PeerLookup lookup(final int nodeId, final int incarnation, final long timeoutNs)
    {
        final PeerLookup lookup = new PeerLookup(nodeId, incarnation, context.clock().nanoTime() + timeoutNs);
        final PeerRecord cached = cache.get(nodeId);
        if (cached != null && (incarnation == 0 || incarnation == cached.incarnation()))
        {
            lookup.found(cached);
            return lookup;
        }
        if (vqp.state() == VirtualQp.State.FAILED)
        {
            vqp.close();
            connect();
        }
        pending.add(lookup);
        return lookup;
    }

    /**
     * Forgets one life of a node: after a connection to it failed.
     *
     * @param nodeId      of the node.
     * @param incarnation of the life that failed; a later one stays cached.
     */
    public void forget(final int nodeId, final int incarnation)
    {
        final PeerRecord cached = cache.get(nodeId);
        if (cached != null && cached.incarnation() <= incarnation)
        {
            cache.remove(nodeId);
        }
    }

    /**
     * Drives lookups; call it beside {@link RaasContext#poll()}.
     *
     * @return how much was done.
     */
    public int poll()
    {
        if (pending.isEmpty())
        {
            return 0;
        }
        final long nowNs = context.clock().nanoTime();
        final String problem = problem();
        int work = 0;
        for (int i = pending.size() - 1; i >= 0; i--)
        {
            final PeerLookup lookup = pending.get(i);
            if (lookup.state() == PeerLookup.State.PENDING)
            {
                work += drive(lookup, problem, nowNs);
            }
            if (lookup.state() != PeerLookup.State.PENDING)
            {
                pending.remove(i);
                work++;
            }
        }
        return work;
    }

    /** Why nothing can be read now and later; null while it can. */
    private String problem()
    {
        return switch (vqp.state())
        {
            case READY -> vqp.peerRegions().isEmpty() ? "the peer grants no region: " + owner :
                DirectoryViewDescriptor.problem(vqp.peerPrivateData(), vqp.peerRegions().getFirst().lengthBytes());
            case CONNECTING -> null;
            case FAILED -> vqp.failure();
            case CLOSED -> "the directory is closed";
        };
    }

    private int drive(final PeerLookup lookup, final String problem, final long nowNs)
    {
        if (problem != null)
        {
            lookup.fail(problem);
        }
        else if (lookup.deadlineNs() - nowNs <= 0)
        {
            lookup.fail(lookup.tornReads() > 0 ?
                "its record was changing during each of " + lookup.tornReads() + " READs" : "no answer in time");
        }
        else if (!lookup.isReading() && vqp.space() > 0)
        {
            return read(lookup);
        }
        return 0;
    }

    private int read(final PeerLookup lookup)
    {
        for (int slot = 0; slot < MAX_READS_IN_FLIGHT; slot++)
        {
            if (!isInFlight[slot])
            {
                final RemoteRegion view = vqp.peerRegions().getFirst();
                final int capacity = DirectoryViewDescriptor.capacity(vqp.peerPrivateData());
                final long offset = (long)DirectoryViewDescriptor.firstPlace(lookup.nodeId(), capacity) *
                    PeerRecordDescriptor.RECORD_LENGTH_BYTES;
                final int length = DirectoryViewDescriptor.WINDOW_LENGTH_BYTES;
                vqp.begin();
                vqp.read(windows, (long)slot * length, length, view, offset);
                if (vqp.complete(slot) == PostStatus.OK)
                {
                    isInFlight[slot] = true;
                    reading[slot] = lookup;
                    lookup.isReading(true);
                    reads++;
                }
                return 1;
            }
        }
        return 0;
    }

    private void onRead(final VirtualQp from, final int slot, final int status)
    {
        final PeerLookup lookup = reading[slot];
        isInFlight[slot] = false;
        reading[slot] = null;
        lookup.isReading(false);
        if (lookup.state() == PeerLookup.State.PENDING && status == WorkCompletionStatus.SUCCESS)
        {
            decide(lookup, slot * DirectoryViewDescriptor.WINDOW_LENGTH_BYTES);
        }
        // Otherwise poll() sees that the connection failed.
    }

    private void decide(final PeerLookup lookup, final int windowOffset)
    {
        boolean isTorn = false;
        for (int place = 0; place < DirectoryViewDescriptor.WINDOW; place++)
        {
            final int offset = windowOffset + place * PeerRecordDescriptor.RECORD_LENGTH_BYTES;
            if (PeerRecordDescriptor.isEmpty(buffer, offset))
            {
                continue;
            }
            if (!PeerRecordDescriptor.isValid(buffer, offset))
            {
                isTorn = true;
            }
            else if (PeerRecordDescriptor.nodeId(buffer, offset) == lookup.nodeId())
            {
                onRecord(lookup, offset);
                return;
            }
        }
        if (isTorn)
        {
            // It may be the one looked for: poll() reads again.
            lookup.onTorn();
        }
        else
        {
            lookup.notFound();
        }
    }

    private void onRecord(final PeerLookup lookup, final int offset)
    {
        final int version = PeerRecordDescriptor.version(buffer, offset);
        final PeerRecord record = PeerRecordDescriptor.decode(buffer, offset);
        if (version != PeerRecordDescriptor.VERSION || record.role() == null)
        {
            lookup.fail("its record has version " + version + ", this node knows version " +
                PeerRecordDescriptor.VERSION + ", or its role is unknown: update the older of the two");
            return;
        }
        cache.put(record.nodeId(), record);
        lookup.found(record);
    }

    /** @return READs made so far. */
    public long reads()
    {
        return reads;
    }

    /** Closes the connection to the view; lookups under way fail. */
    @Override
    public void close()
    {
        if (!isClosed)
        {
            isClosed = true;
            context.retire(vqp, windows);
            poll();
        }
    }
}
