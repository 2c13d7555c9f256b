package io.verbena.protocol.bootstrap;

import io.verbena.protocol.access.SecretVerifier;
import io.verbena.raas.PeerAddress;
import io.verbena.raas.identity.IdentitySecret;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.rdma.verbs.DeviceAddress;

import org.agrona.concurrent.UnsafeBuffer;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The handshake over TCP, {@code docs/format/bootstrap.md}; little-endian.
 *
 * <pre>
 *  hello, client to server            challenge, server to client
 *   0 +---------------------------+    0 +---------------------------+
 *     |          magic            |      |          magic            |
 *   4 +-------------+-------------+    4 +-------------+-------------+
 *     |   version   |  reserved   |      |   version   |   status    |
 *   8 +-------------+-------------+    8 +-------------+-------------+
 *     |         formats           |      |         formats           |
 *  12 +---------------------------+   12 +---------------------------+
 *     |   length of user's name   |      |       text length         |
 *  16 +---------------------------+   16 +---------------------------+
 *     |        nonce (32)         |      |        nonce (32)         |
 *  48 +---------------------------+   48 +---------------------------+
 *     |   name of the user ...    |      | text; if status is 0: of  |
 *     +---------------------------+      | a user iterations 4, salt |
 *                                        +---------------------------+
 *  proof, client to server: 32 bytes
 *  answer, server to client
 *   0 +-------------+-------------+
 *     |   status    |  reserved   |
 *   4 +-------------+-------------+
 *     |      payload length       |
 *   8 +---------------------------+
 *     |    server's proof (32)    |
 *  40 +---------------------------+
 *     |        GID (16)           |
 *  56 +---------------------------+
 *     |    service locator (8)    |
 *  64 +---------------------------+
 *     |    cluster's number (8)   |
 *  72 +-------------+-------------+
 *     |    port     |fabric length|
 *  76 +-------------+-------------+
 *     |      number of user       |
 *  80 +---------------------------+
 *     |  generation of its secret |
 *  84 +---------------------------+
 *     |     its ticket (16)       |
 * 100 +---------------------------+
 *     | certificate of its login  |
 * 104 +---------------------------+
 *     |   name of the fabric ...  |
 *     +---------------------------+
 *     |  addresses of members ... |
 *     +---------------------------+
 * </pre>
 */
final class BootstrapDescriptor
{
    /** First 32 bits of both sides: {@code VRBN}. */
    static final int MAGIC = 0x4E42_5256;
    static final int VERSION = 4;
    /** Raised whenever any format or message that nodes and clients exchange changes without being understood. */
    static final int FORMATS = 12;
    static final int VERSION_OFFSET = Integer.BYTES;
    static final int STATUS_OFFSET = VERSION_OFFSET + Short.BYTES;
    static final int FORMATS_OFFSET = STATUS_OFFSET + Short.BYTES;
    static final int TEXT_LENGTH_OFFSET = FORMATS_OFFSET + Integer.BYTES;
    static final int NONCE_OFFSET = TEXT_LENGTH_OFFSET + Integer.BYTES;
    static final int NONCE_LENGTH_BYTES = 32;
    static final int HELLO_LENGTH_BYTES = NONCE_OFFSET + NONCE_LENGTH_BYTES;
    static final int PROOF_LENGTH_BYTES = 32;
    static final int ANSWER_LENGTH_OFFSET = Integer.BYTES;
    static final int ANSWER_PROOF_OFFSET = ANSWER_LENGTH_OFFSET + Integer.BYTES;
    static final int ANSWER_GID_OFFSET = ANSWER_PROOF_OFFSET + PROOF_LENGTH_BYTES;
    static final int ANSWER_LOCATOR_OFFSET = ANSWER_GID_OFFSET + 2 * Long.BYTES;
    static final int ANSWER_CLUSTER_OFFSET = ANSWER_LOCATOR_OFFSET + Long.BYTES;
    static final int ANSWER_PORT_OFFSET = ANSWER_CLUSTER_OFFSET + Long.BYTES;
    static final int ANSWER_FABRIC_LENGTH_OFFSET = ANSWER_PORT_OFFSET + Short.BYTES;
    static final int ANSWER_USER_OFFSET = ANSWER_PORT_OFFSET + Integer.BYTES;
    static final int ANSWER_GENERATION_OFFSET = ANSWER_USER_OFFSET + Integer.BYTES;
    static final int ANSWER_TICKET_OFFSET = ANSWER_GENERATION_OFFSET + Integer.BYTES;
    static final int ANSWER_LOGIN_OFFSET = ANSWER_TICKET_OFFSET + IdentitySecret.LENGTH_BYTES;
    static final int ANSWER_FABRIC_OFFSET = ANSWER_LOGIN_OFFSET + Integer.BYTES;
    static final int CHALLENGE_ITERATIONS_OFFSET = 0;
    static final int CHALLENGE_SALT_OFFSET = CHALLENGE_ITERATIONS_OFFSET + Integer.BYTES;
    static final int CHALLENGE_LENGTH_BYTES = CHALLENGE_SALT_OFFSET + SecretVerifier.SALT_BYTES;
    static final int STATUS_OK = 0;
    static final int STATUS_VERSION_MISMATCH = 1;
    static final int STATUS_WRONG_TOKEN = 2;
    static final int STATUS_BUSY = 3;
    /** Of a challenge: the other side speaks no TLS, or has no right to; its text says which. */
    static final int STATUS_TLS = 4;
    /** Of a challenge that is {@link #STATUS_BUSY}: it needs no nonce. */
    static final int RETRY_DELAY_OFFSET = NONCE_OFFSET;
    static final int MAX_TEXT_BYTES = 1024;
    private static final String NO_MEMBERS = "its list of meta servers cannot be read";

