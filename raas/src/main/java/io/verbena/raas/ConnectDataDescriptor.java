package io.verbena.raas;

import io.verbena.raas.encryption.SealedMessageDescriptor;
import io.verbena.raas.identity.ConnectionClaim;
import io.verbena.raas.identity.IdentitySecret;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.RdmaException;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * Private data exchanged at connect, {@code docs/format/connect-data.md}; little-endian. A refusal is bare UTF-8 text.
 *
 * <pre>
 *  request                            answer
 *   0 +---------------------------+    0 +---------------------------+
 *     |           magic           |      |           magic           |
 *   4 +-------------+-------------+    4 +-------------+-------------+
 *     |   version   |   credits   |      |   version   |   credits   |
 *   8 +-------------+-------------+    8 +-------------+------+------+
 *     |          node id          |      | access flags|regions| data|
 *  12 +---------------------------+   12 +-------------+------+------+
 *     |        incarnation        |      |  incarnation of acceptor  |
 *  16 +---------------------------+   16 +---------------------------+
 *     |           nonce           |      | regions * { address 8,    |
 *  24 +---------------------------+      |   length 8, remote key 4, |
 *     |          proof 16         |      |   access flags 4 }        |
 *  40 +---------------------------+      +---------------------------+
 *     | login                     |      | data: the acceptor's own  |
 *  44 +---------------------------+      +---------------------------+
 *     | encryption 4, random 16   |      | encryption 4, random 16   |
 *  64 +---------------------------+      +---------------------------+
 * </pre>
 *
 * <p>Both end with encryption and a random number where the connection is encrypted, see {@link
 * SealedMessageDescriptor}, and without them where it is not.
 */
public final class ConnectDataDescriptor
{
    /** First 32 bits of a request and of an answer: {@code VRC\0}. */
    public static final int MAGIC = 0x0043_5256;
    /** Version of this layout. */
    public static final int VERSION = 3;
    /** Offset of the magic. */
    public static final int MAGIC_OFFSET = 0;
    /** Offset of the 16-bit version. */
    public static final int VERSION_OFFSET = MAGIC_OFFSET + Integer.BYTES;
    /** Offset of the 16-bit number of calls: wanted in the request, granted in the answer. */
    public static final int CREDITS_OFFSET = VERSION_OFFSET + Short.BYTES;
    /** Request: offset of the 32-bit node number. */
    public static final int NODE_ID_OFFSET = CREDITS_OFFSET + Short.BYTES;
    /** Request: offset of the 32-bit incarnation. */
    public static final int INCARNATION_OFFSET = NODE_ID_OFFSET + Integer.BYTES;
    /** Request: offset of the 64-bit number of this request under its secret. */
    public static final int NONCE_OFFSET = INCARNATION_OFFSET + Integer.BYTES;
    /** Request: offset of the proof that the holder of the identity's secret sends this. */
    public static final int PROOF_OFFSET = NONCE_OFFSET + Long.BYTES;
    /** Request: offset of the 32-bit number of the certificate with which a user has logged in. */
    public static final int LOGIN_OFFSET = PROOF_OFFSET + IdentitySecret.LENGTH_BYTES;
    /** Length of a request. */
    public static final int REQUEST_LENGTH_BYTES = LOGIN_OFFSET + Integer.BYTES;
    /** Request: offset of the encryption asked for, {@link SealedMessageDescriptor#AES_128_GCM}; absent for none. */
    public static final int ENCRYPTION_OFFSET = REQUEST_LENGTH_BYTES;
    /** Length of the encryption, 4 bytes, and the random number with it; in an answer behind its data. */
    public static final int ENCRYPTION_LENGTH_BYTES = Integer.BYTES + SealedMessageDescriptor.RANDOM_LENGTH_BYTES;
    /** Answer: offset of the 16-bit access flags of the queue pair. */
    public static final int ACCESS_FLAGS_OFFSET = CREDITS_OFFSET + Short.BYTES;
    /** Answer: offset of the 8-bit count of regions. */
    public static final int REGION_COUNT_OFFSET = ACCESS_FLAGS_OFFSET + Short.BYTES;
    /** Answer: offset of the 8-bit length of the acceptor's own data. */
    public static final int DATA_LENGTH_OFFSET = REGION_COUNT_OFFSET + Byte.BYTES;
    /** Answer: offset of the 32-bit incarnation of who answers; 0 for one that does not say. */
    public static final int ACCEPTOR_INCARNATION_OFFSET = DATA_LENGTH_OFFSET + Byte.BYTES;
    /** Answer: offset of the regions. */
    public static final int REGIONS_OFFSET = ACCEPTOR_INCARNATION_OFFSET + Integer.BYTES;
    /** Answer: length of one region. */
    public static final int REGION_LENGTH_BYTES = 2 * Long.BYTES + 2 * Integer.BYTES;

