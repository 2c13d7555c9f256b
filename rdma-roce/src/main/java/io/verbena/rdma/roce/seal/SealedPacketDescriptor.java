package io.verbena.rdma.roce.seal;

import io.verbena.rdma.roce.wire.BthDescriptor;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A sealed packet, {@code docs/format/sealed-packet.md}: AES-128-GCM (RFC 5116, AEAD_AES_128_GCM). The BTH is readable
 * and authenticated, but for its byte with the congestion marks; headers behind it, payload and padding are encrypted.
 * Big-endian, except the ICRC.
 *
 * <pre>
 *  packet                                  nonce, 12 bytes
 *   0 +-------------------------------+     0 +-------------------------------+
 *     |  BTH, transport version 1     |       |  zero                         |
 *  12 +-------------------------------+     4 +-------------------------------+
 *     |  packets sealed before in     |       |  packets sealed before in     |
 *     |  this direction, 8 bytes      |       |  this direction, 8 bytes      |
 *  20 +-------------------------------+    12 +-------------------------------+
 *     |  further headers, payload and |
 *     |  padding, encrypted, n bytes  |     additional data, 12 bytes
 * 20+n+-------------------------------+     0 +-------------------------------+
 *     |  tag, 16 bytes                |       |  BTH, byte 4 (congestion      |
 * 36+n+-------------------------------+       |  marks) as zero               |
 *     |  ICRC                         |    12 +-------------------------------+
 * 40+n+-------------------------------+
 * </pre>
 */
public final class SealedPacketDescriptor
{
    /** Transport version in the BTH, which is 0 in clear: who takes no sealed packets drops them. */
    public static final int VERSION = 1;
    /** Offset of the 64-bit count of packets that were sealed before in this direction. */
    public static final int COUNTER_OFFSET = BthDescriptor.LENGTH_BYTES;
    /** Offset of the encrypted bytes. */
    public static final int SEALED_OFFSET = COUNTER_OFFSET + Long.BYTES;
    /** Length of the tag behind the encrypted bytes. */
    public static final int TAG_LENGTH_BYTES = 16;
    /** Bytes by which a sealed packet is longer than in clear. */
    public static final int OVERHEAD_BYTES = Long.BYTES + TAG_LENGTH_BYTES;
    /** Length of a key. */
    public static final int KEY_LENGTH_BYTES = 16;
    /** Offset of 32 zero bits in the nonce. */
    public static final int NONCE_ZERO_OFFSET = 0;
    /** Offset of the 64-bit count in the nonce. */
    public static final int NONCE_COUNTER_OFFSET = NONCE_ZERO_OFFSET + Integer.BYTES;
    /** Length of the nonce. */
    public static final int NONCE_LENGTH_BYTES = NONCE_COUNTER_OFFSET + Long.BYTES;
    /** Length of the additional data. */
    public static final int ADDITIONAL_LENGTH_BYTES = BthDescriptor.LENGTH_BYTES;
    /** How many bits of a count number the packets of one key; the others number the keys. */
    public static final int KEY_SHIFT = 24;
    /** Packets this far behind the latest one are dropped, whether they came before or not. */
    public static final int REPLAY_WINDOW = 1024;

    private static final ByteOrder ORDER = ByteOrder.BIG_ENDIAN;

    static
    {
        if (OVERHEAD_BYTES != 24 || SEALED_OFFSET != 20)
        {
            throw new ExceptionInInitializerError("a sealed packet is 24 bytes longer: " + OVERHEAD_BYTES);
        }
    }

    private SealedPacketDescriptor()
    {
    }

    /** The count in a sealed packet. */
    static long counter(final DirectBuffer buffer)
    {
        return buffer.getLong(COUNTER_OFFSET, ORDER);
    }

    /** Writes the count into a packet. */
    static void encodeCounter(final MutableDirectBuffer buffer, final long counter)
    {
        buffer.putLong(COUNTER_OFFSET, counter, ORDER);
    }

    /** Writes the nonce of a packet; the first bytes of the buffer stay zero. */
    static void encodeNonce(final ByteBuffer nonce, final long counter)
    {
        nonce.putLong(NONCE_COUNTER_OFFSET, counter);
    }

    /** Writes the additional data of a packet. */
    static void encodeAdditional(final byte[] additional, final DirectBuffer buffer)
    {
        buffer.getBytes(0, additional);
        additional[BthDescriptor.CONGESTION_OFFSET] = 0;
    }
}
