package io.verbena.protocol.request;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Records of a range of a table, as the value of the answer FOUND to {@link RequestKind#SCAN}; the answer's version
 * is the position at which the next range begins, or {@link #END}. Little-endian, one record after the other:
 *
 * <pre>
 *   0 +-------------------------------+
 *     |          key length           |
 *   4 +-------------------------------+
 *     |         value length          |
 *   8 +-------------------------------+
 *     |      record version (8)       |
 *  16 +-------------------------------+
 *     |     position behind it (8)    |
 *  24 +-------------------------------+
 *     |     deadline, ms, or 0 (8)    |
 *  32 +-------------------------------+
 *     |  key, value ...               |
 * </pre>
 *
 * <p>Filled by one thread; not thread-safe.
 */
public final class RecordPage
{
    /** The version of an answer when there is no further range. */
    public static final long END = -1;
    /** Where the key's length is in a record, 4 bytes. */
    public static final int KEY_LENGTH_OFFSET = 0;
    /** Where the value's length is, 4 bytes. */
    public static final int VALUE_LENGTH_OFFSET = KEY_LENGTH_OFFSET + Integer.BYTES;
    /** Where the version is, 8 bytes. */
    public static final int VERSION_OFFSET = VALUE_LENGTH_OFFSET + Integer.BYTES;
    /** Where the position behind the record is, 8 bytes: a range that begins there goes on with the next record. */
    public static final int BEHIND_OFFSET = VERSION_OFFSET + Long.BYTES;
    /** Where the record's deadline is, 8 bytes: ms since 1970, or 0. */
    public static final int EXPIRY_OFFSET = BEHIND_OFFSET + Long.BYTES;
    /** Where the key begins; the value follows. */
    public static final int KEY_OFFSET = EXPIRY_OFFSET + Long.BYTES;
    /** A page takes no more records beyond this length, but always one. */
    public static final int TARGET_BYTES = 64 * 1024;
    /** Longest page. */
    public static final int MAX_BYTES = KEY_OFFSET + RequestLimits.MAX_KEY_BYTES + RequestLimits.MAX_VALUE_BYTES;
    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;
    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ORDER);
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ORDER);

    private final byte[] bytes = new byte[MAX_BYTES];
    private final MutableDirectBuffer buffer = new UnsafeBuffer(bytes);
    private int length;

    /**
     * A position at which a range may begin that is no other one's end: any place of a table, each as likely.
     *
     * @param random number that chooses the place, all 62 bits from the highest one on.
     * @return the position.
     */
    public static long anywhere(final long random)
    {
        return Long.MIN_VALUE | random >>> 2;
    }

    /** Begins an empty page. */
    public void clear()
    {
        length = 0;
    }

    /**
     * Adds a record.
     *
     * @param from        holds key and value, one behind the other.
     * @param keyOffset   where the key begins.
     * @param keyLength   1 to 64 KiB.
     * @param valueLength 0 to 16 KiB.
     * @param version     of the record.
     * @param behind      position from which a range goes on behind it, or {@link #END}.
     * @param expiryMs    deadline of the record, ms since 1970, or 0.
     * @return false if there is no room for it.
     */
    public boolean add(
        final DirectBuffer from, final int keyOffset, final int keyLength, final int valueLength, final long version,
        final long behind, final long expiryMs)
    {
        final int recordLength = KEY_OFFSET + keyLength + valueLength;
        if (length > 0 && length + recordLength > TARGET_BYTES)
        {
            return false;
        }
        buffer.putInt(length + KEY_LENGTH_OFFSET, keyLength, ORDER);
        buffer.putInt(length + VALUE_LENGTH_OFFSET, valueLength, ORDER);
        buffer.putLong(length + VERSION_OFFSET, version, ORDER);
        buffer.putLong(length + BEHIND_OFFSET, behind, ORDER);
        buffer.putLong(length + EXPIRY_OFFSET, expiryMs, ORDER);
        buffer.putBytes(length + KEY_OFFSET, from, keyOffset, keyLength + valueLength);
        length += recordLength;
        return true;
    }

    /** @return the page so far. */
    public byte[] toByteArray()
    {
        return Arrays.copyOf(bytes, length);
    }

    /**
     * Checks a page from elsewhere.
     *
     * @param page to check.
     * @return whether it is whole records.
     */
    public static boolean isWhole(final byte[] page)
    {
        int at = 0;
        while (null != page && at >= 0 && page.length - at >= KEY_OFFSET)
        {
            final int keyLength = keyLength(page, at);
            final int valueLength = valueLength(page, at);
            if (keyLength < 1 || keyLength > RequestLimits.MAX_KEY_BYTES || valueLength < 0 ||
                valueLength > RequestLimits.MAX_VALUE_BYTES)
            {
                return false;
            }
            at += KEY_OFFSET + keyLength + valueLength;
        }
        return null != page && at == page.length;
    }

    /** @return length of the key of the record that begins there. */
    public static int keyLength(final byte[] page, final int at)
    {
        return (int)INT.get(page, at + KEY_LENGTH_OFFSET);
    }

    /** @return length of the value of the record that begins there. */
    public static int valueLength(final byte[] page, final int at)
    {
        return (int)INT.get(page, at + VALUE_LENGTH_OFFSET);
    }

    /** @return position behind the record that begins there, or {@link #END}. */
    public static long behind(final byte[] page, final int at)
    {
        return (long)LONG.get(page, at + BEHIND_OFFSET);
    }

    /** @return deadline of the record that begins there, ms since 1970, or 0. */
    public static long expiryMs(final byte[] page, final int at)
    {
        return (long)LONG.get(page, at + EXPIRY_OFFSET);
    }

    /** @return version of the record that begins there. */
    public static long version(final byte[] page, final int at)
    {
        return (long)LONG.get(page, at + VERSION_OFFSET);
    }
}