    private BootstrapDescriptor()
    {
    }

    static byte[] hello(final int version, final int formats, final byte[] nonce, final String userName)
    {
        final byte[] name = userName.getBytes(StandardCharsets.US_ASCII);
        return buffer(HELLO_LENGTH_BYTES + name.length).putInt(0, MAGIC).putShort(VERSION_OFFSET, (short)version)
            .putInt(FORMATS_OFFSET, formats).putInt(TEXT_LENGTH_OFFSET, name.length).put(NONCE_OFFSET, nonce)
            .put(HELLO_LENGTH_BYTES, name).array();
    }

    /** What a user needs to prove its secret. */
    static byte[] ofVerifier(final SecretVerifier verifier)
    {
        return buffer(CHALLENGE_LENGTH_BYTES).putInt(CHALLENGE_ITERATIONS_OFFSET, verifier.iterations())
            .put(CHALLENGE_SALT_OFFSET, verifier.salt()).array();
    }

    /** Why two do not understand each other, and what to do: a line. Versions are compared first, then formats. */
    static String mismatch(
        final int clusterVersion, final int clusterFormats, final int programVersion, final int programFormats)
    {
        final boolean isClusterOlder = clusterVersion < programVersion ||
            clusterVersion == programVersion && Integer.compareUnsigned(clusterFormats, programFormats) < 0;
        return "the cluster speaks version " + clusterVersion + " with formats " +
            Integer.toUnsignedString(clusterFormats) + ", this program version " + programVersion + " with formats " +
            Integer.toUnsignedString(programFormats) + ": update " + (isClusterOlder ?
            "the cluster, or use the program of its version" :
            "this program, or use the one that came with the cluster");
    }

    static byte[] challenge(final int status, final String text, final byte[] nonce)
    {
        return challenge(status, text.getBytes(StandardCharsets.UTF_8), nonce);
    }

    static byte[] challenge(final int status, final byte[] bytes, final byte[] nonce)
    {
        return buffer(HELLO_LENGTH_BYTES + bytes.length).putInt(0, MAGIC).putShort(VERSION_OFFSET, (short)VERSION)
            .putShort(STATUS_OFFSET, (short)status).putInt(FORMATS_OFFSET, FORMATS)
            .putInt(TEXT_LENGTH_OFFSET, bytes.length).put(NONCE_OFFSET, nonce).put(HELLO_LENGTH_BYTES, bytes).array();
    }

    /** A challenge that asks to come again later. */
    static byte[] busy(final String text, final int delayMs)
    {
        final byte[] challenge = challenge(STATUS_BUSY, text, new byte[NONCE_LENGTH_BYTES]);
        wrap(challenge).putInt(RETRY_DELAY_OFFSET, delayMs);
        return challenge;
    }

    /** A refusal goes on with text where the proof would be. */
    static byte[] refusal(final int status, final String text)
    {
        final byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return buffer(ANSWER_PROOF_OFFSET + bytes.length).putShort(0, (short)status)
            .putInt(ANSWER_LENGTH_OFFSET, bytes.length).put(ANSWER_PROOF_OFFSET, bytes).array();
    }

