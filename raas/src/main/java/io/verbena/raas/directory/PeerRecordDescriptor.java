package io.verbena.raas.directory;

import io.verbena.raas.ReadTargetAddress;
import io.verbena.raas.RemoteRegion;
import io.verbena.rdma.verbs.DeviceAddress;
import net.openhft.hashing.LongHashFunction;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;

/**
 * Layout of a record of the peer directory, {@code docs/format/peer-directory.md}; little-endian; written by the CPU of
 * the view's owner, read by NICs. The checksum comes first and is written last.
 *
 * <pre>
 *     0               4               8
 *   0 +---------------+---------------+
 *     |  checksum: XXH3-64 of 8..127  |
 *   8 +-------+-------+---------------+
 *     |version| role  |    node id    |
 *  16 +-------+-------+---------------+
 *     |  incarnation  | service port  |
 *  24 +---------------+---------------+
 *     |       device GID, high        |
 *  32 +-------------------------------+
 *     |       device GID, low         |
 *  40 +-------------------------------+
 *     |            epoch              |
 *  48 +-------------------------------+
 *     |        region address         |
 *  56 +-------------------------------+
 *     |        region length          |
 *  64 +---------------+---------------+
 *     |  region key   | target number |
 *  72 +---------------+---------------+
 *     |    device service locator     |
 *  80 +-------------------------------+
 *     |    target access key (DC)     |
 *  88 +-------------------------------+
 *     |  IP address of TCP service    |
 *     |                               |
 * 104 +---------------+---------------+
 *     |   TCP port    |  spare port   |
 * 112 +---------------+---------------+
 *     |      reserved, zero ...       |
 * 128 +-------------------------------+
 * </pre>
 *
 * <p>An empty place is 128 zero bytes. Nothing relies on the order in which a NIC reads the lines of a record.
 */
public final class PeerRecordDescriptor
{
    /** Version of this layout. */
    public static final int VERSION = 2;
    /** Offset of the 64-bit checksum of everything behind it; never 0 in a record, 0 in an empty place. */
    public static final int CHECKSUM_OFFSET = 0;
    /** Offset of the 16-bit version. */
    public static final int VERSION_OFFSET = CHECKSUM_OFFSET + Long.BYTES;
    /** Offset of the 16-bit {@link NodeRole#code()}. */
    public static final int ROLE_OFFSET = VERSION_OFFSET + Short.BYTES;
    /** Offset of the 32-bit node number. */
    public static final int NODE_ID_OFFSET = ROLE_OFFSET + Short.BYTES;
    /** Offset of the 32-bit incarnation. */
    public static final int INCARNATION_OFFSET = NODE_ID_OFFSET + Integer.BYTES;
    /** Offset of the 32-bit service port. */
    public static final int SERVICE_PORT_OFFSET = INCARNATION_OFFSET + Integer.BYTES;
    /** Offset of the upper half of the device address. */
    public static final int GID_HIGH_OFFSET = SERVICE_PORT_OFFSET + Integer.BYTES;
    /** Offset of the lower half of the device address. */
    public static final int GID_LOW_OFFSET = GID_HIGH_OFFSET + Long.BYTES;
    /** Offset of the 64-bit epoch. */
    public static final int EPOCH_OFFSET = GID_LOW_OFFSET + Long.BYTES;
    /** Offset of the 64-bit address of the region. */
    public static final int REGION_ADDRESS_OFFSET = EPOCH_OFFSET + Long.BYTES;
    /** Offset of the 64-bit length of the region. */
    public static final int REGION_LENGTH_OFFSET = REGION_ADDRESS_OFFSET + Long.BYTES;
    /** Offset of the 32-bit key of the region. */
    public static final int REGION_KEY_OFFSET = REGION_LENGTH_OFFSET + Long.BYTES;
    /** Offset of the 32-bit number of the DC target through which the region can be read; 0 for none. */
    public static final int READ_TARGET_NUMBER_OFFSET = REGION_KEY_OFFSET + Integer.BYTES;
    /** Offset of the 64-bit service locator of the device address. */
    public static final int SERVICE_LOCATOR_OFFSET = READ_TARGET_NUMBER_OFFSET + Integer.BYTES;
    /** Offset of the 64-bit access key of that target. */
    public static final int READ_TARGET_KEY_OFFSET = SERVICE_LOCATOR_OFFSET + Long.BYTES;
    /** Offset of the upper half of the IPv6 address at which the node serves clients over TCP. */
    public static final int TCP_HIGH_OFFSET = READ_TARGET_KEY_OFFSET + Long.BYTES;
    /** Offset of its lower half. */
    public static final int TCP_LOW_OFFSET = TCP_HIGH_OFFSET + Long.BYTES;
    /** Offset of the 32-bit port there; 0 where it serves nobody over TCP, as in records of builds without it. */
    public static final int TCP_PORT_OFFSET = TCP_LOW_OFFSET + Long.BYTES;
    /** Offset of the 32-bit port of a spare, whose service port is 0; 0 in all others, and of builds without it. */
    public static final int SPARE_PORT_OFFSET = TCP_PORT_OFFSET + Integer.BYTES;
    /** Offset of the bytes kept for later versions, zero. */
    public static final int RESERVED_OFFSET = SPARE_PORT_OFFSET + Integer.BYTES;
    /** Length of a record: two cache lines. */
    public static final int RECORD_LENGTH_BYTES = 128;

    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;
    private static final LongHashFunction XXH3 = LongHashFunction.xx3();

