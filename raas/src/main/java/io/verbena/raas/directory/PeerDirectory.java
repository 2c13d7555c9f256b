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
 * The reading side: lists all nodes and named records in one round trip of one-sided READs of the view, and finds nodes
 * by number, in the last list or with one READ. What is caught halfway is read again until the deadline. Belongs to the
 * owner thread of its {@link RaasContext}.
 */
public final class PeerDirectory implements AutoCloseable
{
    private static final int MAX_READS_IN_FLIGHT = 8;
    /** Cookie of the READ of a list; the others are indexes of windows. */
    private static final int LIST_COOKIE = MAX_READS_IN_FLIGHT;

    private final RaasContext context;
    private final PeerAddress owner;
    private final long connectTimeoutNs;
    private final MemoryRegion windows;
    private final UnsafeBuffer buffer;
    private final PeerLookup[] reading = new PeerLookup[MAX_READS_IN_FLIGHT];
    private final boolean[] isInFlight = new boolean[MAX_READS_IN_FLIGHT];
    private final List<PeerLookup> pending = new ArrayList<>();
    private final ListBuffer list;
    private final List<PeerListing> listings = new ArrayList<>();
    private PeerListing readingList;
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
        list = new ListBuffer(context.protectionDomain());
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
        readingList = null;
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
        connectAnew();
        pending.add(lookup);
        return lookup;
    }

    /**
     * Lists all nodes and named records, in one round trip; lookups find what was listed.
     *
     * @param leastVersion of the membership: the list shows everything that led to this version, which the caller has
     *                     heard of.
     * @param timeoutNs    after which it has FAILED.
     * @return the listing, decided by later calls of {@link #poll()}.
     */
    public PeerListing list(final long leastVersion, final long timeoutNs)
    {
        return list(true, leastVersion, timeoutNs);
    }

    /**
     * Lists all nodes and no named record, in one round trip; parameters and result as of {@link #list}.
     *
     * @param leastVersion of the membership.
     * @param timeoutNs    after which it has FAILED.
     * @return the listing.
     */
    public PeerListing listNodes(final long leastVersion, final long timeoutNs)
    {
        return list(false, leastVersion, timeoutNs);
    }

    private PeerListing list(final boolean isOfNamed, final long leastVersion, final long timeoutNs)
    {
        final PeerListing listing = new PeerListing(isOfNamed, leastVersion, context.clock().nanoTime() + timeoutNs);
        connectAnew();
        listings.add(listing);
        return listing;
    }

    private void connectAnew()
    {
        if (vqp.state() == VirtualQp.State.FAILED)
        {
            vqp.close();
            connect();
        }
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
        if (pending.isEmpty() && listings.isEmpty())
        {
            return 0;
        }
        final long nowNs = context.clock().nanoTime();
        final String problem = problem();
        return pollLookups(problem, nowNs) + pollListings(problem, nowNs);
    }

    private int pollListings(final String problem, final long nowNs)
    {
        int work = 0;
        for (int i = listings.size() - 1; i >= 0; i--)
        {
            final PeerListing listing = listings.get(i);
            if (listing.state() == PeerListing.State.PENDING)
            {
                work += drive(listing, problem, nowNs);
            }
            if (listing.state() != PeerListing.State.PENDING)
            {
                listings.remove(i);
                work++;
            }
        }
        return work;
    }

    private int drive(final PeerListing listing, final String problem, final long nowNs)
    {
        if (problem != null)
        {
            listing.fail(problem);
        }
        else if (listing.deadlineNs() - nowNs <= 0)
        {
            listing.late();
        }
        else if (readingList == null && vqp.space() > 1)
        {
            return read(listing);
        }
        return 0;
    }

    /** Named records besides, in the same doorbell. */
    private int read(final PeerListing listing)
    {
        final byte[] said = vqp.peerPrivateData();
        final RemoteRegion view = vqp.peerRegions().getFirst();
        list.prepare(said, listing.isOfNamed());
        vqp.begin();
        vqp.read(list.region(), 0, list.readBytes(), view, 0);
        if (list.readNamedBytes() > 0)
        {
            vqp.read(list.region(), list.readBytes(), list.readNamedBytes(), view,
                DirectoryViewDescriptor.namedOffset(DirectoryViewDescriptor.capacity(said)));
        }
        if (vqp.complete(LIST_COOKIE) == PostStatus.OK)
        {
            readingList = listing;
            reads++;
        }
        return 1;
    }

    private int pollLookups(final String problem, final long nowNs)
    {
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
                final long offset = DirectoryViewDescriptor.windowOffset(
                    DirectoryViewDescriptor.firstPlace(lookup.nodeId(), capacity), capacity);
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
        if (slot == LIST_COOKIE)
        {
            onListRead(status);
            return;
        }
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
        final String problem = PeerRecordDescriptor.problem(buffer, offset);
        if (!problem.isEmpty())
        {
            lookup.fail(problem);
            return;
        }
        final PeerRecord record = PeerRecordDescriptor.decode(buffer, offset);
        cache.put(record.nodeId(), record);
        lookup.found(record);
    }

    private void onListRead(final int status)
    {
        final PeerListing listing = readingList;
        readingList = null;
        if (listing.state() == PeerListing.State.PENDING && status == WorkCompletionStatus.SUCCESS)
        {
            list.decide(listing);
        }
        if (listing.state() == PeerListing.State.LISTED)
        {
            remember(listing.records());
        }
        // Otherwise poll() sees that the connection failed.
    }

    /**
     * Nodes that have gone are forgotten, so the cache is no longer than the list. What was cached is not newer than
     * the list: READs of a queue pair are done in their order.
     */
    private void remember(final List<PeerRecord> listed)
    {
        cache.clear();
        listed.forEach(record -> cache.put(record.nodeId(), record));
    }

    /** @return READs made so far; one for a list, though named records are read besides. */
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
            list.regions().forEach(region -> context.retire(vqp, region));
            poll();
        }
    }
}
