package io.verbena.meta.store;

import io.verbena.protocol.access.User;
import io.verbena.protocol.access.UserDescriptor;
import io.verbena.protocol.message.FailureDomain;
import io.verbena.protocol.tls.RevokedCertificate;
import io.verbena.protocol.tls.TlsSettings;
import io.verbena.protocol.view.FailureDomainDescriptor;
import io.verbena.raas.ReadTargetAddress;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.directory.NodeRole;
import io.verbena.raas.directory.PeerRecord;
import io.verbena.raas.directory.TcpAddress;
import io.verbena.raas.identity.IdentitySecret;
import io.verbena.rdma.verbs.DeviceAddress;
import net.openhft.hashing.LongHashFunction;
import org.agrona.concurrent.UnsafeBuffer;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * Layout of the meta server's durable records, all little-endian; drawn in {@code docs/format/meta-records.md}.
 *
 * <pre>
 *   0        4       6       8          12         16                 24
 *  +--------+-------+-------+----------+----------+------------------+---------------
 *  | magic  | kind  | format| payload  | reserved | checksum         | payload ...
 *  | "VMET" |       | version| length  | 0        | XXH3-64          |
 *  +--------+-------+-------+----------+----------+------------------+---------------
 * </pre>
 *
 * <p>The checksum covers bytes 0 to 15, the record's key and the payload: a record under another key than its own, cut
 * short or changed is found. Written and read by the meta server's CPU only.
 */
final class MetaRecordDescriptor
{
    /** "VMET" read as a little-endian integer. */
    static final int MAGIC = 0x54454D56;
    /** The format version that this build writes. */
    static final int FORMAT_VERSION = 17;
    /**
     * Also read: version 16 is the same without views in which a memory node is filled, version 15 also without a
     * group's copies and who comes in, version 14 also without failure domains, version 13 also without rounds of
     * secrets, version 12 also without quotas of tables, version 11 also without views, version 10 also without
     * certificates, version 9 also without quotas, version 8 also without users, version 7 also without spares,
     * version 6 also without the TCP address of a node, version 5 also without the cluster's secret, which the meta
     * server then makes.
     */
    static final int OLDEST_VERSION = 5;
    private static final int FIRST_WITH_TCP = 7;
    private static final int FIRST_WITH_CERTIFICATE = 11;
    private static final int FIRST_WITH_ROUNDS = 14;
    private static final int FIRST_WITH_FAILURE_DOMAIN = 15;

    static final int KIND_COUNTERS = 1;
    static final int KIND_NODE = 2;
    static final int KIND_TABLE = 3;
    static final int KIND_SECRET = 4;
    static final int KIND_USER = 5;
    static final int KIND_REVOKED = 6;
    static final int KIND_VIEW = 7;

    static final int MAGIC_OFFSET = 0;
    static final int KIND_OFFSET = MAGIC_OFFSET + Integer.BYTES;
    static final int VERSION_OFFSET = KIND_OFFSET + Short.BYTES;
    static final int PAYLOAD_LENGTH_OFFSET = VERSION_OFFSET + Short.BYTES;
    static final int RESERVED_OFFSET = PAYLOAD_LENGTH_OFFSET + Integer.BYTES;
    static final int CHECKSUM_OFFSET = RESERVED_OFFSET + Integer.BYTES;
    static final int HEADER_LENGTH = CHECKSUM_OFFSET + Long.BYTES;

    static final int CLUSTER_ID_OFFSET = HEADER_LENGTH;
    static final int EPOCH_CEILING_OFFSET = CLUSTER_ID_OFFSET + Long.BYTES;
    static final int MEMBERSHIP_VERSION_OFFSET = EPOCH_CEILING_OFFSET + Long.BYTES;
    static final int NEXT_INCARNATION_OFFSET = MEMBERSHIP_VERSION_OFFSET + Long.BYTES;
    static final int NEXT_NODE_ID_OFFSET = NEXT_INCARNATION_OFFSET + Integer.BYTES;
    static final int NEXT_WRITER_NUMBER_OFFSET = NEXT_NODE_ID_OFFSET + Integer.BYTES;
    static final int NEXT_TABLE_ID_OFFSET = NEXT_WRITER_NUMBER_OFFSET + Integer.BYTES;
    static final int COUNTERS_LENGTH = NEXT_TABLE_ID_OFFSET + Integer.BYTES;