    static
    {
        if (RESERVED_OFFSET > RECORD_LENGTH_BYTES || CHECKSUM_OFFSET % Long.BYTES != 0)
        {
            throw new ExceptionInInitializerError("fields end at " + RESERVED_OFFSET + " of " + RECORD_LENGTH_BYTES);
        }
    }

    private PeerRecordDescriptor()
    {
    }

    /**
     * Writes a whole record, checksum included; not for memory that others read meanwhile.
     *
     * @param record to write.
     * @param buffer takes {@link #RECORD_LENGTH_BYTES}.
     * @param offset where.
     */
    public static void encode(final PeerRecord record, final MutableDirectBuffer buffer, final int offset)
    {
        buffer.setMemory(offset, RECORD_LENGTH_BYTES, (byte)0);
        buffer.putShort(offset + VERSION_OFFSET, (short)VERSION, ORDER);
        buffer.putShort(offset + ROLE_OFFSET, (short)record.role().code(), ORDER);
        buffer.putInt(offset + NODE_ID_OFFSET, record.nodeId(), ORDER);
        buffer.putInt(offset + INCARNATION_OFFSET, record.incarnation(), ORDER);
        buffer.putInt(offset + SERVICE_PORT_OFFSET, record.servicePort(), ORDER);
        buffer.putLong(offset + GID_HIGH_OFFSET, record.device().gidHigh(), ORDER);
        buffer.putLong(offset + GID_LOW_OFFSET, record.device().gidLow(), ORDER);
        buffer.putLong(offset + EPOCH_OFFSET, record.epoch(), ORDER);
        buffer.putLong(offset + REGION_ADDRESS_OFFSET, record.region().address(), ORDER);
        buffer.putLong(offset + REGION_LENGTH_OFFSET, record.region().lengthBytes(), ORDER);
        buffer.putInt(offset + REGION_KEY_OFFSET, record.region().remoteKey(), ORDER);
        buffer.putInt(offset + READ_TARGET_NUMBER_OFFSET, record.readTarget().number(), ORDER);
        buffer.putLong(offset + SERVICE_LOCATOR_OFFSET, record.device().serviceLocator(), ORDER);
        buffer.putLong(offset + READ_TARGET_KEY_OFFSET, record.readTarget().accessKey(), ORDER);
        buffer.putLong(offset + TCP_HIGH_OFFSET, record.tcpService().high(), ORDER);
        buffer.putLong(offset + TCP_LOW_OFFSET, record.tcpService().low(), ORDER);
        buffer.putInt(offset + TCP_PORT_OFFSET, record.tcpService().port(), ORDER);
        buffer.putInt(offset + SPARE_PORT_OFFSET, record.sparePort(), ORDER);
        buffer.putLong(offset + CHECKSUM_OFFSET, checksum(buffer, offset), ORDER);
    }