    static
    {
        final int longest =
            REGIONS_OFFSET + Admission.MAX_REGIONS * REGION_LENGTH_BYTES + Admission.MAX_PRIVATE_DATA_BYTES +
                ENCRYPTION_LENGTH_BYTES;
        if (longest > ConnectionRequest.MAX_PRIVATE_DATA_BYTES || REGIONS_OFFSET % Long.BYTES != 0)
        {
            throw new ExceptionInInitializerError("connect data of " + longest + " bytes does not fit");
        }
    }

    private ConnectDataDescriptor()
    {
    }

    /** Of who proves nothing. */
    static byte[] encodeRequest(final PeerIdentity identity, final int credits)
    {
        return encodeRequest(identity, credits, 0, new byte[IdentitySecret.LENGTH_BYTES]);
    }

    static byte[] encodeRequest(
        final PeerIdentity identity, final int credits, final long nonce, final byte[] proof)
    {
        final byte[] bytes = new byte[REQUEST_LENGTH_BYTES];
        littleEndian(bytes)
            .putInt(MAGIC_OFFSET, MAGIC)
            .putShort(VERSION_OFFSET, (short)VERSION)
            .putShort(CREDITS_OFFSET, (short)credits)
            .putInt(NODE_ID_OFFSET, identity.nodeId())
            .putInt(INCARNATION_OFFSET, identity.incarnation())
            .putLong(NONCE_OFFSET, nonce)
            .put(PROOF_OFFSET, proof)
            .putInt(LOGIN_OFFSET, identity.login());
        return bytes;
    }

    /**
     * Of a queue pair of a context, which says whether encryption is asked for.
     *
     * @param secret proves the identity; null when there is none.
     * @throws RdmaException when encryption is asked for, and keys have nothing to follow from.
     */
    static byte[] encodeRequest(
        final PeerIdentity identity, final int credits, final IdentitySecret secret, final long nonce,
        final ContextResources resources, final QueuePair queuePair, final int servicePort)
    {
        final boolean isEncrypted = resources.configuration().isEncrypted();
        if (secret == null && isEncrypted)
        {
            throw new RdmaException("encryption takes keys, and " + identity + " shares no secret with the peer");
        }
        if (secret == null)
        {
            return encodeRequest(identity, credits);
        }
        final byte[] inClear = encodeRequest(identity, credits, nonce, new byte[IdentitySecret.LENGTH_BYTES]);
        final int encryption = secret.isCoveredBy(resources.device().packetSeal()) ?
            SealedMessageDescriptor.IN_SEALED_PACKETS : SealedMessageDescriptor.AES_128_GCM;
        return proved(isEncrypted ? encrypted(inClear, encryption, resources.device().random()) : inClear, secret,
            queuePair.number(), resources.device().address(), servicePort);
    }

    /** Puts the proof into a request that is complete but for it, and returns that. */
    static byte[] proved(
        final byte[] request, final IdentitySecret secret, final int queuePairNumber, final DeviceAddress source,
        final int servicePort)
    {
        littleEndian(request).put(PROOF_OFFSET, claim(request, queuePairNumber, source, servicePort).proof(secret));
        return request;
    }

