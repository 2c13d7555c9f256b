package io.verbena.meta.store;

import io.verbena.protocol.access.Grant;
import io.verbena.protocol.access.SecretVerifier;
import io.verbena.protocol.access.User;
import io.verbena.protocol.access.UserQuota;
import io.verbena.protocol.message.FailureDomain;
import io.verbena.protocol.tls.RevokedCertificate;
import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewState;
import io.verbena.raas.ReadTargetAddress;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.directory.NodeRole;
import io.verbena.raas.directory.PeerRecord;
import io.verbena.raas.directory.TcpAddress;
import io.verbena.raas.identity.IdentitySecret;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.rdma.verbs.DeviceAddress;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class MetaRecordDescriptorTest
{
    private static final MetaCounters COUNTERS = new MetaCounters(0x0102030405060708L, 11, 12, 13, 4097, 15, 16);
    private static final StoredNode NODE =
        node(new TcpAddress(0x3132333435363738L, 0x4142434445464748L, 6_379), 0x3132333, "rack-1");
    private static final StoredNode SPARE = StoredNode.spare(7, 8, 9);
    private static final StoredTable TABLE = new StoredTable("t", 0x0A0B0C0D, "abc".getBytes(StandardCharsets.UTF_8));

    private static final IdentitySecret SECRET = IdentitySecret.read(
        new UnsafeBuffer("0123456789abcdef".getBytes(StandardCharsets.US_ASCII)), 0);

    private static final StoredSecrets SECRETS = new StoredSecrets(
        SECRET, 0x71727374, 0x0102030405060708L, secret(0x75), secret(0x76));

    private static final User USER = new User("ann", 0x0102, 0x03040506, 0x0708090A0B0C0D0EL,
        new SecretVerifier(4096, filled(16, 0x11), filled(32, 0x22), filled(32, 0x33)),
        List.of(new Grant("t", 3, new byte[]{0x44})), new UserQuota(0x51, 0x52, 0x53, 0x54, 0x55));

    private static final RevokedCertificate REVOKED = new RevokedCertificate(filled(32, 0x61), "CN=x");
    private static final String REVOKED_KEY = "revoked/" + "61".repeat(32);

    private static final String VIEW_KEY = "view/0016909060";
    private static final View VIEW = new View(0x01020304, 0x05060708090A0B0CL, ViewState.RECONCILING, 0x0D0E0F10,
        List.of(new PeerIdentity(0x1112, 0x13141516), new PeerIdentity(0x1718, 0x191A1B1C)), 1,
        new PeerIdentity(0x1D1E, 0x1F202122), 3, PeerIdentity.UNREGISTERED);
    private static final View ENTERING = new View(0x01020304, 0x05060708090A0B0CL, ViewState.CLOSING, 1,
        VIEW.members(), 0, VIEW.reconciler(), 3, new PeerIdentity(0x2324, 0x25262728));

    private static byte[] filled(final int length, final int with)
    {
        final byte[] bytes = new byte[length];
        Arrays.fill(bytes, (byte)with);
        return bytes;
    }

    private static StoredNode node(final TcpAddress tcpService, final int certificate, final String failureDomain)
    {
        return new StoredNode(
            new PeerRecord(
                0xFFFF,
                0x7FFFFFFF,
                0,
                NodeRole.COMPUTE_NODE,
                new DeviceAddress(0xFE80000000000000L, 0x1122334455667788L, 0x99AABBCCDDEEFF01L),
                18515,
                new RemoteRegion(0x7F0000001000L, 1L << 32, 0x80000001),
                new ReadTargetAddress(0x01234567, 0x2122232425262728L),
                tcpService),
            StoredNodeState.FENCING,
            0xABCD,
            0x0A0B0C0D0E0F1011L,
            certificate,
            failureDomain);
    }

    private static IdentitySecret secret(final int value)
    {
        return IdentitySecret.read(new UnsafeBuffer(filled(16, value)), 0);
    }

    @Test
    void shouldRefuseARoundBeforeTheFirst()
    {
        final byte[] record = MetaRecordDescriptor.encode(new StoredSecrets(SECRET, 0, 7, SECRET, SECRET));
        assertThatThrownBy(() -> MetaRecordDescriptor.decodeSecret("x", record))
            .isInstanceOf(MetaStoreException.class).hasMessageContaining("round=0");
    }

    @Test
    void shouldMatchGoldenBytes() throws IOException
    {
        final Map<String, String> golden = golden(MetaRecordDescriptor.FORMAT_VERSION);

        assertThat(golden).containsExactlyInAnyOrderEntriesOf(Map.of(
            "counters", hex(MetaRecordDescriptor.encode(COUNTERS)),
            "secret", hex(MetaRecordDescriptor.encode(SECRETS)),
            "node/65535", hex(MetaRecordDescriptor.encode(NODE)),
            "node/00007", hex(MetaRecordDescriptor.encode(SPARE)),
            "table/t", hex(MetaRecordDescriptor.encode(TABLE)),
            "user/ann", hex(MetaRecordDescriptor.encode(USER)),
            REVOKED_KEY, hex(MetaRecordDescriptor.encode(REVOKED)),
            VIEW_KEY, hex(ViewRecordDescriptor.encode(VIEW))));
    }

    /** What earlier builds wrote is read; the next write is in the present format. */
    @ParameterizedTest
    @ValueSource(ints = {5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})
    void shouldReadTheVersionsBefore(final int version) throws IOException
    {
        final Map<String, String> golden = golden(version);
        final HexFormat hex = HexFormat.of();

        assertThat(MetaRecordDescriptor.decodeCounters("x", hex.parseHex(golden.get("counters")))).isEqualTo(COUNTERS);
        assertThat(MetaRecordDescriptor.decodeNode("x", "node/65535", hex.parseHex(golden.get("node/65535"))))
            .isEqualTo(node(
                version < 7 ? TcpAddress.NONE : NODE.record().tcpService(), version < 11 ? 0 : NODE.certificate(),
                version < 15 ? FailureDomain.NONE : NODE.failureDomain()));
        assertThat(MetaRecordDescriptor.decodeTable("x", "table/t", hex.parseHex(golden.get("table/t"))).descriptor())
            .isEqualTo(TABLE.descriptor());
        if (golden.containsKey("secret"))
        {
            assertThat(MetaRecordDescriptor.decodeSecret("x", hex.parseHex(golden.get("secret"))))
                .isEqualTo(version < 14 ? StoredSecrets.first(SECRET, 0) : SECRETS);
        }
        if (golden.containsKey("user/ann"))
        {
            assertThat(MetaRecordDescriptor.decodeUser("x", "user/ann", hex.parseHex(golden.get("user/ann"))).quota())
                .isEqualTo(version < 10 ? UserQuota.NONE :
                    new UserQuota(0x51, 0x52, 0x53, 0x54, version < 13 ? 0 : 0x55));
        }
    }

    @Test
    void shouldRefuseAFailureDomainThatIsNone() throws Exception
    {
        final byte[] record = MetaRecordDescriptor.encode(NODE);
        record[MetaRecordDescriptor.FAILURE_DOMAIN_OFFSET] = 64;
        final ByteBuffer sealed = ByteBuffer.wrap(record).order(ByteOrder.LITTLE_ENDIAN);
        assertThatThrownBy(() -> MetaRecordDescriptor.decodeNode(
            "x", "node/65535", MetaRecordDescriptor.seal("node/65535", sealed)))
            .isInstanceOf(MetaStoreException.class).hasMessageContaining("corrupt").hasMessageContaining("length=64");
    }

    @Test
    void shouldReadBackWhatWasWritten()
    {
        assertThat(MetaRecordDescriptor.decodeCounters("x", MetaRecordDescriptor.encode(COUNTERS))).isEqualTo(COUNTERS);
        assertThat(MetaRecordDescriptor.decodeNode("x", "node/65535", MetaRecordDescriptor.encode(NODE)))
            .isEqualTo(NODE);
        assertThat(MetaRecordDescriptor.decodeNode("x", "node/00007", MetaRecordDescriptor.encode(SPARE)))
            .isEqualTo(SPARE);
        assertThat(MetaRecordDescriptor.decodeTable("x", "table/t", MetaRecordDescriptor.encode(TABLE)).descriptor())
            .isEqualTo(TABLE.descriptor());
        assertThat(MetaRecordDescriptor.decodeUser("x", "user/ann", MetaRecordDescriptor.encode(USER)))
            .isEqualTo(USER);
        assertThat(MetaRecordDescriptor.decodeSecret("x", MetaRecordDescriptor.encode(SECRETS))).isEqualTo(SECRETS);
        final StoredSecrets first = StoredSecrets.first(SECRET, 7);
        assertThat(MetaRecordDescriptor.decodeSecret("x", MetaRecordDescriptor.encode(first))).isEqualTo(first);
        assertThat(MetaRecordDescriptor.decodeRevoked("x", REVOKED_KEY, MetaRecordDescriptor.encode(REVOKED)))
            .isEqualTo(REVOKED);
        assertThat(ViewRecordDescriptor.decode("x", VIEW_KEY, ViewRecordDescriptor.encode(VIEW))).isEqualTo(VIEW);
        assertThat(ViewRecordDescriptor.decode("x", VIEW_KEY, ViewRecordDescriptor.encode(ENTERING)))
            .isEqualTo(ENTERING);
    }

    @Test
    void shouldRefuseAViewThatIsCutShortOrOfAnotherGroup()
    {
        final byte[] record = ViewRecordDescriptor.encode(VIEW);

        for (int length = 0; length < record.length; length++)
        {
            final byte[] cut = Arrays.copyOf(record, length);
            assertThatThrownBy(() -> ViewRecordDescriptor.decode("x", VIEW_KEY, cut))
                .isInstanceOf(MetaStoreException.class);
        }

        assertThatThrownBy(() -> ViewRecordDescriptor.decode("x", "view/0000000001", record))
            .isInstanceOf(MetaStoreException.class).hasMessageContaining("checksum");
    }

    @Test
    void shouldDocumentTheOffsetsOfAView() throws Exception
    {
        final String page = Files.readString(Path.of("..", "docs", "format", "view-record.md"));

        for (final Field field : ViewRecordDescriptor.class.getDeclaredFields())
        {
            if (field.getName().endsWith("_OFFSET") || field.getName().endsWith("_LENGTH"))
            {
                assertThat(page).contains("| " + field.getInt(null) + " | `" + field.getName() + "` |");
            }
        }
    }

    @Test
    void shouldRefuseRecordWhenAnyBitIsFlipped()
    {
        final byte[] record = MetaRecordDescriptor.encode(NODE);

        for (int bit = 0; bit < record.length * 8; bit++)
        {
            final byte[] damaged = record.clone();
            damaged[bit / 8] ^= (byte)(1 << (bit % 8));
            assertThatThrownBy(() -> MetaRecordDescriptor.decodeNode("x", "node/65535", damaged))
                .as("bit %d", bit)
                .isInstanceOf(MetaStoreException.class);
        }
    }

    @Test
    void shouldRefuseRecordWhenCutShortOrUnderAnotherKey()
    {
        final byte[] record = MetaRecordDescriptor.encode(NODE);

        for (int length = 0; length < record.length; length++)
        {
            final byte[] cut = Arrays.copyOf(record, length);
            assertThatThrownBy(() -> MetaRecordDescriptor.decodeNode("x", "node/65535", cut))
                .isInstanceOf(MetaStoreException.class);
        }

        assertThatThrownBy(() -> MetaRecordDescriptor.decodeNode("x", "node/00001", record))
            .isInstanceOf(MetaStoreException.class)
            .hasMessageContaining("checksum");
    }

    @Test
    void shouldRefuseAUserOfAnotherNameOrWithoutASecret()
    {
        assertThatThrownBy(() -> MetaRecordDescriptor.decodeUser("x", "user/ann",
            MetaRecordDescriptor.encode(USER.withoutVerifier()))).isInstanceOf(MetaStoreException.class)
            .hasMessageContaining("has no secret");
        assertThatThrownBy(() -> MetaRecordDescriptor.decodeUser("x", "user/ben", MetaRecordDescriptor.encode(USER)))
            .isInstanceOf(MetaStoreException.class).hasMessageContaining("checksum");
    }

    @Test
    void shouldRefuseRandomBytes()
    {
        final Random random = new Random(42);

        for (int i = 0; i < 1000; i++)
        {
            final byte[] bytes = new byte[random.nextInt(120)];
            random.nextBytes(bytes);
            assertThatThrownBy(() -> MetaRecordDescriptor.decodeTable("x", "table/t", bytes))
                .isInstanceOf(MetaStoreException.class);
        }
    }

    @Test
    void shouldBeDocumentedWithTheseOffsets() throws Exception
    {
        final String page = Files.readString(Path.of("..", "docs", "format", "meta-records.md"));

        for (final Field field : MetaRecordDescriptor.class.getDeclaredFields())
        {
            if (field.getName().endsWith("_OFFSET") || field.getName().endsWith("_LENGTH"))
            {
                assertThat(page).contains("| " + field.getInt(null) + " | `" + field.getName() + "` |");
            }
        }

        assertThat(page).contains("Format version: " + MetaRecordDescriptor.FORMAT_VERSION + "\n");
    }

    private static String hex(final byte[] bytes)
    {
        return HexFormat.of().formatHex(bytes);
    }

    private static Map<String, String> golden(final int version) throws IOException
    {
        final Map<String, String> records = new TreeMap<>();

        try (InputStream in = MetaRecordDescriptorTest.class.getResourceAsStream(
            "/golden/meta-records-" + version + ".hex"))
        {
            new String(in.readAllBytes(), StandardCharsets.US_ASCII).lines()
                .map((line) -> line.split(" "))
                .forEach((parts) -> records.put(parts[0], parts[1]));
        }

        return records;
    }
}
