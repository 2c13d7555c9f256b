package io.verbena.protocol.control;

import io.verbena.protocol.message.AdmissionToken;
import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.FailureDomain;
import io.verbena.protocol.message.NodeRegistration;
import io.verbena.protocol.message.Registration;
import io.verbena.protocol.message.RegistrationSecret;
import io.verbena.protocol.view.FailureDomainDescriptor;
import io.verbena.raas.ReadTargetAddress;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.directory.NodeRole;
import io.verbena.raas.directory.TcpAddress;
import io.verbena.rdma.verbs.DeviceAddress;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;
import java.util.List;

/**
 * Register: a node says what it is, the meta server answers who it is.
 *
 * <pre>
 *  request                               reply
 *   0 +-------------------------------+   0 +-------------------------------+
 *     |            header             |     |            header             |
 *   8 +---------------+---------------+   8 +---------------+---------------+
 *     |    node id    |     role      |     |    node id    |  incarnation  |
 *  16 +---------------+---------------+  16 +---------------+---------------+
 *     |       device GID, high        |     |             epoch             |
 *  24 +-------------------------------+  24 +-------------------------------+
 *     |       device GID, low         |     |          safe epoch           |
 *  32 +-------------------------------+  32 +-------------------------------+
 *     |        region address         |     |      membership version       |
 *  40 +-------------------------------+  40 +-------------------------------+
 *     |        region length          |     |       lease, nanoseconds      |
 *  48 +---------------+---------------+  48 +---------------+---------------+
 *     |  region key   | service port  |     | writer number |   reserved    |
 *  56 +---------------+---------------+  56 +---------------+---------------+
 *     |    device service locator     |     |          cluster id           |
 *  64 +-------------------------------+  64 +-------------------------------+
 *     |           memory id           |     |                               |
 *  72 +-------------------------------+     |                               |
 *     |          cluster id           |     |            secret             |
 *  80 +---------------+---------------+     |                               |
 *     | target number |   TCP port    |     |                               |
 *  88 +---------------+---------------+     |                               |
 *     |    target access key (DC)     |     |                               |
 *  96 +-------------------------------+     |                               |
 *     |       TCP address, high       |     |                               |
 * 104 +-------------------------------+ 104 +-------------------------------+
 *     |       TCP address, low        |     |            tokens             |
 * 112 +-------------------------------+     +-------------------------------+
 *     |      failure domain (64)      |
 * 176 +-------------------------------+
 * </pre>
 *
 * <p>A compute node that is a spare has a role of its own: a meta server that knows no spares refuses it.
 *
 * <p>Builds that know no TCP address send 96 bytes, with 0 as the port: then nothing is read behind them. A node
 * without a label of a failure domain sends 112, as builds do that know none.
 */
final class RegisterDescriptor
{
    static final int SPARE_ROLE = 4;
    static final int NODE_ID_OFFSET = ControlHeaderDescriptor.LENGTH_BYTES;
    static final int ROLE_OFFSET = NODE_ID_OFFSET + Integer.BYTES;
    static final int GID_HIGH_OFFSET = ROLE_OFFSET + Integer.BYTES;
    static final int GID_LOW_OFFSET = GID_HIGH_OFFSET + Long.BYTES;
    static final int REGION_ADDRESS_OFFSET = GID_LOW_OFFSET + Long.BYTES;
    static final int REGION_LENGTH_OFFSET = REGION_ADDRESS_OFFSET + Long.BYTES;
    static final int REGION_KEY_OFFSET = REGION_LENGTH_OFFSET + Long.BYTES;
    static final int SERVICE_PORT_OFFSET = REGION_KEY_OFFSET + Integer.BYTES;
    static final int SERVICE_LOCATOR_OFFSET = SERVICE_PORT_OFFSET + Integer.BYTES;
    static final int MEMORY_ID_OFFSET = SERVICE_LOCATOR_OFFSET + Long.BYTES;
    static final int CLUSTER_ID_OFFSET = MEMORY_ID_OFFSET + Long.BYTES;
    static final int READ_TARGET_NUMBER_OFFSET = CLUSTER_ID_OFFSET + Long.BYTES;
    static final int TCP_PORT_OFFSET = READ_TARGET_NUMBER_OFFSET + Integer.BYTES;
    static final int READ_TARGET_KEY_OFFSET = TCP_PORT_OFFSET + Integer.BYTES;
    static final int TCP_HIGH_OFFSET = READ_TARGET_KEY_OFFSET + Long.BYTES;
    static final int TCP_LOW_OFFSET = TCP_HIGH_OFFSET + Long.BYTES;
    static final int FAILURE_DOMAIN_OFFSET = TCP_LOW_OFFSET + Long.BYTES;
    static final int REQUEST_LENGTH_BYTES = FAILURE_DOMAIN_OFFSET + FailureDomainDescriptor.LENGTH_BYTES;

