package io.verbena.rdma.roce.device;

import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.ConnectionAttempt;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.DeviceCapability;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.QueuePairOptions;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.UnsupportedVerbException;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Devices on the loopback interface with {@code encrypt=KEYFILE}, and such as have another key or none. */
class SealedDevicesTest
{
    private static final int SERVICE_PORT = 77;
    private static final int BYTES = 10_000;

    @TempDir
    private Path directory;
    private Path key;
    private Fabric fabric;
    private Device device;
    private ProtectionDomain domain;

    @BeforeEach
    void open() throws IOException
    {
        key = keyFile("key", "5a");
        fabric = fabric(",encrypt=" + key);
        device = fabric.openDevice("one");
        domain = device.allocateProtectionDomain();
    }

    @AfterEach
    void close()
    {
        domain.close();
        device.close();
        fabric.close();
    }

    private Fabric fabric(final String options)
    {
        return Fabrics.open("roce:::1" + options + ",memory=" + directory);
    }

    private Path keyFile(final String name, final String octet) throws IOException
    {
        final Path file = directory.resolve(name);
        Files.createFile(
            file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.writeString(file, octet.repeat(32) + '\n');
        return file;
    }

    /** The readable line of an attempt that fails. */
    private static String problem(final Device from, final ProtectionDomain fromDomain, final Device to)
    {
        try (ConnectionListener listener = to.listen(SERVICE_PORT);
            RocePair.Requester requester = new RocePair.Requester(from, fromDomain))
        {
            final ConnectionAttempt attempt = requester.connect(to.address(), SERVICE_PORT);
            while (attempt.poll() == ConnectionAttempt.State.PENDING)
            {
                Thread.onSpinWait();
            }
            assertThat(attempt.poll()).isEqualTo(ConnectionAttempt.State.UNREACHABLE);
            assertThat(listener.poll()).isNull();
            return attempt.problem();
        }
    }

    private static void assertWrites(
        final Device from, final ProtectionDomain fromDomain, final Device to, final ProtectionDomain toDomain)
    {
        try (MemoryRegion local = fromDomain.allocateRegistered(BYTES, AccessFlags.ALL_REMOTE);
            MemoryRegion region = toDomain.allocateRegistered(BYTES, AccessFlags.ALL_REMOTE);
            RocePair pair = new RocePair(from, fromDomain, to, toDomain))
        {
            for (long value = 1; value < 100; value++)
            {
                local.segment().set(JAVA_LONG, 0, value);
                assertThat(pair.write(local, region, SendFlags.SIGNALED)).isZero();
                assertThat(region.segment().get(JAVA_LONG, 0)).isEqualTo(value);
            }
        }
    }

    @Test
    void shouldConnectAndWriteWithTheSameKey()
    {
        try (Fabric other = fabric(",threads=2,encrypt=" + key); Device peer = other.openDevice("two");
            ProtectionDomain peerDomain = peer.allocateProtectionDomain())
        {
            assertWrites(device, domain, peer, peerDomain);
            assertWrites(peer, peerDomain, device, domain);
            assertThat(device.refusedConnections()).isEqualTo(Device.RefusedConnections.NONE);
            assertThat(device.networkCounters().invalid()).isZero();
        }
    }

    @Test
    void shouldRefuseAPeerInClearAndOneOfAnotherKeyInOneLine() throws IOException
    {
        final Path otherKey = keyFile("other", "a5");
        try (Fabric clear = fabric(""); Device peer = clear.openDevice("clear");
            ProtectionDomain peerDomain = peer.allocateProtectionDomain();
            Fabric other = fabric(",encrypt=" + otherKey); Device stranger = other.openDevice("stranger");
            ProtectionDomain strangerDomain = stranger.allocateProtectionDomain())
        {
            assertThat(problem(peer, peerDomain, device)).endsWith(
                "only sealed packets are taken there: give encrypt=KEYFILE with the key of that end");
            assertThat(problem(device, domain, peer)).endsWith(
                "packets are in clear there, and sealed here: give both ends encrypt=KEYFILE, or neither");
            assertThat(problem(stranger, strangerDomain, device)).endsWith(
                "the key of that end is another one: give both ends the same encrypt=KEYFILE");
            assertThat(device.refusedConnections())
                .isEqualTo(new Device.RefusedConnections(3, InetAddress.ofLiteral("::1").getHostAddress()));
            assertThat(peer.refusedConnections()).as("it has no key").isEqualTo(Device.RefusedConnections.NONE);
        }
    }

    @Test
    void shouldTakePeersInClearWhereThatIsAccepted()
    {
        try (Fabric clear = fabric(""); Device client = clear.openDevice("clear");
            ProtectionDomain clientDomain = client.allocateProtectionDomain();
            Fabric both = fabric(",encrypt=" + key + ",clear=accepted"); Device server = both.openDevice("server");
            ProtectionDomain serverDomain = server.allocateProtectionDomain())
        {
            assertWrites(client, clientDomain, server, serverDomain);
            assertWrites(device, domain, server, serverDomain);
            assertWrites(server, serverDomain, device, domain);
            assertThat(problem(server, serverDomain, client)).contains("packets are in clear there");
        }
    }

    @Test
    void shouldHaveNoDatagramsAndNoDc()
    {
        assertThat(device.attributes().supports(DeviceCapability.RC)).isTrue();
        assertThat(device.attributes().supports(DeviceCapability.UD)).isFalse();
        assertThat(device.attributes().supports(DeviceCapability.DC)).isFalse();
        try (CompletionQueue completions = device.createCompletionQueue(1))
        {
            assertThatThrownBy(() -> domain.createQueuePair(new QueuePairOptions().type(QueuePairType.UD)
                .completions(completions, completions).capabilities(new QueuePairCapabilities(1, 1, 0, 1))))
                .isInstanceOf(UnsupportedVerbException.class).hasMessageNotContaining("\n");
        }
    }

    @Test
    void shouldSayWhatIsWrongWithTheOptions()
    {
        assertThatThrownBy(() -> fabric(",clear=accepted")).isInstanceOf(RdmaException.class)
            .hasMessageContaining("give encrypt=KEYFILE, too");
        assertThatThrownBy(() -> fabric(",encrypt=" + key + ",clear=refused")).isInstanceOf(RdmaException.class)
            .hasMessageContaining("clear=refused");
        assertThatThrownBy(() -> fabric(",encrypt=" + directory.resolve("none"))).isInstanceOf(RdmaException.class)
            .hasMessageContaining("cannot be read");
        assertThat(RoceFabricOptions.parse("::1,encrypt=" + key).toString()).doesNotContain("5a5a");
    }
}
