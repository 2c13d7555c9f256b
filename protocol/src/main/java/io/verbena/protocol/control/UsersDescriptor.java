package io.verbena.protocol.control;

import io.verbena.protocol.access.User;
import io.verbena.protocol.access.UserDescriptor;
import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.UserPage;
import io.verbena.raas.RpcClient;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Users: a list of them, and changes.
 *
 * <pre>
 *  request of users                    reply of users
 *   0 +---------------------------+     0 +---------------------------+
 *     |          header           |       |          header           |
 *   8 +---------------------------+     8 +---------------------------+
 *     |     known version (8)     |       |        version (8)        |
 *  16 +-------------+-------------+    16 +------+------+-------------+
 *     | name length |  reserved   |       |count |state |  reserved   |
 *  20 +-------------+-------------+    24 +------+------+-------------+
 *     |  name, ASCII ...          |       | { length 4, user } ...    |
 * </pre>
 *
 * <p>A request to put a user, and the reply, have the user behind the header.
 */
final class UsersDescriptor
{
    static final int KNOWN_VERSION_OFFSET = ControlHeaderDescriptor.LENGTH_BYTES;
    static final int NAME_LENGTH_OFFSET = KNOWN_VERSION_OFFSET + Long.BYTES;
    static final int NAME_OFFSET = NAME_LENGTH_OFFSET + Integer.BYTES;
    static final int REPLY_VERSION_OFFSET = ControlHeaderDescriptor.LENGTH_BYTES;
    static final int REPLY_COUNT_OFFSET = REPLY_VERSION_OFFSET + Long.BYTES;
    static final int REPLY_STATE_OFFSET = REPLY_COUNT_OFFSET + Short.BYTES;
    static final int REPLY_RESERVED_OFFSET = REPLY_STATE_OFFSET + Short.BYTES;
    static final int REPLY_USERS_OFFSET = REPLY_RESERVED_OFFSET + Integer.BYTES;
    static final int USER_OFFSET = ControlHeaderDescriptor.LENGTH_BYTES;
    static final int STATE_LAST = 0;
    static final int STATE_MORE = 1;
    static final int STATE_UNCHANGED = 2;

    private static final ByteOrder ORDER = ControlHeaderDescriptor.ORDER;

    private UsersDescriptor()
    {
    }

    /** A request for a list, or to remove a user; its name may be empty in the one only. */
    static int encodeRequest(
        final String name, final long knownVersion, final MutableDirectBuffer buffer, final int offset)
    {
        if (!name.isEmpty())
        {
            require(User.problem(name));
        }
        ControlHeaderDescriptor.encode(buffer, offset, ControlStatus.OK);
        buffer.putLong(offset + KNOWN_VERSION_OFFSET, knownVersion, ORDER);
        buffer.putInt(offset + NAME_LENGTH_OFFSET, name.length(), ORDER);
        buffer.putStringWithoutLengthAscii(offset + NAME_OFFSET, name);
        return NAME_OFFSET + name.length();
    }

    static long knownVersion(final DirectBuffer buffer, final int offset)
    {
        return buffer.getLong(offset + KNOWN_VERSION_OFFSET, ORDER);
    }

    static String name(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        ControlHeaderDescriptor.require(lengthBytes, NAME_OFFSET, "request about users");
        final int length = buffer.getShort(offset + NAME_LENGTH_OFFSET, ORDER) & 0xFFFF;
        ControlHeaderDescriptor.require(lengthBytes, NAME_OFFSET + length, "request about users");
        final byte[] name = new byte[length];
        buffer.getBytes(offset + NAME_OFFSET, name);
        return new String(name, StandardCharsets.UTF_8);
    }

    /** Encodes as many users as fit. */
    static int encodeReply(final UserPage page, final MutableDirectBuffer buffer, final int offset)
    {
        int count = 0;
        int at = REPLY_USERS_OFFSET;
        for (final User user : page.users())
        {
            final int length = UserDescriptor.lengthBytes(user);
            if (at + Integer.BYTES + length > RpcClient.MAX_MESSAGE_BYTES)
            {
                break;
            }
            buffer.putInt(offset + at, length, ORDER);
            at += Integer.BYTES + UserDescriptor.encode(user, buffer, offset + at + Integer.BYTES);
            count++;
        }
        final boolean hasMore = page.hasMore() || count < page.users().size();
        ControlHeaderDescriptor.encode(buffer, offset, ControlStatus.OK);
        buffer.putLong(offset + REPLY_VERSION_OFFSET, page.version(), ORDER);
        buffer.putShort(offset + REPLY_COUNT_OFFSET, (short)count, ORDER);
        buffer.putShort(offset + REPLY_STATE_OFFSET,
            (short)(page.isUnchanged() ? STATE_UNCHANGED : hasMore ? STATE_MORE : STATE_LAST), ORDER);
        buffer.putInt(offset + REPLY_RESERVED_OFFSET, 0, ORDER);
        return at;
    }

    static UserPage decodeReply(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        ControlHeaderDescriptor.require(lengthBytes, REPLY_USERS_OFFSET, "users reply");
        final int count = buffer.getShort(offset + REPLY_COUNT_OFFSET, ORDER) & 0xFFFF;
        final int state = buffer.getShort(offset + REPLY_STATE_OFFSET, ORDER) & 0xFFFF;
        final List<User> users = new ArrayList<>();
        int at = REPLY_USERS_OFFSET;
        for (int i = 0; i < count; i++)
        {
            ControlHeaderDescriptor.require(lengthBytes, at + Integer.BYTES, "users reply");
            final int length = buffer.getInt(offset + at, ORDER);
            at += Integer.BYTES;
            if (length < 0 || length > lengthBytes - at)
            {
                throw new ControlException(ControlStatus.INVALID_REQUEST, "users reply of " + lengthBytes +
                    " bytes has a user of " + length + " bytes at " + at);
            }
            users.add(decode(buffer, offset + at, length));
            at += length;
        }
        return new UserPage(buffer.getLong(offset + REPLY_VERSION_OFFSET, ORDER), STATE_UNCHANGED == state, users,
            STATE_MORE == state);
    }

    static int encodeUser(final User user, final MutableDirectBuffer buffer, final int offset)
    {
        require(user.problem());
        ControlHeaderDescriptor.encode(buffer, offset, ControlStatus.OK);
        return USER_OFFSET + UserDescriptor.encode(user, buffer, offset + USER_OFFSET);
    }

    static User decodeUser(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        ControlHeaderDescriptor.require(lengthBytes, USER_OFFSET, "user");
        return decode(buffer, offset + USER_OFFSET, lengthBytes - USER_OFFSET);
    }

    private static User decode(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        try
        {
            return UserDescriptor.decode(buffer, offset, lengthBytes);
        }
        catch (final IllegalArgumentException ex)
        {
            throw new ControlException(ControlStatus.INVALID_REQUEST, ex.getMessage());
        }
    }

    private static void require(final String problem)
    {
        if (null != problem)
        {
            throw new ControlException(ControlStatus.INVALID_REQUEST, problem);
        }
    }
}
