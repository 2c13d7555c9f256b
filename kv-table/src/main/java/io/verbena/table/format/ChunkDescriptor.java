package io.verbena.table.format;

import net.openhft.hashing.LongHashFunction;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * The header of a chunk: who has it. Headers lie one after the other behind the last chunk of a region, where the
 * superblock says.
 *
 * <pre>
 *    0        1        2        3        4        5        6        7
 *  +-----------------------------------+--------+--------+-----------------+
 *  |               magic               | format | state  |      group      |   0
 *  +-----------------------------------+--------+--------+-----------------+
 *  |           owner node id           |         owner incarnation         |   8
 *  +-----------------------------------+-----------------------------------+
 *  |          reaper node id           |        reaper incarnation         |  16
 *  +-----------------------------------+-----------------------------------+
 *  |                              lease number                             |  24
 *  +-----------------------------------------------------------------------+
 *  |                              request id                               |  32
 *  +-----------------------------------------------------------------------+
 *  |                                view                                   |  40
 *  +-----------------------------------------------------------------------+
 *  |                                count                                  |  48
 *  +-----------------------------------------------------------------------+
 *  |                              checksum                                 |  56
 *  +-----------------------------------------------------------------------+
 * </pre>
 *
 * <p>Written by the memory node's CPU only, read by READs that may tear: the checksum is XXH3-64 over the 56 bytes
 * before it. Clients never change a header; they ask the memory node. Stateless.
 *
 * <p>Group, view and count name a lease that all members of a group have recorded; survivors of a group compare them.
 * A header in which all three are 0 has version 1, which builds from before such leases read; else it has version 2.
 */
public final class ChunkDescriptor
{
    /** Name in messages. */
    public static final String NAME = "chunk header";
    public static final int MAGIC = 0x4B484356;
    public static final int FORMAT_VERSION = 2;
    /** Of headers without a group, a view and a count: the bytes of these were reserved, and 0. */
    public static final int UNMIRRORED_VERSION = 1;
    /** Largest number of a group. */
    public static final int MAX_GROUP = 65_535;
    /**
     * Count of a chunk without a group whose header was damaged and replaced: a group's lease may have stood there.
     * More than leases of one chunk, so that a count that cannot be read any more is not recorded again.
     */
    public static final long UNREAD_COUNT = 1L << 40;

    /** Nobody has it. */
    public static final int STATE_FREE = 0;
    /** Blocks: its free parts belong to the owner, and to whoever removed the word of a block in it. */
    public static final int STATE_BLOCKS = 1;
    /** A table's index; the owner is who leased it, 0 once that node has ended. */
    public static final int STATE_INDEX = 2;
    /** Closed: nobody takes a block of it; what no word names goes to the reaper. The owner is the last one. */
    public static final int STATE_ORPHAN = 3;
    /** Its header was damaged: nobody owns, takes, closes or returns it; what words name in it stays readable. */
    public static final int STATE_QUARANTINED = 4;

    public static final int MAGIC_OFFSET = 0;
    public static final int FORMAT_OFFSET = MAGIC_OFFSET + Integer.BYTES;
    public static final int STATE_OFFSET = FORMAT_OFFSET + Byte.BYTES;
    public static final int GROUP_OFFSET = STATE_OFFSET + Byte.BYTES;
    public static final int OWNER_NODE_ID_OFFSET = GROUP_OFFSET + Short.BYTES;
    public static final int OWNER_INCARNATION_OFFSET = OWNER_NODE_ID_OFFSET + Integer.BYTES;
    public static final int REAPER_NODE_ID_OFFSET = OWNER_INCARNATION_OFFSET + Integer.BYTES;
    public static final int REAPER_INCARNATION_OFFSET = REAPER_NODE_ID_OFFSET + Integer.BYTES;
    public static final int LEASE_NUMBER_OFFSET = REAPER_INCARNATION_OFFSET + Integer.BYTES;
    public static final int REQUEST_ID_OFFSET = LEASE_NUMBER_OFFSET + Long.BYTES;
    public static final int VIEW_OFFSET = REQUEST_ID_OFFSET + Long.BYTES;
    public static final int COUNT_OFFSET = VIEW_OFFSET + Long.BYTES;
    public static final int CHECKSUM_OFFSET = COUNT_OFFSET + Long.BYTES;
    public static final int HEADER_BYTES = CHECKSUM_OFFSET + Long.BYTES;