    static byte[] encodeAnswer(final Admission admission, final int credits, final int incarnation)
    {
        final List<MemoryRegion> regions = admission.regions();
        final byte[] data = admission.privateData();
        final int dataOffset = REGIONS_OFFSET + regions.size() * REGION_LENGTH_BYTES;
        final byte[] bytes = new byte[dataOffset + data.length];
        final ByteBuffer buffer = littleEndian(bytes)
            .putInt(MAGIC_OFFSET, MAGIC)
            .putShort(VERSION_OFFSET, (short)VERSION)
            .putShort(CREDITS_OFFSET, (short)credits)
            .putShort(ACCESS_FLAGS_OFFSET, (short)admission.accessFlags())
            .put(REGION_COUNT_OFFSET, (byte)regions.size())
            .put(DATA_LENGTH_OFFSET, (byte)data.length)
            .putInt(ACCEPTOR_INCARNATION_OFFSET, incarnation)
            .position(REGIONS_OFFSET);
        for (final MemoryRegion region : regions)
        {
            buffer.putLong(region.address()).putLong(region.lengthBytes());
            buffer.putInt(region.remoteKey()).putInt(region.accessFlags());
        }
        buffer.put(data);
        return bytes;
    }

    /** As below, of messages. */
    static byte[] encrypted(final byte[] data, final RandomGenerator random)
    {
        return encrypted(data, SealedMessageDescriptor.AES_128_GCM, random);
    }

    /** Asks for encryption in a request, or grants it in an answer: adds it, and a random number, to the data. */
    static byte[] encrypted(final byte[] data, final int encryption, final RandomGenerator random)
    {
        final byte[] number = new byte[SealedMessageDescriptor.RANDOM_LENGTH_BYTES];
        random.nextBytes(number);
        final byte[] bytes = Arrays.copyOf(data, data.length + ENCRYPTION_LENGTH_BYTES);
        littleEndian(bytes).putInt(data.length, encryption)
            .put(data.length + Integer.BYTES, number);
        return bytes;
    }

    /** The encryption that a request asks for; 0: none. */
    static int encryptionAsked(final byte[] request)
    {
        return encryption(request, REQUEST_LENGTH_BYTES);
    }

    /** The encryption that an answer without a problem grants; 0: none. */
    static int encryptionGranted(final byte[] answer)
    {
        return encryption(answer, REGIONS_OFFSET + answer[REGION_COUNT_OFFSET] * REGION_LENGTH_BYTES +
            answer[DATA_LENGTH_OFFSET]);
    }

    private static int encryption(final byte[] bytes, final int offset)
    {
        return bytes.length < offset + ENCRYPTION_LENGTH_BYTES ? 0 : littleEndian(bytes).getInt(offset);
    }

    static byte[] encodeRefusal(final String reason)
    {
        final byte[] bytes = reason.getBytes(StandardCharsets.UTF_8);
        return bytes.length <= ConnectionRequest.MAX_PRIVATE_DATA_BYTES ?
            bytes : Arrays.copyOf(bytes, ConnectionRequest.MAX_PRIVATE_DATA_BYTES);
    }

    /** Why a request cannot be understood, or null when it can. */
    static String requestProblem(final byte[] bytes)
    {
        return problem(bytes, REQUEST_LENGTH_BYTES);
    }

    /** Why an answer cannot be understood, or null when it can. */
    static String answerProblem(final byte[] bytes)
    {
        final String problem = problem(bytes, REGIONS_OFFSET);
        if (problem != null)
        {
            return problem;
        }
        final int regionCount = bytes[REGION_COUNT_OFFSET];
        final int dataLength = bytes[DATA_LENGTH_OFFSET];
        final boolean isConsistent = regionCount >= 0 && regionCount <= Admission.MAX_REGIONS &&
            dataLength >= 0 && REGIONS_OFFSET + regionCount * REGION_LENGTH_BYTES + dataLength <= bytes.length;
        return isConsistent && credits(bytes) > 0 ? null :
            "connect data of " + bytes.length + " bytes claims " + regionCount + " regions and " + dataLength +
                " bytes of data and " + credits(bytes) + " credits";
    }

    /**
     * As above; also where the encryption that was asked for is not granted.
     *
     * @param isCovered whether packets of this connection are sealed so that messages need not be, as this end knows by
     *                  itself: what the peer says of it opens nothing.
     */
    static String answerProblem(final byte[] request, final byte[] answer, final boolean isCovered)
    {
        final String problem = answerProblem(answer);
        final int asked = encryptionAsked(request);
        if (problem != null || asked == 0)
        {
            return problem;
        }
        final int granted = encryptionGranted(answer);
        if (granted == SealedMessageDescriptor.IN_SEALED_PACKETS)
        {
            return asked == granted && isCovered ? null : "the peer leaves encryption to sealed packets, and those " +
                "of this connection are in clear, or of another key: somebody between has changed what was sent";
        }
        return granted == SealedMessageDescriptor.AES_128_GCM ? null :
            "encryption was asked for, and the peer grants none: update it, or connect without --encrypt";
    }