    static final int GID_HIGH_OFFSET = HEADER_LENGTH;
    static final int GID_LOW_OFFSET = GID_HIGH_OFFSET + Long.BYTES;
    static final int REGION_ADDRESS_OFFSET = GID_LOW_OFFSET + Long.BYTES;
    static final int REGION_LENGTH_OFFSET = REGION_ADDRESS_OFFSET + Long.BYTES;
    static final int REMOTE_KEY_OFFSET = REGION_LENGTH_OFFSET + Long.BYTES;
    static final int INCARNATION_OFFSET = REMOTE_KEY_OFFSET + Integer.BYTES;
    static final int NODE_ID_OFFSET = INCARNATION_OFFSET + Integer.BYTES;
    static final int WRITER_NUMBER_OFFSET = NODE_ID_OFFSET + Integer.BYTES;
    static final int SERVICE_PORT_OFFSET = WRITER_NUMBER_OFFSET + Integer.BYTES;
    static final int ROLE_OFFSET = SERVICE_PORT_OFFSET + Integer.BYTES;
    static final int STATE_OFFSET = ROLE_OFFSET + Short.BYTES;
    static final int SERVICE_LOCATOR_OFFSET = STATE_OFFSET + Short.BYTES;
    static final int MEMORY_ID_OFFSET = SERVICE_LOCATOR_OFFSET + Long.BYTES;
    static final int READ_TARGET_KEY_OFFSET = MEMORY_ID_OFFSET + Long.BYTES;
    static final int READ_TARGET_NUMBER_OFFSET = READ_TARGET_KEY_OFFSET + Long.BYTES;
    static final int TCP_PORT_OFFSET = READ_TARGET_NUMBER_OFFSET + Integer.BYTES;
    static final int TCP_HIGH_OFFSET = TCP_PORT_OFFSET + Integer.BYTES;
    static final int TCP_LOW_OFFSET = TCP_HIGH_OFFSET + Long.BYTES;
    static final int CERTIFICATE_OFFSET = TCP_LOW_OFFSET + Long.BYTES;
    static final int NODE_RESERVED_OFFSET = CERTIFICATE_OFFSET + Integer.BYTES;
    static final int FAILURE_DOMAIN_OFFSET = NODE_RESERVED_OFFSET + Integer.BYTES;
    static final int NODE_LENGTH = FAILURE_DOMAIN_OFFSET + FailureDomainDescriptor.LENGTH_BYTES;

    static final int TABLE_ID_OFFSET = HEADER_LENGTH;
    static final int TABLE_RESERVED_OFFSET = TABLE_ID_OFFSET + Integer.BYTES;
    static final int DESCRIPTOR_OFFSET = TABLE_RESERVED_OFFSET + Integer.BYTES;

    static final int SECRET_OFFSET = HEADER_LENGTH;
    static final int ROUND_OFFSET = SECRET_OFFSET + IdentitySecret.LENGTH_BYTES;
    static final int SECRET_RESERVED_OFFSET = ROUND_OFFSET + Integer.BYTES;
    static final int ROUND_STARTED_OFFSET = SECRET_RESERVED_OFFSET + Integer.BYTES;
    static final int LATEST_OFFSET = ROUND_STARTED_OFFSET + Long.BYTES;
    static final int BEFORE_OFFSET = LATEST_OFFSET + IdentitySecret.LENGTH_BYTES;
    static final int SECRET_LENGTH = BEFORE_OFFSET + IdentitySecret.LENGTH_BYTES;

    static final int USER_OFFSET = HEADER_LENGTH;

