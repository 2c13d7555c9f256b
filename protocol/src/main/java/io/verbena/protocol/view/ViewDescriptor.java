package io.verbena.protocol.view;

import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.raas.identity.PeerIdentity;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * A view in a message, behind its header; little-endian.
 *
 * <pre>
 *   0 +-------------------------------+
 *     |            number             |
 *   8 +---------------+---------------+
 *     |     group     |    attempt    |
 *  16 +-------+-------+---------------+
 *     | state | count |     lost      |
 *  24 +-------+-------+---------------+
 *     |          reconciler           |
 *  32 +-------------------------------+
 *     |  members, 8 bytes each    ... |
 * </pre>
 */
public final class ViewDescriptor
{
    static final int NUMBER_OFFSET = 0;
    static final int GROUP_OFFSET = NUMBER_OFFSET + Long.BYTES;
    static final int ATTEMPT_OFFSET = GROUP_OFFSET + Integer.BYTES;
    static final int STATE_OFFSET = ATTEMPT_OFFSET + Integer.BYTES;
    static final int MEMBER_COUNT_OFFSET = STATE_OFFSET + Short.BYTES;
    static final int LOST_OFFSET = MEMBER_COUNT_OFFSET + Short.BYTES;
    static final int RECONCILER_OFFSET = LOST_OFFSET + Integer.BYTES;
    static final int MEMBERS_OFFSET = RECONCILER_OFFSET + Long.BYTES;
    static final int MEMBER_LENGTH_BYTES = 2 * Integer.BYTES;

    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;

    private ViewDescriptor()
    {
    }

    /**
     * @param view any.
     * @return its length in a message.
     */
    public static int lengthBytes(final View view)
    {
        return MEMBERS_OFFSET + view.members().size() * MEMBER_LENGTH_BYTES;
    }

    /**
     * Writes a view.
     *
     * @param view   any.
     * @param buffer with room for {@link #lengthBytes}.
     * @param offset where it begins.
     * @return its length.
     */
    public static int encode(final View view, final MutableDirectBuffer buffer, final int offset)
    {
        buffer.putLong(offset + NUMBER_OFFSET, view.number(), ORDER);
        buffer.putInt(offset + GROUP_OFFSET, view.group(), ORDER);
        buffer.putInt(offset + ATTEMPT_OFFSET, view.attempt(), ORDER);
        buffer.putShort(offset + STATE_OFFSET, (short)view.state().code(), ORDER);
        buffer.putShort(offset + MEMBER_COUNT_OFFSET, (short)view.members().size(), ORDER);
        buffer.putInt(offset + LOST_OFFSET, view.lost(), ORDER);
        putIdentity(view.reconciler(), buffer, offset + RECONCILER_OFFSET);
        int at = offset + MEMBERS_OFFSET;
        for (final PeerIdentity member : view.members())
        {
            putIdentity(member, buffer, at);
            at += MEMBER_LENGTH_BYTES;
        }
        return at - offset;
    }

    /**
     * Reads a view.
     *
     * @param buffer      of the message.
     * @param offset      where it begins.
     * @param lengthBytes of the message from there on.
     * @return the view.
     * @throws ControlException INVALID_REQUEST, when there is none.
     */
    public static View decode(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        require(lengthBytes, MEMBERS_OFFSET, "a view");
        final int memberCount = buffer.getShort(offset + MEMBER_COUNT_OFFSET, ORDER) & 0xFFFF;
        final int code = buffer.getShort(offset + STATE_OFFSET, ORDER);
        final ViewState state = ViewState.ofCode(code);
        if (state == null || memberCount > View.MAX_MEMBERS)
        {
            throw invalid("a view of state " + code + " with " + memberCount + " members");
        }
        require(lengthBytes, MEMBERS_OFFSET + memberCount * MEMBER_LENGTH_BYTES, "a view");
        final List<PeerIdentity> members = new ArrayList<>(memberCount);
        for (int i = 0; i < memberCount; i++)
        {
            members.add(identity(buffer, offset + MEMBERS_OFFSET + i * MEMBER_LENGTH_BYTES));
        }
        try
        {
            return new View(buffer.getInt(offset + GROUP_OFFSET, ORDER), buffer.getLong(offset + NUMBER_OFFSET, ORDER),
                state, buffer.getInt(offset + ATTEMPT_OFFSET, ORDER), members,
                buffer.getInt(offset + LOST_OFFSET, ORDER), identity(buffer, offset + RECONCILER_OFFSET));
        }
        catch (final IllegalArgumentException ex)
        {
            throw invalid(ex.getMessage());
        }
    }

    private static void putIdentity(final PeerIdentity identity, final MutableDirectBuffer buffer, final int offset)
    {
        buffer.putInt(offset, identity.nodeId(), ORDER);
        buffer.putInt(offset + Integer.BYTES, identity.incarnation(), ORDER);
    }

    private static PeerIdentity identity(final DirectBuffer buffer, final int offset)
    {
        return new PeerIdentity(buffer.getInt(offset, ORDER), buffer.getInt(offset + Integer.BYTES, ORDER));
    }

    /** Throws unless a message has at least so many bytes. */
    static void require(final int lengthBytes, final int neededBytes, final String what)
    {
        if (lengthBytes < neededBytes)
        {
            throw invalid(what + " of " + lengthBytes + " bytes, needs " + neededBytes);
        }
    }

    static ControlException invalid(final String what)
    {
        return new ControlException(ControlStatus.INVALID_REQUEST, what);
    }
}
