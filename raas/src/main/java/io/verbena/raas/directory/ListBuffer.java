package io.verbena.raas.directory;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;
import org.agrona.BitUtil;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Where a view's header, list and named records are read to, and what is there then. Grows with the view. */
final class ListBuffer
{
    /** Places read beyond those known to be in use: nodes that joined since cost no second READ. */
    private static final int SPARE_PLACES = 16;
    /** Bytes of named records read beyond those known to be in use. */
    private static final int SPARE_NAMED_BYTES = 2048;
    /** READs are made of this many bytes at least, a whole packet of most networks. */
    private static final int LEAST_BYTES = 4096;

    private final ProtectionDomain protectionDomain;
    private final List<MemoryRegion> outgrown = new ArrayList<>();
    private MemoryRegion region;
    private UnsafeBuffer buffer;
    private int known;
    private int readBytes;
    private int knownNamed;
    private int readNamedBytes;

    ListBuffer(final ProtectionDomain protectionDomain)
    {
        this.protectionDomain = protectionDomain;
        allocate(2 * LEAST_BYTES);
    }

    private void allocate(final int lengthBytes)
    {
        region = protectionDomain.allocateRegistered(lengthBytes, AccessFlags.LOCAL_WRITE);
        buffer = new UnsafeBuffer(region.segment().address(), lengthBytes);
    }

    /**
     * Decides how much to read, and makes room for it.
     *
     * @param privateData what the owner said at connect.
     * @param isOfNamed   whether named records are read, too.
     */
    void prepare(final byte[] privateData, final boolean isOfNamed)
    {
        final int capacity = DirectoryViewDescriptor.capacity(privateData);
        known = Math.max(known, DirectoryViewDescriptor.listed(privateData));
        final int places = Math.min(known + SPARE_PLACES, capacity);
        readBytes = Math.min(DirectoryViewDescriptor.listOffset(capacity),
            BitUtil.align(DirectoryViewDescriptor.listOffset(places), LEAST_BYTES));
        knownNamed = Math.max(knownNamed, DirectoryViewDescriptor.namedBytes(privateData));
        readNamedBytes = !isOfNamed ? 0 : Math.min(DirectoryViewDescriptor.namedRoomBytes(privateData),
            BitUtil.align(knownNamed + SPARE_NAMED_BYTES, LEAST_BYTES));
        if (readBytes + readNamedBytes > region.lengthBytes())
        {
            // A READ over a connection that broke may have used it; together these are shorter than the new one.
            outgrown.add(region);
            allocate(BitUtil.findNextPositivePowerOfTwo(readBytes + readNamedBytes));
        }
    }

    /** Bytes to read from the beginning of the view to the beginning of the region. */
    int readBytes()
    {
        return readBytes;
    }

    /** Bytes of named records to read behind them; 0 where there are none. */
    int readNamedBytes()
    {
        return readNamedBytes;
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
        knownNamed = DirectoryHeaderDescriptor.namedBytes(buffer, 0);
        if (DirectoryViewDescriptor.listOffset(known) > readBytes ||
            listing.isOfNamed() && knownNamed > readNamedBytes)
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
        if (listing.isOfNamed())
        {
            collectNamed(listing, records);
        }
        else
        {
            listed(listing, records, List.of());
        }
    }

    private void collectNamed(final PeerListing listing, final List<PeerRecord> records)
    {
        final List<NamedRecord> named = new ArrayList<>();
        final int limit = readBytes + knownNamed;
        long sum = 0;
        int offset = readBytes;
        while (offset < limit)
        {
            if (NamedRecordDescriptor.isFree(buffer, offset))
            {
                offset += NamedRecordDescriptor.UNIT_BYTES;
                continue;
            }
            if (!NamedRecordDescriptor.isValid(buffer, offset, limit))
            {
                listing.onTorn();
                return;
            }
            final String problem = NamedRecordDescriptor.problem(buffer, offset);
            if (!problem.isEmpty())
            {
                listing.fail(problem);
                return;
            }
            sum += NamedRecordDescriptor.checksum(buffer, offset);
            named.add(NamedRecordDescriptor.decode(buffer, offset));
            offset += NamedRecordDescriptor.lengthBytes(buffer, offset);
        }
        if (sum != DirectoryHeaderDescriptor.namedSum(buffer, 0))
        {
            listing.onTorn();
            return;
        }
        named.sort(Comparator.comparing(NamedRecord::name));
        listed(listing, records, named);
    }

    private void listed(final PeerListing listing, final List<PeerRecord> records, final List<NamedRecord> named)
    {
        listing.listed(DirectoryHeaderDescriptor.membershipVersion(buffer, 0), List.copyOf(records),
            List.copyOf(named), DirectoryHeaderDescriptor.namedOutside(buffer, 0));
    }
}