    static final int FINGERPRINT_OFFSET = HEADER_LENGTH;
    static final int SUBJECT_OFFSET = FINGERPRINT_OFFSET + TlsSettings.FINGERPRINT_BYTES;

    static final String COUNTERS_KEY = "counters";
    static final String SECRET_KEY = "secret";
    static final String NODE_PREFIX = "node/";
    static final String TABLE_PREFIX = "table/";
    static final String USER_PREFIX = "user/";
    static final String REVOKED_PREFIX = "revoked/";

    static
    {
        if (24 != HEADER_LENGTH || 64 != COUNTERS_LENGTH || 200 != NODE_LENGTH || 88 != SECRET_LENGTH)
        {
            throw new ExceptionInInitializerError("record lengths changed: header=" + HEADER_LENGTH + " counters=" +
                COUNTERS_LENGTH + " node=" + NODE_LENGTH + "; give the format a new version");
        }
    }

    private MetaRecordDescriptor()
    {
    }

    static String nodeKey(final int nodeId)
    {
        return String.format("%s%05d", NODE_PREFIX, nodeId);
    }

    static String tableKey(final String name)
    {
        return TABLE_PREFIX + name;
    }

    static byte[] encode(final MetaCounters counters)
    {
        final ByteBuffer record = begin(KIND_COUNTERS, COUNTERS_LENGTH);
        record.putLong(CLUSTER_ID_OFFSET, counters.clusterId());
        record.putLong(EPOCH_CEILING_OFFSET, counters.epochCeiling());
        record.putLong(MEMBERSHIP_VERSION_OFFSET, counters.membershipVersion());
        record.putInt(NEXT_INCARNATION_OFFSET, counters.nextIncarnation());
        record.putInt(NEXT_NODE_ID_OFFSET, counters.nextNodeId());
        record.putInt(NEXT_WRITER_NUMBER_OFFSET, counters.nextWriterNumber());
        record.putInt(NEXT_TABLE_ID_OFFSET, counters.nextTableId());
        return seal(COUNTERS_KEY, record);
    }

    static byte[] encode(final StoredNode node)
    {
        final PeerRecord member = node.record();
        final ByteBuffer record = begin(KIND_NODE, NODE_LENGTH);
        record.putLong(GID_HIGH_OFFSET, member.device().gidHigh());
        record.putLong(GID_LOW_OFFSET, member.device().gidLow());
        record.putLong(REGION_ADDRESS_OFFSET, member.region().address());
        record.putLong(REGION_LENGTH_OFFSET, member.region().lengthBytes());
        record.putInt(REMOTE_KEY_OFFSET, member.region().remoteKey());
        record.putInt(INCARNATION_OFFSET, node.incarnation());
        record.putInt(NODE_ID_OFFSET, node.nodeId());
        record.putInt(WRITER_NUMBER_OFFSET, node.writerNumber());
        record.putInt(SERVICE_PORT_OFFSET, member.servicePort());
        record.putShort(ROLE_OFFSET, (short)node.role().code());
        record.putShort(STATE_OFFSET, (short)node.state().code());
        record.putLong(SERVICE_LOCATOR_OFFSET, member.device().serviceLocator());
        record.putLong(MEMORY_ID_OFFSET, node.memoryId());
        record.putLong(READ_TARGET_KEY_OFFSET, member.readTarget().accessKey());
        record.putInt(READ_TARGET_NUMBER_OFFSET, member.readTarget().number());
        record.putInt(TCP_PORT_OFFSET, member.tcpService().port());
        record.putLong(TCP_HIGH_OFFSET, member.tcpService().high());
        record.putLong(TCP_LOW_OFFSET, member.tcpService().low());
        record.putInt(CERTIFICATE_OFFSET, node.certificate());
        FailureDomainDescriptor.encode(node.failureDomain(), new UnsafeBuffer(record), FAILURE_DOMAIN_OFFSET);
        return seal(nodeKey(node.nodeId()), record);
    }