    private static final LongHashFunction CHECKSUM = LongHashFunction.xx3();
    private static final String[] STATE_NAMES = {"free", "blocks", "index", "orphan", "quarantined"};

    static
    {
        if (HEADER_BYTES != 64)
        {
            throw new IllegalStateException("a chunk header is one line");
        }
    }

    private ChunkDescriptor()
    {
    }

    /**
     * Writes a header of a chunk that was never leased by a group.
     *
     * @param buffer            off-heap.
     * @param offset            of the header.
     * @param state             one of the states.
     * @param ownerNodeId       0 for none.
     * @param ownerIncarnation  0 for none.
     * @param reaperNodeId      0 for none.
     * @param reaperIncarnation 0 for none.
     * @param leaseNumber       of its latest lease among all of the memory node, 0 when it was never leased.
     * @param requestId         by which its owner asked for that lease, or 0.
     */
    public static void write(
        final MutableDirectBuffer buffer,
        final int offset,
        final int state,
        final int ownerNodeId,
        final int ownerIncarnation,
        final int reaperNodeId,
        final int reaperIncarnation,
        final long leaseNumber,
        final long requestId)
    {
        write(buffer, offset, state, ownerNodeId, ownerIncarnation, reaperNodeId, reaperIncarnation, leaseNumber,
            requestId, 0, 0, 0);
    }

    /**
     * Writes a header.
     *
     * @param buffer            off-heap.
     * @param offset            of the header.
     * @param state             one of the states.
     * @param ownerNodeId       0 for none.
     * @param ownerIncarnation  0 for none.
     * @param reaperNodeId      0 for none.
     * @param reaperIncarnation 0 for none.
     * @param leaseNumber       of its latest lease among all of the memory node, 0 when it was never leased.
     * @param requestId         by which its owner asked for that lease, or 0.
     * @param group             whose lease it is, 1 to {@link #MAX_GROUP}; 0 when it is the memory node's own.
     * @param view              of the group, in which it was leased; 0 without a group.
     * @param count             the largest that a lease of this chunk by a group had, 0 when there was none.
     */
    public static void write(
        final MutableDirectBuffer buffer,
        final int offset,
        final int state,
        final int ownerNodeId,
        final int ownerIncarnation,
        final int reaperNodeId,
        final int reaperIncarnation,
        final long leaseNumber,
        final long requestId,
        final int group,
        final long view,
        final long count)
    {
        buffer.putInt(offset + MAGIC_OFFSET, MAGIC, LITTLE_ENDIAN);
        buffer.putByte(
            offset + FORMAT_OFFSET, (byte)(0 == group && 0 == count ? UNMIRRORED_VERSION : FORMAT_VERSION));
        buffer.putByte(offset + STATE_OFFSET, (byte)state);
        buffer.putShort(offset + GROUP_OFFSET, (short)group, LITTLE_ENDIAN);
        buffer.putInt(offset + OWNER_NODE_ID_OFFSET, ownerNodeId, LITTLE_ENDIAN);
        buffer.putInt(offset + OWNER_INCARNATION_OFFSET, ownerIncarnation, LITTLE_ENDIAN);
        buffer.putInt(offset + REAPER_NODE_ID_OFFSET, reaperNodeId, LITTLE_ENDIAN);
        buffer.putInt(offset + REAPER_INCARNATION_OFFSET, reaperIncarnation, LITTLE_ENDIAN);
        buffer.putLong(offset + LEASE_NUMBER_OFFSET, leaseNumber, LITTLE_ENDIAN);
        buffer.putLong(offset + REQUEST_ID_OFFSET, requestId, LITTLE_ENDIAN);
        buffer.putLong(offset + VIEW_OFFSET, view, LITTLE_ENDIAN);
        buffer.putLong(offset + COUNT_OFFSET, count, LITTLE_ENDIAN);
        buffer.putLong(offset + CHECKSUM_OFFSET, checksum(buffer, offset), LITTLE_ENDIAN);
    }

