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
 *  16 +-------+---+---+-------+-------+
 *     | state | n | e | lost  |copies |
 *  24 +-------+---+---+-------+-------+
 *     |          reconciler           |
 *  32 +-------------------------------+
 *     | n members, 8 bytes each   ... |
 *     +-------------------------------+
 *     | who comes in, where e is 1    |
 * </pre>
 */
public final class ViewDescriptor
{
    static final int NUMBER_OFFSET = 0;
    static final int GROUP_OFFSET = NUMBER_OFFSET + Long.BYTES;
    static final int ATTEMPT_OFFSET = GROUP_OFFSET + Integer.BYTES;
    static final int STATE_OFFSET = ATTEMPT_OFFSET + Integer.BYTES;
    static final int MEMBER_COUNT_OFFSET = STATE_OFFSET + Short.BYTES;
    static final int ENTERING_COUNT_OFFSET = MEMBER_COUNT_OFFSET + Byte.BYTES;
    static final int LOST_OFFSET = ENTERING_COUNT_OFFSET + Byte.BYTES;
    static final int COPIES_OFFSET = LOST_OFFSET + Short.BYTES;
    static final int RECONCILER_OFFSET = COPIES_OFFSET + Short.BYTES;
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
        return MEMBERS_OFFSET + (view.members().size() + (view.hasEntering() ? 1 : 0)) * MEMBER_LENGTH_BYTES;
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
        buffer.putByte(offset + MEMBER_COUNT_OFFSET, (byte)view.members().size());
        buffer.putByte(offset + ENTERING_COUNT_OFFSET, (byte)(view.hasEntering() ? 1 : 0));
        buffer.putShort(offset + LOST_OFFSET, (short)view.lost(), ORDER);
        buffer.putShort(offset + COPIES_OFFSET, (short)view.copies(), ORDER);
        putIdentity(view.reconciler(), buffer, offset + RECONCILER_OFFSET);
        int at = offset + MEMBERS_OFFSET;
        for (final PeerIdentity member : view.members())
        {
            putIdentity(member, buffer, at);
            at += MEMBER_LENGTH_BYTES;
        }
        if (view.hasEntering())
        {
            putIdentity(view.entering(), buffer, at);
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
        final int memberCount = buffer.getByte(offset + MEMBER_COUNT_OFFSET) & 0xFF;
        final int enteringCount = buffer.getByte(offset + ENTERING_COUNT_OFFSET) & 0xFF;
        final int code = buffer.getShort(offset + STATE_OFFSET, ORDER);
        final ViewState state = ViewState.ofCode(code);
        if (state == null || memberCount > View.MAX_MEMBERS || enteringCount > 1)
        {
            throw invalid("a view of state " + code + " with " + memberCount + " members, and " + enteringCount +
                " that come in");
        }
        final int enteringOffset = MEMBERS_OFFSET + memberCount * MEMBER_LENGTH_BYTES;
        require(lengthBytes, enteringOffset + enteringCount * MEMBER_LENGTH_BYTES, "a view");
        final List<PeerIdentity> members = new ArrayList<>(memberCount);
        for (int i = 0; i < memberCount; i++)
        {
            members.add(identity(buffer, offset + MEMBERS_OFFSET + i * MEMBER_LENGTH_BYTES));
        }
        try
        {
            return new View(buffer.getInt(offset + GROUP_OFFSET, ORDER), buffer.getLong(offset + NUMBER_OFFSET, ORDER),
                state, buffer.getInt(offset + ATTEMPT_OFFSET, ORDER), members,
                buffer.getShort(offset + LOST_OFFSET, ORDER) & 0xFFFF, identity(buffer, offset + RECONCILER_OFFSET),
                buffer.getShort(offset + COPIES_OFFSET, ORDER) & 0xFFFF,
                enteringCount == 0 ? PeerIdentity.UNREGISTERED : identity(buffer, offset + enteringOffset));
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