    static final int REPLY_NODE_ID_OFFSET = ControlHeaderDescriptor.LENGTH_BYTES;
    static final int REPLY_INCARNATION_OFFSET = REPLY_NODE_ID_OFFSET + Integer.BYTES;
    static final int REPLY_EPOCH_OFFSET = REPLY_INCARNATION_OFFSET + Integer.BYTES;
    static final int REPLY_SAFE_EPOCH_OFFSET = REPLY_EPOCH_OFFSET + Long.BYTES;
    static final int REPLY_MEMBERSHIP_VERSION_OFFSET = REPLY_SAFE_EPOCH_OFFSET + Long.BYTES;
    static final int REPLY_LEASE_OFFSET = REPLY_MEMBERSHIP_VERSION_OFFSET + Long.BYTES;
    static final int REPLY_WRITER_NUMBER_OFFSET = REPLY_LEASE_OFFSET + Long.BYTES;
    static final int REPLY_RESERVED_OFFSET = REPLY_WRITER_NUMBER_OFFSET + Integer.BYTES;
    static final int REPLY_CLUSTER_ID_OFFSET = REPLY_RESERVED_OFFSET + Integer.BYTES;
    static final int REPLY_SECRET_OFFSET = REPLY_CLUSTER_ID_OFFSET + Long.BYTES;
    static final int REPLY_TOKENS_OFFSET = REPLY_SECRET_OFFSET + RegistrationSecretDescriptor.LENGTH_BYTES;

    private static final ByteOrder ORDER = ControlHeaderDescriptor.ORDER;

    private RegisterDescriptor()
    {
    }

    static int encodeRequest(final NodeRegistration request, final MutableDirectBuffer buffer, final int offset)
    {
        ControlHeaderDescriptor.encode(buffer, offset, ControlStatus.OK);
        buffer.putInt(offset + NODE_ID_OFFSET, request.nodeId(), ORDER);
        buffer.putInt(offset + ROLE_OFFSET, request.isSpare() ? SPARE_ROLE : request.role().code(), ORDER);
        buffer.putLong(offset + GID_HIGH_OFFSET, request.device().gidHigh(), ORDER);
        buffer.putLong(offset + GID_LOW_OFFSET, request.device().gidLow(), ORDER);
        buffer.putLong(offset + REGION_ADDRESS_OFFSET, request.region().address(), ORDER);
        buffer.putLong(offset + REGION_LENGTH_OFFSET, request.region().lengthBytes(), ORDER);
        buffer.putInt(offset + REGION_KEY_OFFSET, request.region().remoteKey(), ORDER);
        buffer.putInt(offset + SERVICE_PORT_OFFSET, request.servicePort(), ORDER);
        buffer.putLong(offset + SERVICE_LOCATOR_OFFSET, request.device().serviceLocator(), ORDER);
        buffer.putLong(offset + MEMORY_ID_OFFSET, request.memoryId(), ORDER);
        buffer.putLong(offset + CLUSTER_ID_OFFSET, request.clusterId(), ORDER);
        buffer.putInt(offset + READ_TARGET_NUMBER_OFFSET, request.readTarget().number(), ORDER);
        buffer.putInt(offset + TCP_PORT_OFFSET, request.tcpService().port(), ORDER);
        buffer.putLong(offset + READ_TARGET_KEY_OFFSET, request.readTarget().accessKey(), ORDER);
        buffer.putLong(offset + TCP_HIGH_OFFSET, request.tcpService().high(), ORDER);
        buffer.putLong(offset + TCP_LOW_OFFSET, request.tcpService().low(), ORDER);
        if (FailureDomain.NONE.equals(request.failureDomain()))
        {
            return FAILURE_DOMAIN_OFFSET;
        }
        FailureDomainDescriptor.encode(request.failureDomain(), buffer, offset + FAILURE_DOMAIN_OFFSET);
        return REQUEST_LENGTH_BYTES;
    }

    static NodeRegistration decodeRequest(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        ControlHeaderDescriptor.require(lengthBytes, TCP_HIGH_OFFSET, "register request");
        final int roleCode = buffer.getInt(offset + ROLE_OFFSET, ORDER);
        final boolean isSpare = SPARE_ROLE == roleCode;
        final NodeRole role = isSpare ? NodeRole.COMPUTE_NODE : NodeRole.ofCode(roleCode);
        if (role == null)
        {
            throw new ControlException(ControlStatus.INVALID_REQUEST, "unknown role " + roleCode);
        }
        return new NodeRegistration(
            buffer.getInt(offset + NODE_ID_OFFSET, ORDER),
            role,
            new DeviceAddress(
                buffer.getLong(offset + GID_HIGH_OFFSET, ORDER),
                buffer.getLong(offset + GID_LOW_OFFSET, ORDER),
                buffer.getLong(offset + SERVICE_LOCATOR_OFFSET, ORDER)),
            buffer.getInt(offset + SERVICE_PORT_OFFSET, ORDER),
            new RemoteRegion(
                buffer.getLong(offset + REGION_ADDRESS_OFFSET, ORDER),
                buffer.getLong(offset + REGION_LENGTH_OFFSET, ORDER),
                buffer.getInt(offset + REGION_KEY_OFFSET, ORDER)),
            buffer.getLong(offset + MEMORY_ID_OFFSET, ORDER),
            buffer.getLong(offset + CLUSTER_ID_OFFSET, ORDER),
            new ReadTargetAddress(
                buffer.getInt(offset + READ_TARGET_NUMBER_OFFSET, ORDER),
                buffer.getLong(offset + READ_TARGET_KEY_OFFSET, ORDER)),
            decodeTcpService(buffer, offset, lengthBytes),
            isSpare).inFailureDomain(decodeFailureDomain(buffer, offset, lengthBytes));
    }

