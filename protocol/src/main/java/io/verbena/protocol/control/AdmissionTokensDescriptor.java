package io.verbena.protocol.control;

import io.verbena.protocol.message.AdmissionToken;
import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.raas.identity.IdentitySecret;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * Tokens for memory nodes, in replies to register and heartbeat.
 *
 * <pre>
 *   0 +---------------+---------------+
 *     |     count     |     round     |
 *   8 +---------------+---------------+
 *     |    node id    |  incarnation  |   of each
 *     +---------------+---------------+
 *     |                               |
 *     |           secret              |
 *     +-------------------------------+
 * </pre>
 */
final class AdmissionTokensDescriptor
{
    static final int COUNT_OFFSET = 0;
    static final int ROUND_OFFSET = COUNT_OFFSET + Integer.BYTES;
    static final int TOKENS_OFFSET = ROUND_OFFSET + Integer.BYTES;
    static final int TOKEN_NODE_ID_OFFSET = 0;
    static final int TOKEN_INCARNATION_OFFSET = TOKEN_NODE_ID_OFFSET + Integer.BYTES;
    static final int TOKEN_SECRET_OFFSET = TOKEN_INCARNATION_OFFSET + Integer.BYTES;
    static final int TOKEN_LENGTH_BYTES = TOKEN_SECRET_OFFSET + IdentitySecret.LENGTH_BYTES;
    /** More do not fit behind a registration; they come with the next heartbeats. */
    static final int MAX_TOKENS = 160;

    private static final ByteOrder ORDER = ControlHeaderDescriptor.ORDER;

    private AdmissionTokensDescriptor()
    {
    }

    /** Writes as many as fit, all of one round; returns the bytes. */
    static int encode(final List<AdmissionToken> tokens, final MutableDirectBuffer buffer, final int offset)
    {
        final int count = Math.min(MAX_TOKENS, tokens.size());
        buffer.putInt(offset + COUNT_OFFSET, count, ORDER);
        buffer.putInt(offset + ROUND_OFFSET, 0 == count ? 0 : tokens.getFirst().round(), ORDER);
        for (int i = 0; i < count; i++)
        {
            final AdmissionToken token = tokens.get(i);
            final int at = offset + TOKENS_OFFSET + i * TOKEN_LENGTH_BYTES;
            buffer.putInt(at + TOKEN_NODE_ID_OFFSET, token.nodeId(), ORDER);
            buffer.putInt(at + TOKEN_INCARNATION_OFFSET, token.incarnation(), ORDER);
            token.secret().write(buffer, at + TOKEN_SECRET_OFFSET);
        }
        return lengthBytes(count);
    }

    static int lengthBytes(final int count)
    {
        return TOKENS_OFFSET + count * TOKEN_LENGTH_BYTES;
    }

    /** Reads a list from the end of a message, of which so many bytes are left. */
    static List<AdmissionToken> decode(final DirectBuffer buffer, final int offset, final int leftBytes)
    {
        ControlHeaderDescriptor.require(leftBytes, TOKENS_OFFSET, "list of tokens");
        final int count = buffer.getInt(offset + COUNT_OFFSET, ORDER);
        if (count < 0 || count > MAX_TOKENS || lengthBytes(count) > leftBytes)
        {
            throw new ControlException(
                ControlStatus.INVALID_REQUEST, "list of " + count + " tokens in " + leftBytes + " bytes");
        }
        final List<AdmissionToken> tokens = new ArrayList<>(count);
        for (int i = 0; i < count; i++)
        {
            final int at = offset + TOKENS_OFFSET + i * TOKEN_LENGTH_BYTES;
            tokens.add(new AdmissionToken(
                buffer.getInt(at + TOKEN_NODE_ID_OFFSET, ORDER),
                buffer.getInt(at + TOKEN_INCARNATION_OFFSET, ORDER),
                buffer.getInt(offset + ROUND_OFFSET, ORDER),
                IdentitySecret.read(buffer, at + TOKEN_SECRET_OFFSET)));
        }
        return tokens;
    }
}
