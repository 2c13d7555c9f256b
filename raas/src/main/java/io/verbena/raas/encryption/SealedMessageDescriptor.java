package io.verbena.raas.encryption;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A request or reply of an encrypted connection, {@code docs/format/sealed-message.md}: AES-128-GCM (RFC 5116,
 * AEAD_AES_128_GCM). Header and payload are encrypted, lengths are not. The immediate of the message is authenticated
 * as additional data, the nonce is never sent: both ends count.
 *
 * <pre>
 *  sealed message                          nonce, 12 bytes
 *   0 +-------------------------------+     0 +-------------------------------+
 *     |  header and payload,          |       |  zero                         |
 *     |  encrypted, n bytes ...       |     4 +-------------------------------+
 *   n +-------------------------------+       |  messages sealed before in    |
 *     |  tag, 16 bytes                |       |  this direction, 8 bytes      |
 * n+16+-------------------------------+    12 +-------------------------------+
 * </pre>
 */
public final class SealedMessageDescriptor
{
    /** What is asked for and answered in connect data: AES-128-GCM with keys by HKDF-SHA-256. */
    public static final int AES_128_GCM = 1;
    /** As above, or nothing where packets are sealed already, with what the identity's secret follows from. */
    public static final int IN_SEALED_PACKETS = 2;
    /** Length of the tag behind the encrypted bytes. */
    public static final int TAG_LENGTH_BYTES = 16;
    /** Length of a key. */
    public static final int KEY_LENGTH_BYTES = 16;
    /** Length of the secret that a direction's keys are derived from. */
    public static final int SECRET_LENGTH_BYTES = 32;
    /** Length of the number that each end chooses at random for a connection. */
    public static final int RANDOM_LENGTH_BYTES = 16;
    /** Offset of 32 zero bits in the nonce of the cipher. */
    public static final int NONCE_ZERO_OFFSET = 0;
    /** Offset of the 64-bit count of messages that were sealed before in this direction. */
    public static final int NONCE_COUNTER_OFFSET = NONCE_ZERO_OFFSET + Integer.BYTES;
    /** Length of the nonce of the cipher. */
    public static final int NONCE_LENGTH_BYTES = NONCE_COUNTER_OFFSET + Long.BYTES;
    /** Length of the additional data: the immediate of the message. */
    public static final int ADDITIONAL_LENGTH_BYTES = Integer.BYTES;
    /** Messages sealed with one key; then both ends derive the next one. */
    public static final int MESSAGES_PER_KEY = 1 << 24;

    private SealedMessageDescriptor()
    {
    }

    /** Writes the nonce of a message. */
    static void encodeNonce(final byte[] nonce, final long counter)
    {
        ByteBuffer.wrap(nonce).order(ByteOrder.LITTLE_ENDIAN).putInt(NONCE_ZERO_OFFSET, 0)
            .putLong(NONCE_COUNTER_OFFSET, counter);
    }

    /** Writes the additional data of a message. */
    static void encodeAdditional(final byte[] additional, final int immediate)
    {
        ByteBuffer.wrap(additional).order(ByteOrder.LITTLE_ENDIAN).putInt(0, immediate);
    }
}
