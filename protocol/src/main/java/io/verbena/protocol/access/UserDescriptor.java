package io.verbena.protocol.access;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * A user, in messages and in the meta server's records, {@code docs/format/user.md}; little-endian.
 *
 * <pre>
 *   0 +-------------------------------+
 *     |         revision (8)          |
 *   8 +---------------+---------------+
 *     |    number     |  generation   |
 *  16 +---------------+-------+-------+
 *     |  iterations   | name  | grant |
 *     |               | length| count |
 *  24 +---------------+-------+-------+
 *     |           salt (16)           |
 *  40 +-------------------------------+
 *     |        stored key (32)        |
 *  72 +-------------------------------+
 *     |        server key (32)        |
 * 104 +-------------------------------+
 *     |  name, grants ...             |
 *     +-------------------------------+
 *     |  quota (24 or 32), if any     |
 * </pre>
 */
public final class UserDescriptor
{
    /** Longest that there can be. */
    public static final int MAX_LENGTH_BYTES = 3_584;
    static final int REVISION_OFFSET = 0;
    static final int NUMBER_OFFSET = REVISION_OFFSET + Long.BYTES;
    static final int GENERATION_OFFSET = NUMBER_OFFSET + Integer.BYTES;
    static final int ITERATIONS_OFFSET = GENERATION_OFFSET + Integer.BYTES;
    static final int NAME_LENGTH_OFFSET = ITERATIONS_OFFSET + Integer.BYTES;
    static final int GRANT_COUNT_OFFSET = NAME_LENGTH_OFFSET + Short.BYTES;
    static final int SALT_OFFSET = GRANT_COUNT_OFFSET + Short.BYTES;
    static final int STORED_KEY_OFFSET = SALT_OFFSET + SecretVerifier.SALT_BYTES;
    static final int SERVER_KEY_OFFSET = STORED_KEY_OFFSET + UserSecret.KEY_BYTES;
    static final int NAME_OFFSET = SERVER_KEY_OFFSET + UserSecret.KEY_BYTES;
    static final int GRANT_RIGHTS_OFFSET = 0;
    static final int GRANT_TABLE_LENGTH_OFFSET = GRANT_RIGHTS_OFFSET + Short.BYTES;
    static final int GRANT_PREFIX_LENGTH_OFFSET = GRANT_TABLE_LENGTH_OFFSET + Short.BYTES;
    static final int GRANT_TABLE_OFFSET = GRANT_PREFIX_LENGTH_OFFSET + Short.BYTES;
    static final int QUOTA_OPERATIONS_OFFSET = 0;
    static final int QUOTA_BYTES_OFFSET = QUOTA_OPERATIONS_OFFSET + Long.BYTES;
    static final int QUOTA_OUTSTANDING_OFFSET = QUOTA_BYTES_OFFSET + Long.BYTES;
    static final int QUOTA_SCANS_OFFSET = QUOTA_OUTSTANDING_OFFSET + Integer.BYTES;
    static final int QUOTA_LENGTH = QUOTA_SCANS_OFFSET + Integer.BYTES;
    static final int QUOTA_TABLES_OFFSET = QUOTA_LENGTH;
    static final int LONG_QUOTA_LENGTH = QUOTA_TABLES_OFFSET + 2 * Integer.BYTES;

    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;

    private UserDescriptor()
    {
    }

    /**
     * @param user without a {@link User#problem()}.
     * @return length of it, at most {@link #MAX_LENGTH_BYTES}.
     */
    public static int lengthBytes(final User user)
    {
        int length = NAME_OFFSET + user.name().length();
        for (final Grant grant : user.grants())
        {
            length += GRANT_TABLE_OFFSET + grant.table().length() + grant.prefix().length;
        }
        return length + lengthBytes(user.quota());
    }

    private static int lengthBytes(final UserQuota quota)
    {
        return quota.isNone() ? 0 : 0 == quota.tables() ? QUOTA_LENGTH : LONG_QUOTA_LENGTH;
    }