    static byte[] encode(final StoredSecrets secrets)
    {
        final ByteBuffer record = begin(KIND_SECRET, SECRET_LENGTH);
        final UnsafeBuffer buffer = new UnsafeBuffer(record);
        secrets.joining().write(buffer, SECRET_OFFSET);
        record.putInt(ROUND_OFFSET, secrets.round());
        record.putLong(ROUND_STARTED_OFFSET, secrets.startedMs());
        secrets.latest().write(buffer, LATEST_OFFSET);
        if (null != secrets.before())
        {
            secrets.before().write(buffer, BEFORE_OFFSET);
        }
        return seal(SECRET_KEY, record);
    }

    static StoredSecrets decodeSecret(final String source, final byte[] bytes)
    {
        final boolean hasRounds = versionOf(bytes) >= FIRST_WITH_ROUNDS;
        final ByteBuffer record =
            open(source, SECRET_KEY, KIND_SECRET, hasRounds ? SECRET_LENGTH : ROUND_OFFSET, bytes);
        final UnsafeBuffer buffer = new UnsafeBuffer(record);
        final IdentitySecret joining = IdentitySecret.read(buffer, SECRET_OFFSET);
        if (!hasRounds)
        {
            return StoredSecrets.first(joining, 0);
        }
        final int round = record.getInt(ROUND_OFFSET);
        if (round < StoredSecrets.FIRST_ROUND)
        {
            throw corrupt(source, SECRET_KEY, "round=" + round);
        }
        return new StoredSecrets(
            joining, round, record.getLong(ROUND_STARTED_OFFSET), IdentitySecret.read(buffer, LATEST_OFFSET),
            StoredSecrets.FIRST_ROUND == round ? null : IdentitySecret.read(buffer, BEFORE_OFFSET));
    }

    private static int versionOf(final byte[] bytes)
    {
        return bytes.length >= HEADER_LENGTH ? version(ByteBuffer.wrap(bytes)) : 0;
    }

    static byte[] encode(final StoredTable table)
    {
        final ByteBuffer record = begin(KIND_TABLE, DESCRIPTOR_OFFSET + table.descriptor().length);
        record.putInt(TABLE_ID_OFFSET, table.tableId());
        record.put(DESCRIPTOR_OFFSET, table.descriptor());
        return seal(tableKey(table.name()), record);
    }

    static String userKey(final String name)
    {
        return USER_PREFIX + name;
    }

    static byte[] encode(final User user)
    {
        final ByteBuffer record = begin(KIND_USER, USER_OFFSET + UserDescriptor.lengthBytes(user));
        UserDescriptor.encode(user, new UnsafeBuffer(record), USER_OFFSET);
        return seal(userKey(user.name()), record);
    }

    static User decodeUser(final String source, final String key, final byte[] bytes)
    {
        final ByteBuffer record = open(source, key, KIND_USER, -1, bytes);
        try
        {
            final User user =
                UserDescriptor.decode(new UnsafeBuffer(record), USER_OFFSET, record.capacity() - USER_OFFSET);
            if (userKey(user.name()).equals(key) && null != user.verifier())
            {
                return user;
            }
        }
        catch (final IllegalArgumentException ex)
        {
            throw corrupt(source, key, ex.getMessage());
        }
        throw corrupt(source, key, "it is that of another user, or has no secret");
    }

    static String revokedKey(final RevokedCertificate certificate)
    {
        return REVOKED_PREFIX + certificate.digits();
    }

    static byte[] encode(final RevokedCertificate certificate)
    {
        final byte[] subject = certificate.subject().getBytes(StandardCharsets.UTF_8);
        final ByteBuffer record = begin(KIND_REVOKED, SUBJECT_OFFSET + subject.length);
        record.put(FINGERPRINT_OFFSET, certificate.fingerprint());
        record.put(SUBJECT_OFFSET, subject);
        return seal(revokedKey(certificate), record);
    }

