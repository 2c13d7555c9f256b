package io.verbena.raas.directory;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;
import org.agrona.BitUtil;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Where the header and the list of a view are read to, and what a READ of them says. Grows with the list. */
final class ListBuffer
{
    /** Places read beyond those known to be in use: nodes that joined since cost no second READ. */
    private static final int SPARE_PLACES = 16;
    /** READs are made of this many bytes at least, a whole packet of most networks. */
    private static final int LEAST_BYTES = 4096;

    private final ProtectionDomain protectionDomain;
    private final List<MemoryRegion> outgrown = new ArrayList<>();
    private MemoryRegion region;
    private UnsafeBuffer buffer;
    private int known;
    private int readBytes;

    ListBuffer(final ProtectionDomain protectionDomain)
    {
        this.protectionDomain = protectionDomain;
        allocate(LEAST_BYTES);
    }

    private void allocate(final int lengthBytes)
    {
        region = protectionDomain.allocateRegistered(lengthBytes, AccessFlags.LOCAL_WRITE);
        buffer = new UnsafeBuffer(region.segment().address(), lengthBytes);
    }

    /**
     * Makes room for a READ.
     *
     * @param listed   places known to be in use, by what the owner said at connect.
     * @param capacity places of the list.
     * @return bytes to read from the beginning of the view.
     */
    int prepare(final int listed, final int capacity)
    {
        known = Math.max(known, listed);
        final int places = Math.min(known + SPARE_PLACES, capacity);
        final int wholeBytes = DirectoryViewDescriptor.listOffset(capacity);
        readBytes = Math.min(wholeBytes, BitUtil.align(DirectoryViewDescriptor.listOffset(places), LEAST_BYTES));
        if (readBytes > region.lengthBytes())
        {
            // A READ over a connection that broke may have used it; together these are shorter than the new one.
            outgrown.add(region);
            allocate(BitUtil.findNextPositivePowerOfTwo(readBytes));
        }
        return readBytes;
    }

    MemoryRegion region()
    {
        return region;
    }

    /** Those that are closed when the connection is. */
    List<MemoryRegion> regions()
    {
        final List<MemoryRegion> all = new ArrayList<>(outgrown);
        all.add(region);
        return all;
    }

    /** Decides a listing by what was read, or leaves it PENDING, to be read again. */
    void decide(final PeerListing listing)
    {
        if (!DirectoryHeaderDescriptor.isValid(buffer, 0))
        {
            listing.onTorn();
            return;
        }
        final int version = DirectoryHeaderDescriptor.version(buffer, 0);
        if (version != DirectoryHeaderDescriptor.VERSION)
        {
            listing.fail("the directory's header has version " + version + ", this node knows version " +
                DirectoryHeaderDescriptor.VERSION + ": update the older of the two");
            return;
        }
        known = DirectoryHeaderDescriptor.listed(buffer, 0);
        if (DirectoryViewDescriptor.listOffset(known) > readBytes)
        {
            listing.onShort();
        }
        else if (DirectoryHeaderDescriptor.membershipVersion(buffer, 0) < listing.leastVersion())
        {
            listing.onStale();
        }
        else
        {
            collect(listing);
        }
    }

    private void collect(final PeerListing listing)
    {
        final List<PeerRecord> records = new ArrayList<>(known);
        long sum = 0;
        for (int place = 0; place < known; place++)
        {
            final int offset = DirectoryViewDescriptor.listOffset(place);
            if (PeerRecordDescriptor.isEmpty(buffer, offset))
            {
                continue;
            }
            if (!PeerRecordDescriptor.isValid(buffer, offset))
            {
                listing.onTorn();
                return;
            }
            sum += PeerRecordDescriptor.checksum(buffer, offset);
            final PeerRecord record = PeerRecordDescriptor.decode(buffer, offset);
            final String problem = PeerRecordDescriptor.problem(buffer, offset);
            if (!problem.isEmpty())
            {
                listing.fail("node " + record.nodeId() + ": " + problem);
                return;
            }
            records.add(record);
        }
        if (sum != DirectoryHeaderDescriptor.sum(buffer, 0))
        {
            listing.onTorn();
            return;
        }
        records.sort(Comparator.comparingInt(PeerRecord::nodeId));
        listing.listed(DirectoryHeaderDescriptor.membershipVersion(buffer, 0), List.copyOf(records));
    }
}
