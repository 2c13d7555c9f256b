package io.verbena.protocol.control;

import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.RegistrationSecret;
import io.verbena.raas.identity.IdentitySecret;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;

/**
 * What proves a registration, in replies to register and heartbeat; masked, see {@code Credentials}.
 *
 * <pre>
 *   0 +---------------+---------------+
 *     |     round     | reserved, zero|
 *   8 +---------------+---------------+
 *     |                               |
 *     |            latest             |
 *  24 +-------------------------------+
 *     |                               |
 *     |            before             |
 *  40 +-------------------------------+
 * </pre>
 */
final class RegistrationSecretDescriptor
{
    static final int ROUND_OFFSET = 0;
    static final int RESERVED_OFFSET = ROUND_OFFSET + Integer.BYTES;
    static final int LATEST_OFFSET = RESERVED_OFFSET + Integer.BYTES;
    static final int BEFORE_OFFSET = LATEST_OFFSET + IdentitySecret.LENGTH_BYTES;
    static final int LENGTH_BYTES = BEFORE_OFFSET + IdentitySecret.LENGTH_BYTES;
    /** In the place of the round: there is no secret here. */
    static final int NONE = 0;

    private static final ByteOrder ORDER = ControlHeaderDescriptor.ORDER;

    private RegistrationSecretDescriptor()
    {
    }

    /** @param secret null: none. */
    static void encode(final RegistrationSecret secret, final MutableDirectBuffer buffer, final int offset)
    {
        buffer.setMemory(offset, LENGTH_BYTES, (byte)0);
        if (null != secret)
        {
            buffer.putInt(offset + ROUND_OFFSET, secret.round(), ORDER);
            secret.latest().write(buffer, offset + LATEST_OFFSET);
            if (null != secret.before())
            {
                secret.before().write(buffer, offset + BEFORE_OFFSET);
            }
        }
    }

    /** Null for none. */
    static RegistrationSecret decode(final DirectBuffer buffer, final int offset)
    {
        final int round = buffer.getInt(offset + ROUND_OFFSET, ORDER);
        if (round < NONE)
        {
            throw new ControlException(ControlStatus.INVALID_REQUEST, "secret of round " + round);
        }
        return NONE == round ? null : new RegistrationSecret(
            round,
            IdentitySecret.read(buffer, offset + LATEST_OFFSET),
            RegistrationSecret.FIRST_ROUND == round ? null : IdentitySecret.read(buffer, offset + BEFORE_OFFSET));
    }
}
