package io.verbena.protocol.control;

import io.verbena.protocol.message.AdmissionToken;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.Heartbeat;
import io.verbena.protocol.message.HeldSecrets;
import io.verbena.raas.identity.PeerIdentity;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;
import java.util.List;

/**
 * Heartbeat: renews a lease, and the secret of the registration, and exchanges epochs.
 *
 * <pre>
 *  request                               reply
 *   0 +-------------------------------+   0 +-------------------------------+
 *     |            header             |     |            header             |
 *   8 +---------------+---------------+   8 +-------------------------------+
 *     |    node id    |  incarnation  |     |             epoch             |
 *  16 +---------------+---------------+  16 +-------------------------------+
 *     |         passed epoch          |     |          safe epoch           |
 *  24 +---------------+---------------+  24 +-------------------------------+
 *     | wants epochs  |  newest token |     |      membership version       |
 *  32 +---------------+---------------+  32 +-------------------------------+
 *     |     round     | tokens' round |     |       lease, nanoseconds      |
 *  40 +---------------+---------------+  40 +-------------------------------+
 *     | memory since  |   reserved    |     |        renewed secret         |
 *  48 +---------------+---------------+  80 +-------------------------------+
 *     |  memory nodes that were left  |     |            tokens             |
 *     +-------------------------------+     +-------------------------------+
 *                                           |            spares             |
 *                                           +-------------------------------+
 *                                           |    memory nodes to be left    |
 *                                           +-------------------------------+
 * </pre>
 *
 * <p>Builds that leave no memory nodes end their requests, and their replies, before these.
 */
final class HeartbeatDescriptor
{
    static final int NODE_ID_OFFSET = ControlHeaderDescriptor.LENGTH_BYTES;
    static final int INCARNATION_OFFSET = NODE_ID_OFFSET + Integer.BYTES;
    static final int PASSED_EPOCH_OFFSET = INCARNATION_OFFSET + Integer.BYTES;
    static final int WANTS_EPOCHS_OFFSET = PASSED_EPOCH_OFFSET + Long.BYTES;
    static final int NEWEST_TOKEN_OFFSET = WANTS_EPOCHS_OFFSET + Integer.BYTES;
    static final int ROUND_OFFSET = NEWEST_TOKEN_OFFSET + Integer.BYTES;
    static final int TOKENS_ROUND_OFFSET = ROUND_OFFSET + Integer.BYTES;
    static final int MEMORY_SINCE_OFFSET = TOKENS_ROUND_OFFSET + Integer.BYTES;
    static final int RESERVED_OFFSET = MEMORY_SINCE_OFFSET + Integer.BYTES;
    static final int LEFT_OFFSET = RESERVED_OFFSET + Integer.BYTES;

    static final int REPLY_EPOCH_OFFSET = ControlHeaderDescriptor.LENGTH_BYTES;
    static final int REPLY_SAFE_EPOCH_OFFSET = REPLY_EPOCH_OFFSET + Long.BYTES;
    static final int REPLY_MEMBERSHIP_VERSION_OFFSET = REPLY_SAFE_EPOCH_OFFSET + Long.BYTES;
    static final int REPLY_LEASE_OFFSET = REPLY_MEMBERSHIP_VERSION_OFFSET + Long.BYTES;
    static final int REPLY_SECRET_OFFSET = REPLY_LEASE_OFFSET + Long.BYTES;
    static final int REPLY_TOKENS_OFFSET = REPLY_SECRET_OFFSET + RegistrationSecretDescriptor.LENGTH_BYTES;

    private static final ByteOrder ORDER = ControlHeaderDescriptor.ORDER;

    private HeartbeatDescriptor()
    {
    }

    static int encodeRequest(
        final int nodeId,
        final int incarnation,
        final long passedEpoch,
        final boolean wantsEpochs,
        final HeldSecrets held,
        final int memorySince,
        final List<PeerIdentity> left,
        final MutableDirectBuffer buffer,
        final int offset)
    {
        ControlHeaderDescriptor.encode(buffer, offset, ControlStatus.OK);
        buffer.putInt(offset + NODE_ID_OFFSET, nodeId, ORDER);
        buffer.putInt(offset + INCARNATION_OFFSET, incarnation, ORDER);
        buffer.putLong(offset + PASSED_EPOCH_OFFSET, passedEpoch, ORDER);
        buffer.putInt(offset + WANTS_EPOCHS_OFFSET, wantsEpochs ? 1 : 0, ORDER);
        buffer.putInt(offset + NEWEST_TOKEN_OFFSET, held.newestToken(), ORDER);
        buffer.putInt(offset + ROUND_OFFSET, held.round(), ORDER);
        buffer.putInt(offset + TOKENS_ROUND_OFFSET, held.tokensRound(), ORDER);
        buffer.putInt(offset + MEMORY_SINCE_OFFSET, memorySince, ORDER);
        buffer.putInt(offset + RESERVED_OFFSET, 0, ORDER);
        return LEFT_OFFSET + MemoryNodesDescriptor.encode(left, buffer, offset + LEFT_OFFSET);
    }