    static RevokedCertificate decodeRevoked(final String source, final String key, final byte[] bytes)
    {
        final ByteBuffer record = open(source, key, KIND_REVOKED, -1, bytes);
        if (bytes.length < SUBJECT_OFFSET)
        {
            throw corrupt(source, key, "it has no fingerprint");
        }
        final byte[] fingerprint = new byte[TlsSettings.FINGERPRINT_BYTES];
        record.get(FINGERPRINT_OFFSET, fingerprint);
        final RevokedCertificate revoked = new RevokedCertificate(
            fingerprint, new String(bytes, SUBJECT_OFFSET, bytes.length - SUBJECT_OFFSET, StandardCharsets.UTF_8));
        if (!revokedKey(revoked).equals(key))
        {
            throw corrupt(source, key, "it is that of another certificate");
        }
        return revoked;
    }

    static MetaCounters decodeCounters(final String source, final byte[] bytes)
    {
        final ByteBuffer record = open(source, COUNTERS_KEY, KIND_COUNTERS, COUNTERS_LENGTH, bytes);
        return new MetaCounters(
            record.getLong(CLUSTER_ID_OFFSET),
            record.getInt(NEXT_INCARNATION_OFFSET),
            record.getInt(NEXT_NODE_ID_OFFSET),
            record.getInt(NEXT_WRITER_NUMBER_OFFSET),
            record.getLong(EPOCH_CEILING_OFFSET),
            record.getLong(MEMBERSHIP_VERSION_OFFSET),
            record.getInt(NEXT_TABLE_ID_OFFSET));
    }

    static StoredNode decodeNode(final String source, final String key, final byte[] bytes)
    {
        final int version = versionOf(bytes);
        final boolean hasTcp = version >= FIRST_WITH_TCP;
        final boolean hasCertificate = version >= FIRST_WITH_CERTIFICATE;
        final boolean hasDomain = version >= FIRST_WITH_FAILURE_DOMAIN;
        final ByteBuffer record = open(source, key, KIND_NODE,
            hasDomain ? NODE_LENGTH : hasCertificate ? FAILURE_DOMAIN_OFFSET :
            hasTcp ? CERTIFICATE_OFFSET : TCP_HIGH_OFFSET, bytes);
        final NodeRole role = NodeRole.ofCode(record.getShort(ROLE_OFFSET));
        final StoredNodeState state = StoredNodeState.of(record.getShort(STATE_OFFSET));

        if (null == role || null == state)
        {
            throw corrupt(source, key, "role=" + record.getShort(ROLE_OFFSET) + " state=" +
                record.getShort(STATE_OFFSET) + " are not both known");
        }

        final PeerRecord member = new PeerRecord(
            record.getInt(NODE_ID_OFFSET),
            record.getInt(INCARNATION_OFFSET),
            0,
            role,
            new DeviceAddress(
                record.getLong(GID_HIGH_OFFSET),
                record.getLong(GID_LOW_OFFSET),
                record.getLong(SERVICE_LOCATOR_OFFSET)),
            record.getInt(SERVICE_PORT_OFFSET),
            new RemoteRegion(
                record.getLong(REGION_ADDRESS_OFFSET),
                record.getLong(REGION_LENGTH_OFFSET),
                record.getInt(REMOTE_KEY_OFFSET)),
            new ReadTargetAddress(record.getInt(READ_TARGET_NUMBER_OFFSET), record.getLong(READ_TARGET_KEY_OFFSET)),
            hasTcp ? new TcpAddress(record.getLong(TCP_HIGH_OFFSET), record.getLong(TCP_LOW_OFFSET),
                record.getInt(TCP_PORT_OFFSET)) : TcpAddress.NONE);
        return new StoredNode(member, state, record.getInt(WRITER_NUMBER_OFFSET), record.getLong(MEMORY_ID_OFFSET),
            hasCertificate ? record.getInt(CERTIFICATE_OFFSET) : 0,
            hasDomain ? failureDomain(source, key, record) : FailureDomain.NONE);
    }

    private static String failureDomain(final String source, final String key, final ByteBuffer record)
    {
        try
        {
            return FailureDomainDescriptor.decode(new UnsafeBuffer(record), FAILURE_DOMAIN_OFFSET);
        }
        catch (final IllegalArgumentException ex)
        {
            throw corrupt(source, key, ex.getMessage());
        }
    }