    private static String decodeFailureDomain(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        if (lengthBytes <= FAILURE_DOMAIN_OFFSET)
        {
            return FailureDomain.NONE;
        }
        ControlHeaderDescriptor.require(lengthBytes, REQUEST_LENGTH_BYTES, "register request with a failure domain");
        try
        {
            return FailureDomainDescriptor.decode(buffer, offset + FAILURE_DOMAIN_OFFSET);
        }
        catch (final IllegalArgumentException ex)
        {
            throw new ControlException(ControlStatus.INVALID_REQUEST, ex.getMessage());
        }
    }

    private static TcpAddress decodeTcpService(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        final int port = buffer.getInt(offset + TCP_PORT_OFFSET, ORDER);
        if (0 == port)
        {
            return TcpAddress.NONE;
        }
        ControlHeaderDescriptor.require(lengthBytes, FAILURE_DOMAIN_OFFSET, "register request with a TCP port");
        return new TcpAddress(
            buffer.getLong(offset + TCP_HIGH_OFFSET, ORDER), buffer.getLong(offset + TCP_LOW_OFFSET, ORDER), port);
    }

    static int encodeReply(final Registration reply, final MutableDirectBuffer buffer, final int offset)
    {
        ControlHeaderDescriptor.encode(buffer, offset, ControlStatus.OK);
        buffer.putInt(offset + REPLY_NODE_ID_OFFSET, reply.nodeId(), ORDER);
        buffer.putInt(offset + REPLY_INCARNATION_OFFSET, reply.incarnation(), ORDER);
        buffer.putLong(offset + REPLY_EPOCH_OFFSET, reply.epoch(), ORDER);
        buffer.putLong(offset + REPLY_SAFE_EPOCH_OFFSET, reply.safeEpoch(), ORDER);
        buffer.putLong(offset + REPLY_MEMBERSHIP_VERSION_OFFSET, reply.membershipVersion(), ORDER);
        buffer.putLong(offset + REPLY_LEASE_OFFSET, reply.leaseNs(), ORDER);
        buffer.putInt(offset + REPLY_WRITER_NUMBER_OFFSET, reply.writerNumber(), ORDER);
        buffer.putInt(offset + REPLY_RESERVED_OFFSET, 0, ORDER);
        buffer.putLong(offset + REPLY_CLUSTER_ID_OFFSET, reply.clusterId(), ORDER);
        RegistrationSecretDescriptor.encode(reply.secret(), buffer, offset + REPLY_SECRET_OFFSET);
        final int spares = REPLY_TOKENS_OFFSET +
            AdmissionTokensDescriptor.encode(reply.tokens(), buffer, offset + REPLY_TOKENS_OFFSET);
        return spares + SparesDescriptor.encode(reply.spares(), buffer, offset + spares);
    }

    static Registration decodeReply(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        ControlHeaderDescriptor.require(lengthBytes, REPLY_TOKENS_OFFSET, "register reply");
        final List<AdmissionToken> tokens = AdmissionTokensDescriptor.decode(
            buffer, offset + REPLY_TOKENS_OFFSET, lengthBytes - REPLY_TOKENS_OFFSET);
        final int spares = REPLY_TOKENS_OFFSET + AdmissionTokensDescriptor.lengthBytes(tokens.size());
        final RegistrationSecret secret = RegistrationSecretDescriptor.decode(buffer, offset + REPLY_SECRET_OFFSET);
        if (null == secret)
        {
            throw new ControlException(ControlStatus.INVALID_REQUEST, "register reply without a secret");
        }
        return new Registration(
            buffer.getInt(offset + REPLY_NODE_ID_OFFSET, ORDER),
            buffer.getInt(offset + REPLY_INCARNATION_OFFSET, ORDER),
            buffer.getInt(offset + REPLY_WRITER_NUMBER_OFFSET, ORDER),
            buffer.getLong(offset + REPLY_EPOCH_OFFSET, ORDER),
            buffer.getLong(offset + REPLY_SAFE_EPOCH_OFFSET, ORDER),
            buffer.getLong(offset + REPLY_MEMBERSHIP_VERSION_OFFSET, ORDER),
            buffer.getLong(offset + REPLY_LEASE_OFFSET, ORDER),
            buffer.getLong(offset + REPLY_CLUSTER_ID_OFFSET, ORDER),
            secret,
            tokens,
            SparesDescriptor.decode(buffer, offset + spares, lengthBytes - spares));
    }
}