    /** Without its proof: 0 in its place, as in what the proof covers. */
    static byte[] answer(final BootstrapAnswer answer)
    {
        final byte[] fabric = answer.fabric().getBytes(StandardCharsets.UTF_8);
        final byte[] members = answer.members().stream().map((member) -> member.host() + ':' + member.port())
            .collect(Collectors.joining(",")).getBytes(StandardCharsets.UTF_8);
        final DeviceAddress device = answer.metaServer().device();
        return buffer(ANSWER_FABRIC_OFFSET + fabric.length + members.length).putShort(0, (short)STATUS_OK)
            .putInt(ANSWER_LENGTH_OFFSET,
                ANSWER_FABRIC_OFFSET + fabric.length + members.length - ANSWER_PROOF_OFFSET)
            .putLong(ANSWER_GID_OFFSET, device.gidHigh()).putLong(ANSWER_GID_OFFSET + Long.BYTES, device.gidLow())
            .putLong(ANSWER_LOCATOR_OFFSET, device.serviceLocator())
            .putLong(ANSWER_CLUSTER_OFFSET, answer.clusterId())
            .putShort(ANSWER_PORT_OFFSET, (short)answer.metaServer().servicePort())
            .putShort(ANSWER_FABRIC_LENGTH_OFFSET, (short)fabric.length)
            .put(ANSWER_FABRIC_OFFSET, fabric).put(ANSWER_FABRIC_OFFSET + fabric.length, members).array();
    }

    /** Who the user is, and its ticket, which only the user can read. */
    static void putTicket(
        final byte[] answer, final int number, final int generation, final int login, final byte[] maskedSecret)
    {
        wrap(answer).putInt(ANSWER_USER_OFFSET, number).putInt(ANSWER_GENERATION_OFFSET, generation)
            .put(ANSWER_TICKET_OFFSET, maskedSecret).putInt(ANSWER_LOGIN_OFFSET, login);
    }

    /**
     * With which roles of a certificate who has the token joins; null where certificates name none. It is within TLS
     * that it is sent, so that nothing masks it.
     */
    static AccessTicket joiningTicket(final byte[] answer)
    {
        final ByteBuffer bytes = wrap(answer);
        final PeerIdentity identity = new PeerIdentity(0, bytes.getInt(ANSWER_GENERATION_OFFSET));
        return 0 != bytes.getInt(ANSWER_USER_OFFSET) || 0 == identity.joiningRoles() ? null :
            new AccessTicket(identity, IdentitySecret.read(new UnsafeBuffer(answer), ANSWER_TICKET_OFFSET));
    }

    /** Takes the proof out of an answer, and leaves 0 in its place. */
    static byte[] takeProof(final byte[] answer)
    {
        final byte[] proof = Arrays.copyOfRange(answer, ANSWER_PROOF_OFFSET, ANSWER_GID_OFFSET);
        Arrays.fill(answer, ANSWER_PROOF_OFFSET, ANSWER_GID_OFFSET, (byte)0);
        return proof;
    }

    static void putProof(final byte[] answer, final byte[] proof)
    {
        System.arraycopy(proof, 0, answer, ANSWER_PROOF_OFFSET, PROOF_LENGTH_BYTES);
    }

    /** Throws IllegalArgumentException with a part of a line when it says what cannot be. */
    static BootstrapAnswer decodeAnswer(final ByteBuffer bytes)
    {
        final int fabricLength = bytes.getShort(ANSWER_FABRIC_LENGTH_OFFSET) & 0xFFFF;
        if (fabricLength > bytes.capacity() - ANSWER_FABRIC_OFFSET)
        {
            throw new IllegalArgumentException("its answer is too short");
        }
        final byte[] fabric = new byte[fabricLength];
        bytes.get(ANSWER_FABRIC_OFFSET, fabric);
        final DeviceAddress device = new DeviceAddress(bytes.getLong(ANSWER_GID_OFFSET),
            bytes.getLong(ANSWER_GID_OFFSET + Long.BYTES), bytes.getLong(ANSWER_LOCATOR_OFFSET));
        return new BootstrapAnswer(bytes.getLong(ANSWER_CLUSTER_OFFSET), new String(fabric, StandardCharsets.UTF_8),
            new PeerAddress(device, bytes.getShort(ANSWER_PORT_OFFSET) & 0xFFFF, 0, 0),
            members(bytes, ANSWER_FABRIC_OFFSET + fabricLength), null);
    }

    private static List<ClusterAddress> members(final ByteBuffer bytes, final int offset)
    {
        final byte[] text = new byte[bytes.capacity() - offset];
        bytes.get(offset, text);
        if (0 == text.length)
        {
            return List.of();
        }
        try
        {
            final List<ClusterAddress> members =
                ClusterAddress.parse(new String(text, StandardCharsets.UTF_8)).all();
            if (members.size() <= BootstrapAnswer.MAX_MEMBERS &&
                members.stream().allMatch((member) -> member.port() > 0))
            {
                return members;
            }
        }
        catch (final BootstrapException ex)
        {
            throw new IllegalArgumentException(NO_MEMBERS, ex);
        }
        throw new IllegalArgumentException(NO_MEMBERS);
    }

    static ByteBuffer wrap(final byte[] bytes)
    {
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static ByteBuffer buffer(final int length)
    {
        return ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
    }
}