    static StoredTable decodeTable(final String source, final String key, final byte[] bytes)
    {
        final ByteBuffer record = open(source, key, KIND_TABLE, -1, bytes);

        if (bytes.length < DESCRIPTOR_OFFSET)
        {
            throw corrupt(source, key, "it has no descriptor");
        }

        final byte[] descriptor = new byte[record.capacity() - DESCRIPTOR_OFFSET];
        record.get(DESCRIPTOR_OFFSET, descriptor);
        return new StoredTable(key.substring(TABLE_PREFIX.length()), record.getInt(TABLE_ID_OFFSET), descriptor);
    }

    static ByteBuffer begin(final int kind, final int lengthBytes)
    {
        final ByteBuffer record = ByteBuffer.allocate(lengthBytes).order(ByteOrder.LITTLE_ENDIAN);
        record.putInt(MAGIC_OFFSET, MAGIC);
        record.putShort(KIND_OFFSET, (short)kind);
        record.putShort(VERSION_OFFSET, (short)FORMAT_VERSION);
        record.putInt(PAYLOAD_LENGTH_OFFSET, lengthBytes - HEADER_LENGTH);
        return record;
    }

    static byte[] seal(final String key, final ByteBuffer record)
    {
        record.putLong(CHECKSUM_OFFSET, checksum(key, record));
        return record.array();
    }

    /** Checks everything that can be checked without knowing the payload; the version before the checksum. */
    static ByteBuffer open(
        final String source, final String key, final int kind, final int lengthBytes, final byte[] bytes)
    {
        final ByteBuffer record = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);

        if (bytes.length < HEADER_LENGTH || MAGIC != record.getInt(MAGIC_OFFSET))
        {
            throw corrupt(source, key, "it does not begin as a record (length=" + bytes.length + ")");
        }

        final int version = version(record);

        if (version < OLDEST_VERSION || version > FORMAT_VERSION)
        {
            throw new MetaStoreException(
                MetaStoreException.Category.UNKNOWN_VERSION,
                "record '" + key + "' in " + source + " has format version " +
                version + ", this build knows versions " + OLDEST_VERSION + " to " + FORMAT_VERSION +
                ": use the build that wrote it, or another data folder",
                null);
        }

        if (kind != record.getShort(KIND_OFFSET) ||
            bytes.length - HEADER_LENGTH != record.getInt(PAYLOAD_LENGTH_OFFSET) ||
            -1 != lengthBytes && bytes.length != lengthBytes)
        {
            throw corrupt(source, key, "kind=" + record.getShort(KIND_OFFSET) + " length=" + bytes.length +
                " are not those of kind=" + kind);
        }

        if (checksum(key, record) != record.getLong(CHECKSUM_OFFSET))
        {
            throw corrupt(source, key, "its checksum does not match");
        }

        return record;
    }

    private static int version(final ByteBuffer record)
    {
        return 0xFFFF & record.order(ByteOrder.LITTLE_ENDIAN).getShort(VERSION_OFFSET);
    }

    static long checksum(final String key, final ByteBuffer record)
    {
        final byte[] keyBytes = key.getBytes(StandardCharsets.UTF_8);
        final ByteBuffer covered = ByteBuffer.allocate(record.capacity() - Long.BYTES + keyBytes.length);
        covered.put(record.array(), 0, CHECKSUM_OFFSET);
        covered.put(keyBytes);
        covered.put(record.array(), HEADER_LENGTH, record.capacity() - HEADER_LENGTH);
        return LongHashFunction.xx3().hashBytes(covered.array());
    }

    static MetaStoreException corrupt(final String source, final String key, final String what)
    {
        return new MetaStoreException(
            MetaStoreException.Category.CORRUPT,
            "record '" + key + "' in " + source + " is corrupt: " + what +
            "; restore the folder from a copy, or start a new cluster with an empty one",
            null);
    }
}