    /**
     * @param buffer with a record.
     * @param offset where.
     * @return the record; its {@link PeerRecord#role()} is null when its number is not known.
     */
    public static PeerRecord decode(final DirectBuffer buffer, final int offset)
    {
        return new PeerRecord(
            nodeId(buffer, offset),
            buffer.getInt(offset + INCARNATION_OFFSET, ORDER),
            buffer.getLong(offset + EPOCH_OFFSET, ORDER),
            NodeRole.ofCode(buffer.getShort(offset + ROLE_OFFSET, ORDER)),
            new DeviceAddress(
                buffer.getLong(offset + GID_HIGH_OFFSET, ORDER),
                buffer.getLong(offset + GID_LOW_OFFSET, ORDER),
                buffer.getLong(offset + SERVICE_LOCATOR_OFFSET, ORDER)),
            buffer.getInt(offset + SERVICE_PORT_OFFSET, ORDER),
            new RemoteRegion(
                buffer.getLong(offset + REGION_ADDRESS_OFFSET, ORDER),
                buffer.getLong(offset + REGION_LENGTH_OFFSET, ORDER),
                buffer.getInt(offset + REGION_KEY_OFFSET, ORDER)),
            new ReadTargetAddress(
                buffer.getInt(offset + READ_TARGET_NUMBER_OFFSET, ORDER),
                buffer.getLong(offset + READ_TARGET_KEY_OFFSET, ORDER)),
            new TcpAddress(
                buffer.getLong(offset + TCP_HIGH_OFFSET, ORDER),
                buffer.getLong(offset + TCP_LOW_OFFSET, ORDER),
                buffer.getInt(offset + TCP_PORT_OFFSET, ORDER)),
            buffer.getInt(offset + SPARE_PORT_OFFSET, ORDER));
    }

    /**
     * @param buffer with a record or an empty place.
     * @param offset where.
     * @return whether the place is empty.
     */
    public static boolean isEmpty(final DirectBuffer buffer, final int offset)
    {
        for (int at = offset; at < offset + RECORD_LENGTH_BYTES; at += Long.BYTES)
        {
            if (buffer.getLong(at) != 0)
            {
                return false;
            }
        }
        return true;
    }

    /**
     * @param buffer with a record.
     * @param offset where.
     * @return whether its checksum holds: false for a record caught halfway.
     */
    public static boolean isValid(final DirectBuffer buffer, final int offset)
    {
        return buffer.getLong(offset + CHECKSUM_OFFSET, ORDER) == checksum(buffer, offset);
    }

    /**
     * @param buffer with a record.
     * @param offset where.
     * @return its version.
     */
    public static int version(final DirectBuffer buffer, final int offset)
    {
        return buffer.getShort(offset + VERSION_OFFSET, ORDER) & 0xFFFF;
    }

    /** Why this version cannot use a valid record; empty when it can. */
    static String problem(final DirectBuffer buffer, final int offset)
    {
        final int version = version(buffer, offset);
        final boolean isKnown = version == VERSION && NodeRole.ofCode(buffer.getShort(offset + ROLE_OFFSET, ORDER)) !=
            null;
        return isKnown ? "" : "its record has version " + version + ", this node knows version " + VERSION +
            ", or its role is unknown: update the older of the two";
    }

    static int nodeId(final DirectBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + NODE_ID_OFFSET, ORDER);
    }

    /** Checksum of a record that {@link #isValid}. */
    static long checksum(final DirectBuffer buffer, final int offset)
    {
        return checksum(buffer, offset + VERSION_OFFSET, RECORD_LENGTH_BYTES - VERSION_OFFSET);
    }

    /** XXH3-64, 1 where that is 0, so that zeroed memory never has the checksum of anything. */
    static long checksum(final DirectBuffer buffer, final int from, final int length)
    {
        final long hash = buffer.byteArray() == null ?
            XXH3.hashMemory(buffer.addressOffset() + from, length) :
            XXH3.hashBytes(buffer.byteArray(), buffer.wrapAdjustment() + from, length);
        return hash == 0 ? 1 : hash;
    }
}