    /**
     * Writes a user.
     *
     * @param user   without a {@link User#problem()}.
     * @param buffer has room for {@link #lengthBytes}.
     * @param offset where to begin.
     * @return length.
     */
    public static int encode(final User user, final MutableDirectBuffer buffer, final int offset)
    {
        final SecretVerifier verifier = user.verifier();
        buffer.putLong(offset + REVISION_OFFSET, user.revision(), ORDER);
        buffer.putInt(offset + NUMBER_OFFSET, user.number(), ORDER);
        buffer.putInt(offset + GENERATION_OFFSET, user.generation(), ORDER);
        buffer.putInt(offset + ITERATIONS_OFFSET, null == verifier ? 0 : verifier.iterations(), ORDER);
        buffer.putShort(offset + NAME_LENGTH_OFFSET, (short)user.name().length(), ORDER);
        buffer.putShort(offset + GRANT_COUNT_OFFSET, (short)user.grants().size(), ORDER);
        if (null == verifier)
        {
            buffer.setMemory(offset + SALT_OFFSET, NAME_OFFSET - SALT_OFFSET, (byte)0);
        }
        else
        {
            buffer.putBytes(offset + SALT_OFFSET, verifier.salt());
            buffer.putBytes(offset + STORED_KEY_OFFSET, verifier.storedKey());
            buffer.putBytes(offset + SERVER_KEY_OFFSET, verifier.serverKey());
        }
        int at = offset + NAME_OFFSET + buffer.putStringWithoutLengthAscii(offset + NAME_OFFSET, user.name());
        for (final Grant grant : user.grants())
        {
            buffer.putShort(at + GRANT_RIGHTS_OFFSET, (short)grant.rights(), ORDER);
            buffer.putShort(at + GRANT_TABLE_LENGTH_OFFSET, (short)grant.table().length(), ORDER);
            buffer.putShort(at + GRANT_PREFIX_LENGTH_OFFSET, (short)grant.prefix().length, ORDER);
            at += GRANT_TABLE_OFFSET;
            at += buffer.putStringWithoutLengthAscii(at, grant.table());
            buffer.putBytes(at, grant.prefix());
            at += grant.prefix().length;
        }
        if (!user.quota().isNone())
        {
            buffer.putLong(at + QUOTA_OPERATIONS_OFFSET, user.quota().operationsPerSecond(), ORDER);
            buffer.putLong(at + QUOTA_BYTES_OFFSET, user.quota().bytesPerSecond(), ORDER);
            buffer.putInt(at + QUOTA_OUTSTANDING_OFFSET, user.quota().outstanding(), ORDER);
            buffer.putInt(at + QUOTA_SCANS_OFFSET, user.quota().scans(), ORDER);
        }
        if (user.quota().tables() > 0)
        {
            buffer.putInt(at + QUOTA_TABLES_OFFSET, user.quota().tables(), ORDER);
            buffer.putInt(at + QUOTA_TABLES_OFFSET + Integer.BYTES, 0, ORDER);
        }
        return at + lengthBytes(user.quota()) - offset;
    }

