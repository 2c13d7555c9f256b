package io.verbena.raas.directory;

import io.verbena.rdma.verbs.MemoryRegion;
import org.agrona.collections.Int2IntHashMap;
import org.agrona.concurrent.UnsafeBuffer;

import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.BitSet;
import java.util.List;

/**
 * The writing side of the view: owns a registered region with the records of all nodes, once in a list and once where
 * their numbers say, and with named records, and publishes so that a reader that catches a change halfway can tell. One
 * thread.
 */
public final class DirectoryView implements AutoCloseable
{
    private static final int ABSENT = -1;

    private final int capacity;
    private final int namedRoomBytes;
    private final UnsafeBuffer view;
    private final NamedRecordArena named;
    private final UnsafeBuffer scratch = new UnsafeBuffer(new byte[PeerRecordDescriptor.RECORD_LENGTH_BYTES]);
    private final Int2IntHashMap placeOfNode = new Int2IntHashMap(ABSENT);
    private final Int2IntHashMap listPlaceOfNode = new Int2IntHashMap(ABSENT);
    private final boolean[] isTaken;
    private final BitSet isListed = new BitSet();
    private long membershipVersion;
    private long sum;

    /**
     * @param region         zeroed, readable by peers, {@link #regionLengthBytes} long; the caller closes it.
     * @param capacity       places of the list and first places of windows, a power of two; twice the nodes expected,
     *                       or more.
     * @param namedRoomBytes for named records, 0 or more.
     */
    public DirectoryView(final MemoryRegion region, final int capacity, final int namedRoomBytes)
    {
        if (Integer.bitCount(capacity) != 1 || capacity < 1 ||
            region.lengthBytes() < regionLengthBytes(capacity, namedRoomBytes))
        {
            throw new IllegalArgumentException("a view of " + capacity + " places, a power of two, needs a region of " +
                regionLengthBytes(capacity, namedRoomBytes) + " bytes; it has " + region.lengthBytes());
        }
        this.capacity = capacity;
        this.namedRoomBytes = namedRoomBytes;
        view = new UnsafeBuffer(region.segment().address(), (int)regionLengthBytes(capacity, namedRoomBytes));
        isTaken = new boolean[DirectoryViewDescriptor.places(capacity)];
        named = new NamedRecordArena(view, (int)DirectoryViewDescriptor.namedOffset(capacity), namedRoomBytes);
        storeHeader();
    }

    /**
     * @param capacity       places of the list and first places of windows, a power of two.
     * @param namedRoomBytes for named records.
     * @return length of the region that such a view needs.
     */
    public static long regionLengthBytes(final int capacity, final int namedRoomBytes)
    {
        return DirectoryViewDescriptor.regionLengthBytes(capacity, namedRoomBytes);
    }

    /** @return what a reader that connects now gets: private data for {@link io.verbena.raas.Admission#accept}. */
    public byte[] privateData()
    {
        return DirectoryViewDescriptor.encodePrivateData(
            capacity, isListed.length(), named.usedBytes(), namedRoomBytes);
    }

    /**
     * Publishes a node, replacing its record.
     *
     * @param record of the node.
     * @return false when the view has no room for it: open one with more capacity.
     */
    public boolean publish(final PeerRecord record)
    {
        final int nodeId = record.nodeId();
        if (placeOfNode.get(nodeId) == ABSENT)
        {
            final int place = freePlace(nodeId);
            final int listPlace = isListed.nextClearBit(0);
            if (place == ABSENT || listPlace >= capacity)
            {
                return false;
            }
            placeOfNode.put(nodeId, place);
            isTaken[place] = true;
            listPlaceOfNode.put(nodeId, listPlace);
            isListed.set(listPlace);
        }
        PeerRecordDescriptor.encode(record, scratch, 0);
        store(placeOfNode.get(nodeId), listPlaceOfNode.get(nodeId));
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
        final int listPlace = listPlaceOfNode.remove(nodeId);
        isTaken[place] = false;
        isListed.clear(listPlace);
        scratch.setMemory(0, PeerRecordDescriptor.RECORD_LENGTH_BYTES, (byte)0);
        store(place, listPlace);
        return true;
    }

    /**
     * Publishes a named record, replacing the one of this name.
     *
     * @param record to show.
     * @return false when the view has no room for it: then it shows none of this name, and how many it does not show.
     */
    public boolean publish(final NamedRecord record)
    {
        final boolean hasRoom = named.put(record);
        storeHeader();
        return hasRoom;
    }

    /**
     * Removes a named record, if there is one.
     *
     * @param name of it.
     * @return whether the view showed it.
     */
    public boolean remove(final String name)
    {
        final boolean wasShown = named.remove(name);
        storeHeader();
        return wasShown;
    }

    /** @return whether there are names that were published, and for which there is no room. */
    public boolean hasNamesOutside()
    {
        return named.outside() > 0;
    }

    /** @return names that were published, and for which there is no room; a copy. */
    public List<String> namesOutside()
    {
        return named.namesOutside();
    }

    /** @return bytes of named records, with gaps between them. */
    public int namedBytes()
    {
        return named.usedBytes();
    }

    /**
     * Says of which membership the list is. Call it behind the changes that lead to this version and before anybody
     * can hear of it: who has heard of a version finds its nodes in every list of this or a later version.
     *
     * @param version of the membership; never less than before.
     */
    public void membershipVersion(final long version)
    {
        if (version != membershipVersion)
        {
            membershipVersion = version;
            storeHeader();
        }
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

    /** The header changes last, so a list that adds up to it is at least as new as what it says. */
    private void store(final int place, final int listPlace)
    {
        store((int)DirectoryViewDescriptor.windowOffset(place, capacity));
        final int listOffset = DirectoryViewDescriptor.listOffset(listPlace);
        final long before = view.getLong(listOffset + PeerRecordDescriptor.CHECKSUM_OFFSET, ByteOrder.LITTLE_ENDIAN);
        store(listOffset);
        sum += view.getLong(listOffset + PeerRecordDescriptor.CHECKSUM_OFFSET, ByteOrder.LITTLE_ENDIAN) - before;
        storeHeader();
    }

    private void storeHeader()
    {
        DirectoryHeaderDescriptor.encode(isListed.length(), membershipVersion, sum, named.usedBytes(), named.outside(),
            named.sum(), scratch, 0);
        store(0);
    }

    /** Header and records alike: a checksum over what is behind it. */
    private void store(final int offset)
    {
        final int body = PeerRecordDescriptor.VERSION_OFFSET;
        view.putLongVolatile(offset + PeerRecordDescriptor.CHECKSUM_OFFSET, NamedRecordArena.CHANGING);
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
