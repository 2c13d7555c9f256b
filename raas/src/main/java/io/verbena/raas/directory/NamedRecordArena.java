package io.verbena.raas.directory;

import org.agrona.ExpandableArrayBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.BitSet;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The writing side of the named part of a view: records in units of a fixed length of memory. One thread. */
final class NamedRecordArena
{
    /** Stands in the checksum while the rest of a record changes; to a reader a checksum that does not hold. */
    static final long CHANGING = -1L;

    private static final int UNIT = NamedRecordDescriptor.UNIT_BYTES;

    private record Extent(int firstUnit, int units)
    {
    }

    private final UnsafeBuffer view;
    private final int offset;
    private final int capacityUnits;
    private final BitSet isTaken = new BitSet();
    private final Map<String, Extent> extents = new HashMap<>();
    private final Set<String> outside = new LinkedHashSet<>();
    private final ExpandableArrayBuffer scratch = new ExpandableArrayBuffer();
    private long sum;

    NamedRecordArena(final UnsafeBuffer view, final int offset, final int lengthBytes)
    {
        this.view = view;
        this.offset = offset;
        capacityUnits = lengthBytes / UNIT;
    }

    /** Bytes up to the end of the last record. */
    int usedBytes()
    {
        return isTaken.length() * UNIT;
    }

    /** Sum of the checksums of all records. */
    long sum()
    {
        return sum;
    }

    /** How many records there is no room for. */
    int outside()
    {
        return outside.size();
    }

    List<String> namesOutside()
    {
        return List.copyOf(outside);
    }

    /** Stores a record in the place of the one of its name; false when there is no room: then there is none. */
    boolean put(final NamedRecord record)
    {
        final Extent before = extents.remove(record.name());
        final int units = NamedRecordDescriptor.lengthBytes(record) / UNIT;
        final int firstUnit = freeUnits(units);
        final boolean hasRoom = firstUnit + units <= capacityUnits;
        if (hasRoom)
        {
            outside.remove(record.name());
            isTaken.set(firstUnit, firstUnit + units);
            extents.put(record.name(), new Extent(firstUnit, units));
            NamedRecordDescriptor.encode(record, scratch, 0);
            store(firstUnit, units);
        }
        else
        {
            outside.add(record.name());
        }
        clear(before);
        return hasRoom;
    }

    /** Removes a record, if there is one; true when it had a place. */
    boolean remove(final String name)
    {
        outside.remove(name);
        final Extent extent = extents.remove(name);
        clear(extent);
        return extent != null;
    }

    private int freeUnits(final int units)
    {
        int first = isTaken.nextClearBit(0);
        int next = isTaken.nextSetBit(first);
        while (next >= 0 && next - first < units)
        {
            first = isTaken.nextClearBit(next);
            next = isTaken.nextSetBit(first);
        }
        return first;
    }

    private void clear(final Extent extent)
    {
        if (extent != null)
        {
            isTaken.clear(extent.firstUnit(), extent.firstUnit() + extent.units());
            scratch.setMemory(0, extent.units() * UNIT, (byte)0);
            store(extent.firstUnit(), extent.units());
        }
    }

    /** The checksum last, and a mark in its place meanwhile, as a node's record is stored. */
    private void store(final int firstUnit, final int units)
    {
        final int at = offset + firstUnit * UNIT;
        final long before = view.getLong(at, ByteOrder.LITTLE_ENDIAN);
        view.putLongVolatile(at, CHANGING);
        VarHandle.storeStoreFence();
        view.putBytes(at + Long.BYTES, scratch, Long.BYTES, units * UNIT - Long.BYTES);
        VarHandle.releaseFence();
        view.putLongVolatile(at, scratch.getLong(0, ByteOrder.nativeOrder()));
        sum += view.getLong(at, ByteOrder.LITTLE_ENDIAN) - before;
    }
}