    /**
     * Checks magic, version, state and checksum.
     *
     * @param buffer off-heap.
     * @param offset of the header.
     * @throws FormatException naming what is wrong; caught halfway, it is whole at the next look.
     */
    public static void check(final DirectBuffer buffer, final int offset)
    {
        final int magic = buffer.getInt(offset + MAGIC_OFFSET, LITTLE_ENDIAN);
        if (magic != MAGIC)
        {
            throw new FormatException(String.format("not a chunk header: magic=%08x expected=%08x", magic, MAGIC));
        }
        final int version = buffer.getByte(offset + FORMAT_OFFSET) & 0xFF;
        if (!isKnown(version))
        {
            throw FormatException.unknownVersion(NAME, version, FORMAT_VERSION);
        }
        if (!isWhole(buffer, offset))
        {
            throw new FormatException("chunk header is damaged or being written: its checksum does not match");
        }
    }

    /** @return whether checksum, version and state fit; false when damaged, or caught halfway. */
    public static boolean isWhole(final DirectBuffer buffer, final int offset)
    {
        return isKnown(buffer.getByte(offset + FORMAT_OFFSET)) && state(buffer, offset) >= STATE_FREE &&
            state(buffer, offset) <= STATE_QUARANTINED &&
            buffer.getLong(offset + CHECKSUM_OFFSET, LITTLE_ENDIAN) == checksum(buffer, offset);
    }

    private static boolean isKnown(final int version)
    {
        return version == FORMAT_VERSION || version == UNMIRRORED_VERSION;
    }

    /** @return one of the states. */
    public static int state(final DirectBuffer buffer, final int offset)
    {
        return buffer.getByte(offset + STATE_OFFSET);
    }

    /** @return name of a state, for people. */
    public static String stateName(final int state)
    {
        return state >= 0 && state < STATE_NAMES.length ? STATE_NAMES[state] : "unknown";
    }

    /** @return id of the owner, 0 for none. */
    public static int ownerNodeId(final DirectBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + OWNER_NODE_ID_OFFSET, LITTLE_ENDIAN);
    }

    /** @return incarnation of the owner, 0 for none. */
    public static int ownerIncarnation(final DirectBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + OWNER_INCARNATION_OFFSET, LITTLE_ENDIAN);
    }

    /** @return id of the reaper, 0 for none. */
    public static int reaperNodeId(final DirectBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + REAPER_NODE_ID_OFFSET, LITTLE_ENDIAN);
    }

    /** @return incarnation of the reaper, 0 for none. */
    public static int reaperIncarnation(final DirectBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + REAPER_INCARNATION_OFFSET, LITTLE_ENDIAN);
    }

    /** @return number of its latest lease; leases of a memory node count up, 0 is none. */
    public static long leaseNumber(final DirectBuffer buffer, final int offset)
    {
        return buffer.getLong(offset + LEASE_NUMBER_OFFSET, LITTLE_ENDIAN);
    }

    /** @return the number under which the owner asked for that lease, or 0. */
    public static long requestId(final DirectBuffer buffer, final int offset)
    {
        return buffer.getLong(offset + REQUEST_ID_OFFSET, LITTLE_ENDIAN);
    }

    /** @return group whose lease it is, 0 when it is the memory node's own. */
    public static int group(final DirectBuffer buffer, final int offset)
    {
        return buffer.getShort(offset + GROUP_OFFSET, LITTLE_ENDIAN) & 0xFFFF;
    }

    /** @return view of the group in which it was leased, 0 without a group. */
    public static long view(final DirectBuffer buffer, final int offset)
    {
        return buffer.getLong(offset + VIEW_OFFSET, LITTLE_ENDIAN);
    }

    /** @return the largest count that a lease of this chunk by a group had: that of the lease, if it is a group's. */
    public static long count(final DirectBuffer buffer, final int offset)
    {
        return buffer.getLong(offset + COUNT_OFFSET, LITTLE_ENDIAN);
    }

    private static long checksum(final DirectBuffer buffer, final int offset)
    {
        if (buffer.byteArray() != null)
        {
            throw new IllegalArgumentException("a chunk header is written and checked in off-heap memory");
        }
        return CHECKSUM.hashMemory(buffer.addressOffset() + offset, CHECKSUM_OFFSET);
    }
}