    private static String problem(final byte[] bytes, final int minimumBytes)
    {
        final boolean hasVersion =
            bytes.length >= CREDITS_OFFSET && littleEndian(bytes).getInt(MAGIC_OFFSET) == MAGIC;
        final int version = hasVersion ? littleEndian(bytes).getShort(VERSION_OFFSET) & 0xFFFF : VERSION;
        // The version first: data of another one has another length.
        if (version != VERSION)
        {
            return "connect data has version " + version + ", this node knows version " + VERSION +
                ": update the older of the two";
        }
        return hasVersion && bytes.length >= minimumBytes ? null :
            "this is not Verbena connect data (" + bytes.length + " bytes)";
    }

    static int credits(final byte[] bytes)
    {
        return littleEndian(bytes).getShort(CREDITS_OFFSET) & 0xFFFF;
    }

    static PeerIdentity identity(final byte[] request)
    {
        final ByteBuffer buffer = littleEndian(request);
        return new PeerIdentity(
            buffer.getInt(NODE_ID_OFFSET), buffer.getInt(INCARNATION_OFFSET), buffer.getInt(LOGIN_OFFSET));
    }

    static int acceptorIncarnation(final byte[] answer)
    {
        return littleEndian(answer).getInt(ACCEPTOR_INCARNATION_OFFSET);
    }

    /** What the peer claims, and {@link #proof} is to prove. */
    static ConnectionClaim claim(final byte[] data, final ConnectionRequest request, final int servicePort)
    {
        return claim(data, request.queuePairNumber(), request.source(), servicePort);
    }

    private static ConnectionClaim claim(
        final byte[] data, final int queuePairNumber, final DeviceAddress source, final int servicePort)
    {
        final ByteBuffer buffer = littleEndian(data);
        final int encryption = encryptionAsked(data);
        final int randomOffset = ENCRYPTION_OFFSET + Integer.BYTES;
        return new ConnectionClaim(
            buffer.getInt(NODE_ID_OFFSET), buffer.getInt(INCARNATION_OFFSET), buffer.getLong(NONCE_OFFSET),
            queuePairNumber, source.gidHigh(), source.gidLow(), servicePort,
            encryption,
            encryption == 0 ? 0 : buffer.getLong(randomOffset),
            encryption == 0 ? 0 : buffer.getLong(randomOffset + Long.BYTES),
            buffer.getInt(LOGIN_OFFSET));
    }

    static byte[] proof(final byte[] request)
    {
        return Arrays.copyOfRange(request, PROOF_OFFSET, PROOF_OFFSET + IdentitySecret.LENGTH_BYTES);
    }

    static PeerGrants grants(final byte[] answer)
    {
        final ByteBuffer buffer = littleEndian(answer);
        final int queuePairFlags = buffer.getShort(ACCESS_FLAGS_OFFSET) & 0xFFFF;
        final int count = buffer.get(REGION_COUNT_OFFSET);
        final RemoteRegion[] regions = new RemoteRegion[count];
        final int[] accessFlags = new int[count];
        buffer.position(REGIONS_OFFSET);
        for (int i = 0; i < count; i++)
        {
            regions[i] = new RemoteRegion(buffer.getLong(), buffer.getLong(), buffer.getInt());
            accessFlags[i] = buffer.getInt() & queuePairFlags;
        }
        return new PeerGrants(regions, accessFlags);
    }

    static byte[] data(final byte[] answer)
    {
        final int offset = REGIONS_OFFSET + answer[REGION_COUNT_OFFSET] * REGION_LENGTH_BYTES;
        return Arrays.copyOfRange(answer, offset, offset + answer[DATA_LENGTH_OFFSET]);
    }

    private static ByteBuffer littleEndian(final byte[] bytes)
    {
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }
}