    /**
     * Reads a user.
     *
     * @param buffer      holds it.
     * @param offset      where it begins.
     * @param lengthBytes of it.
     * @return the user, without a {@link User#problem()}.
     * @throws IllegalArgumentException when it is none; the text names the value.
     */
    public static User decode(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        require(lengthBytes >= NAME_OFFSET && lengthBytes <= MAX_LENGTH_BYTES, "length", lengthBytes);
        final int nameLength = buffer.getShort(offset + NAME_LENGTH_OFFSET, ORDER) & 0xFFFF;
        final int grantCount = buffer.getShort(offset + GRANT_COUNT_OFFSET, ORDER) & 0xFFFF;
        require(NAME_OFFSET + nameLength <= lengthBytes, "length of the name", nameLength);
        require(grantCount <= User.MAX_GRANTS, "number of grants", grantCount);
        final int number = buffer.getInt(offset + NUMBER_OFFSET, ORDER);
        require(number >= 0 && number <= 0xFFFF, "number", number);
        final List<Grant> grants = new ArrayList<>(grantCount);
        int at = NAME_OFFSET + nameLength;
        for (int i = 0; i < grantCount; i++)
        {
            require(at + GRANT_TABLE_OFFSET <= lengthBytes, "grants: offset", at);
            final int tableLength = buffer.getShort(offset + at + GRANT_TABLE_LENGTH_OFFSET, ORDER) & 0xFFFF;
            final int prefixLength = buffer.getShort(offset + at + GRANT_PREFIX_LENGTH_OFFSET, ORDER) & 0xFFFF;
            final int rights = buffer.getShort(offset + at + GRANT_RIGHTS_OFFSET, ORDER) & 0xFFFF;
            at += GRANT_TABLE_OFFSET;
            require(at + tableLength + prefixLength <= lengthBytes, "grants: offset", at);
            grants.add(new Grant(text(buffer, offset + at, tableLength), rights,
                bytes(buffer, offset + at + tableLength, prefixLength)));
            at += tableLength + prefixLength;
        }
        final UserQuota quota = quota(buffer, offset + at, lengthBytes - at);
        require(lengthBytes(quota) == lengthBytes - at, "length", lengthBytes);
        final User user = new User(text(buffer, offset + NAME_OFFSET, nameLength), number,
            buffer.getInt(offset + GENERATION_OFFSET, ORDER), buffer.getLong(offset + REVISION_OFFSET, ORDER),
            verifier(buffer, offset), List.copyOf(grants), quota);
        if (null != user.problem())
        {
            throw new IllegalArgumentException(user.problem());
        }
        return user;
    }

    /** What limits nothing is not written, so that a user has one form: its length is compared afterwards. */
    private static UserQuota quota(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        if (lengthBytes >= LONG_QUOTA_LENGTH)
        {
            final int reserved = buffer.getInt(offset + QUOTA_TABLES_OFFSET + Integer.BYTES, ORDER);
            require(0 == reserved, "what is behind its quota", reserved);
        }
        return lengthBytes < QUOTA_LENGTH ? UserQuota.NONE : new UserQuota(
            buffer.getLong(offset + QUOTA_OPERATIONS_OFFSET, ORDER), buffer.getLong(offset + QUOTA_BYTES_OFFSET, ORDER),
            buffer.getInt(offset + QUOTA_OUTSTANDING_OFFSET, ORDER), buffer.getInt(offset + QUOTA_SCANS_OFFSET, ORDER),
            lengthBytes < LONG_QUOTA_LENGTH ? 0 : buffer.getInt(offset + QUOTA_TABLES_OFFSET, ORDER));
    }

    private static SecretVerifier verifier(final DirectBuffer buffer, final int offset)
    {
        final int iterations = buffer.getInt(offset + ITERATIONS_OFFSET, ORDER);
        require(0 == iterations || SecretVerifier.isPossible(iterations), "iterations", iterations);
        return 0 == iterations ? null : new SecretVerifier(iterations,
            bytes(buffer, offset + SALT_OFFSET, SecretVerifier.SALT_BYTES),
            bytes(buffer, offset + STORED_KEY_OFFSET, UserSecret.KEY_BYTES),
            bytes(buffer, offset + SERVER_KEY_OFFSET, UserSecret.KEY_BYTES));
    }

    private static String text(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        return new String(bytes(buffer, offset, lengthBytes), StandardCharsets.UTF_8);
    }

    private static byte[] bytes(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        final byte[] bytes = new byte[lengthBytes];
        buffer.getBytes(offset, bytes);
        return bytes;
    }

    private static void require(final boolean holds, final String what, final int value)
    {
        if (!holds)
        {
            throw new IllegalArgumentException("this is no user: " + what + " is " + value);
        }
    }
}