    static void requireRequest(final int lengthBytes)
    {
        ControlHeaderDescriptor.require(lengthBytes, LEFT_OFFSET, "heartbeat request");
    }

    static int nodeId(final DirectBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + NODE_ID_OFFSET, ORDER);
    }

    static int incarnation(final DirectBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + INCARNATION_OFFSET, ORDER);
    }

    static long passedEpoch(final DirectBuffer buffer, final int offset)
    {
        return buffer.getLong(offset + PASSED_EPOCH_OFFSET, ORDER);
    }

    static boolean wantsEpochs(final DirectBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + WANTS_EPOCHS_OFFSET, ORDER) != 0;
    }

    static HeldSecrets held(final DirectBuffer buffer, final int offset)
    {
        return new HeldSecrets(
            buffer.getInt(offset + ROUND_OFFSET, ORDER),
            buffer.getInt(offset + TOKENS_ROUND_OFFSET, ORDER),
            buffer.getInt(offset + NEWEST_TOKEN_OFFSET, ORDER));
    }

    /** 0 of nodes that do not say it. */
    static int memorySince(final DirectBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + MEMORY_SINCE_OFFSET, ORDER);
    }

    static List<PeerIdentity> left(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        return MemoryNodesDescriptor.decode(buffer, offset + LEFT_OFFSET, lengthBytes - LEFT_OFFSET);
    }

    static int encodeReply(final Heartbeat reply, final MutableDirectBuffer buffer, final int offset)
    {
        ControlHeaderDescriptor.encode(buffer, offset, ControlStatus.OK);
        buffer.putLong(offset + REPLY_EPOCH_OFFSET, reply.epoch(), ORDER);
        buffer.putLong(offset + REPLY_SAFE_EPOCH_OFFSET, reply.safeEpoch(), ORDER);
        buffer.putLong(offset + REPLY_MEMBERSHIP_VERSION_OFFSET, reply.membershipVersion(), ORDER);
        buffer.putLong(offset + REPLY_LEASE_OFFSET, reply.leaseNs(), ORDER);
        RegistrationSecretDescriptor.encode(reply.renewed(), buffer, offset + REPLY_SECRET_OFFSET);
        final int spares = REPLY_TOKENS_OFFSET +
            AdmissionTokensDescriptor.encode(reply.tokens(), buffer, offset + REPLY_TOKENS_OFFSET);
        final int toLeave = spares + SparesDescriptor.encode(reply.spares(), buffer, offset + spares);
        return toLeave + MemoryNodesDescriptor.encode(reply.toLeave(), buffer, offset + toLeave);
    }

    static Heartbeat decodeReply(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        ControlHeaderDescriptor.require(lengthBytes, REPLY_TOKENS_OFFSET, "heartbeat reply");
        final List<AdmissionToken> tokens = AdmissionTokensDescriptor.decode(
            buffer, offset + REPLY_TOKENS_OFFSET, lengthBytes - REPLY_TOKENS_OFFSET);
        final int spares = REPLY_TOKENS_OFFSET + AdmissionTokensDescriptor.lengthBytes(tokens.size());
        final List<PeerIdentity> identities =
            SparesDescriptor.decode(buffer, offset + spares, lengthBytes - spares);
        final int toLeave = spares + SparesDescriptor.lengthBytes(identities.size());
        return new Heartbeat(
            buffer.getLong(offset + REPLY_EPOCH_OFFSET, ORDER),
            buffer.getLong(offset + REPLY_SAFE_EPOCH_OFFSET, ORDER),
            buffer.getLong(offset + REPLY_MEMBERSHIP_VERSION_OFFSET, ORDER),
            buffer.getLong(offset + REPLY_LEASE_OFFSET, ORDER),
            tokens,
            identities,
            RegistrationSecretDescriptor.decode(buffer, offset + REPLY_SECRET_OFFSET),
            MemoryNodesDescriptor.decode(buffer, offset + toLeave, lengthBytes - toLeave));
    }
}
