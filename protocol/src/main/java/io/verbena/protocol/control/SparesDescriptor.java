package io.verbena.protocol.control;

import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.raas.identity.PeerIdentity;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * Identities that a compute node may be given any time, behind the tokens in replies to register and heartbeat.
 *
 * <pre>
 *   0 +---------------+---------------+
 *     |     count     | reserved, zero|
 *   8 +---------------+---------------+
 *     |    node id    |  incarnation  |   of each
 *     +---------------+---------------+
 * </pre>
 */
final class SparesDescriptor
{
    static final int COUNT_OFFSET = 0;
    static final int RESERVED_OFFSET = COUNT_OFFSET + Integer.BYTES;
    static final int SPARES_OFFSET = RESERVED_OFFSET + Integer.BYTES;
    static final int SPARE_NODE_ID_OFFSET = 0;
    static final int SPARE_INCARNATION_OFFSET = SPARE_NODE_ID_OFFSET + Integer.BYTES;
    static final int SPARE_LENGTH_BYTES = SPARE_INCARNATION_OFFSET + Integer.BYTES;
    /** More do not fit, and are not made. */
    static final int MAX_SPARES = MetaService.MAX_SPARES;

    private static final ByteOrder ORDER = ControlHeaderDescriptor.ORDER;

    private SparesDescriptor()
    {
    }

    /** Writes them; returns the bytes. */
    static int encode(final List<PeerIdentity> spares, final MutableDirectBuffer buffer, final int offset)
    {
        if (spares.size() > MAX_SPARES)
        {
            throw new IllegalArgumentException(spares.size() + " spares, at most " + MAX_SPARES + " fit");
        }
        buffer.putInt(offset + COUNT_OFFSET, spares.size(), ORDER);
        buffer.putInt(offset + RESERVED_OFFSET, 0, ORDER);
        int at = offset + SPARES_OFFSET;
        for (final PeerIdentity spare : spares)
        {
            buffer.putInt(at + SPARE_NODE_ID_OFFSET, spare.nodeId(), ORDER);
            buffer.putInt(at + SPARE_INCARNATION_OFFSET, spare.incarnation(), ORDER);
            at += SPARE_LENGTH_BYTES;
        }
        return at - offset;
    }

    /** Bytes of a list. */
    static int lengthBytes(final int count)
    {
        return SPARES_OFFSET + count * SPARE_LENGTH_BYTES;
    }

    /** Reads a list at the beginning of so many bytes of the message. */
    static List<PeerIdentity> decode(final DirectBuffer buffer, final int offset, final int leftBytes)
    {
        ControlHeaderDescriptor.require(leftBytes, SPARES_OFFSET, "list of spares");
        final int count = buffer.getInt(offset + COUNT_OFFSET, ORDER);
        if (count < 0 || count > MAX_SPARES || lengthBytes(count) > leftBytes)
        {
            throw new ControlException(
                ControlStatus.INVALID_REQUEST, "list of " + count + " spares in " + leftBytes + " bytes");
        }
        final List<PeerIdentity> spares = new ArrayList<>(count);
        for (int i = 0; i < count; i++)
        {
            final int at = offset + SPARES_OFFSET + i * SPARE_LENGTH_BYTES;
            spares.add(new PeerIdentity(buffer.getInt(at + SPARE_NODE_ID_OFFSET, ORDER),
                buffer.getInt(at + SPARE_INCARNATION_OFFSET, ORDER)));
        }
        return spares;
    }
}
