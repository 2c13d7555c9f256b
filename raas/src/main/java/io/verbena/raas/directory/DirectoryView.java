package io.verbena.raas.directory;

import io.verbena.rdma.verbs.MemoryRegion;
import org.agrona.collections.Int2IntHashMap;
import org.agrona.concurrent.UnsafeBuffer;

import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * The writing side of the view: owns a registered region with a record for each node, and publishes so that a reader
 * that catches a record halfway can tell. One thread.
 */
public final class DirectoryView implements AutoCloseable
{
    private static final int ABSENT = -1;
    /** Stands in the checksum while the rest of a record changes; to a reader a checksum that does not hold. */
    private static final long CHANGING = -1L;

    private final int capacity;
    private final UnsafeBuffer view;
    private final UnsafeBuffer scratch = new UnsafeBuffer(new byte[PeerRecordDescriptor.RECORD_LENGTH_BYTES]);
    private final Int2IntHashMap placeOfNode = new Int2IntHashMap(ABSENT);
    private final boolean[] isTaken;

    /**
     * @param region   zeroed, readable by peers, {@link #regionLengthBytes(int)} long; the caller closes it.
     * @param capacity first places of windows, a power of two; twice the nodes expected, or more.
     */
    public DirectoryView(final MemoryRegion region, final int capacity)
    {
        if (Integer.bitCount(capacity) != 1 || capacity < 1 || region.lengthBytes() < regionLengthBytes(capacity))
        {
            throw new IllegalArgumentException("a view of " + capacity + " places, a power of two, needs a region of " +
                regionLengthBytes(capacity) + " bytes; it has " + region.lengthBytes());
        }
        this.capacity = capacity;
        view = new UnsafeBuffer(region.segment().address(), (int)regionLengthBytes(capacity));
        isTaken = new boolean[DirectoryViewDescriptor.places(capacity)];
    }

    /**
     * @param capacity first places of windows, a power of two.
     * @return length of the region that a view of this capacity needs.
     */
    public static long regionLengthBytes(final int capacity)
    {
        return DirectoryViewDescriptor.regionLengthBytes(capacity);
    }

    /** @return what readers get at connect: private data for {@link io.verbena.raas.Admission#accept}. */
    public byte[] privateData()
    {
        return DirectoryViewDescriptor.encodePrivateData(capacity);
    }

    /**
     * Publishes a node, replacing its record.
     *
     * @param record of the node.
     * @return false when the view has no room for it: open one with more capacity.
     */
    public boolean publish(final PeerRecord record)
    {
        int place = placeOfNode.get(record.nodeId());
        if (place == ABSENT)
        {
            place = freePlace(record.nodeId());
            if (place == ABSENT)
            {
                return false;
            }
            placeOfNode.put(record.nodeId(), place);
            isTaken[place] = true;
        }
        PeerRecordDescriptor.encode(record, scratch, 0);
        store(place);
        return true;
    }

    /**
     * Removes a node.
     *
     * @param nodeId of the node.
     * @return whether it was there.
     */
    public boolean remove(final int nodeId)
    {
        final int place = placeOfNode.remove(nodeId);
        if (place == ABSENT)
        {
            return false;
        }
        isTaken[place] = false;
        scratch.setMemory(0, PeerRecordDescriptor.RECORD_LENGTH_BYTES, (byte)0);
        store(place);
        return true;
    }

    private int freePlace(final int nodeId)
    {
        final int first = DirectoryViewDescriptor.firstPlace(nodeId, capacity);
        for (int place = first; place < first + DirectoryViewDescriptor.WINDOW; place++)
        {
            if (!isTaken[place])
            {
                return place;
            }
        }
        return ABSENT;
    }

    private void store(final int place)
    {
        final int offset = place * PeerRecordDescriptor.RECORD_LENGTH_BYTES;
        final int body = PeerRecordDescriptor.VERSION_OFFSET;
        view.putLongVolatile(offset + PeerRecordDescriptor.CHECKSUM_OFFSET, CHANGING);
        // The mark is out before the first byte changes, and all bytes before the checksum that vouches for them.
        VarHandle.storeStoreFence();
        view.putBytes(offset + body, scratch, body, PeerRecordDescriptor.RECORD_LENGTH_BYTES - body);
        VarHandle.releaseFence();
        final long checksum = scratch.getLong(PeerRecordDescriptor.CHECKSUM_OFFSET, ByteOrder.nativeOrder());
        view.putLongVolatile(offset + PeerRecordDescriptor.CHECKSUM_OFFSET, checksum);
    }

    /** Forgets the region, which the caller closes. */
    @Override
    public void close()
    {
        view.wrap(0, 0);
    }
}
