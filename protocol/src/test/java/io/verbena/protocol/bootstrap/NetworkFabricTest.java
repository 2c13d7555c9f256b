package io.verbena.protocol.bootstrap;

import io.verbena.raas.PeerAddress;
import io.verbena.rdma.verbs.DeviceAddress;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.file.Path;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** With addresses of loopback alone, and one that no host has (RFC 5737). */
class NetworkFabricTest
{
    private static final ClusterAddress LOOPBACK = new ClusterAddress("127.0.0.1", 7373);

    @ParameterizedTest
    @CsvSource({"::1, ::1", "::, ::", "fd00::7, fd00::7", "fd00:0:0:1::2, fd00:0:0:1::2",
        "1:0:2:3:4:5:6:7, 1:0:2:3:4:5:6:7",
        "fd00:77::, fd00:77::", "10.0.0.7, 10.0.0.7", "::ffff:10.0.0.7, 10.0.0.7", "1:0:0:2:0:0:0:3, 1:0:0:2::3"})
    void shouldWriteAddressesShort(final String given, final String expected) throws IOException
    {
        assertThat(NetworkFabric.literal(InetAddress.getByName(given))).isEqualTo(expected);
        assertThat(InetAddress.getByName(expected)).isEqualTo(InetAddress.getByName(given));
    }

    @Test
    void shouldBeOpenedWhereARouteToTheMetaServerBegins()
    {
        assertThat(NetworkFabric.toJoin(cluster("roce", "::1", 1), null, null, null)).isEqualTo("soft:network=::1");
        assertThat(NetworkFabric.toJoin(cluster("roce", "127.0.0.1", 1), "roce", null, null))
            .isEqualTo("soft:network=127.0.0.1");
    }

    @Test
    void shouldBeOpenedAsTheUserSays()
    {
        final BootstrapAnswer cluster = cluster("roce", "::1", 1);
        assertThat(NetworkFabric.toJoin(cluster, "ibverbs:mlx5_0", null, null)).isEqualTo("ibverbs:mlx5_0");
        assertThat(NetworkFabric.toJoin(cluster, "roce:eth1", null, null)).isEqualTo("roce:eth1");
        assertThat(NetworkFabric.toJoin(cluster, null, "127.0.0.1", null)).isEqualTo("soft:network=127.0.0.1");
        assertThat(NetworkFabric.toJoin(cluster, null, "127.0.0.1:4800", null))
            .isEqualTo("soft:network=[127.0.0.1]:4800");
        assertThat(NetworkFabric.toJoin(cluster, null, "[::1]:65535", null)).isEqualTo("soft:network=[::1]:65535");
        assertThat(NetworkFabric.toJoin(cluster("soft:/dev/shm/x", "::1", 1), null, null, null))
            .isEqualTo("soft:/dev/shm/x");
    }

    @Test
    void shouldFindTheNetworkInItsOwnNames()
    {
        assertThat(NetworkFabric.isNetwork(NetworkFabric.ofHost("[::1]:4791"))).isTrue();
        assertThat(NetworkFabric.place(NetworkFabric.ofHost("[::1]:4791"))).isEqualTo("::1");
        assertThat(NetworkFabric.clusterName(NetworkFabric.ofHost("fd00::1,mtu=512"))).isEqualTo("roce");
    }

    @Test
    void shouldAnswerByAsManyThreadsAsAskedForWhereThereIsANetwork()
    {
        assertThat(NetworkFabric.withThreads("soft:network=::1", 4)).isEqualTo("soft:network=::1,threads=4");
        assertThat(NetworkFabric.withThreads("roce:eth1,mtu=512", 2)).isEqualTo("roce:eth1,mtu=512,threads=2");
        assertThat(NetworkFabric.withThreads("soft:/x,network=::1,huge-pages", 2))
            .isEqualTo("soft:/x,network=::1,threads=2,huge-pages");
        assertThat(NetworkFabric.withThreads("soft:/x", 1)).isEqualTo("soft:/x");
        assertThat(NetworkFabric.place(NetworkFabric.withThreads("roce:[::1]:4791", 2))).isEqualTo("::1");
        assertThatThrownBy(() -> NetworkFabric.withThreads("soft:/x", 2)).isInstanceOf(BootstrapException.class)
            .hasMessageContaining("--responder-threads 2").hasMessageContaining("leave it out");
        assertThatThrownBy(() -> NetworkFabric.withThreads("ibverbs:mlx5_0", 2))
            .isInstanceOf(BootstrapException.class).hasMessageNotContaining("\n");
    }

    @Test
    void shouldServeAtTheAddressItListensAtOrAdvertises()
    {
        assertThat(NetworkFabric.toServe("roce", LOOPBACK, null)).isEqualTo("soft:network=127.0.0.1");
        assertThat(NetworkFabric.toServe("roce", new ClusterAddress("[::]", 7373), "::1"))
            .isEqualTo("soft:network=::1");
        assertThat(NetworkFabric.toServe("roce:lo", LOOPBACK, null)).isEqualTo("roce:lo");
        assertThat(NetworkFabric.toServe("soft", LOOPBACK, null)).isEqualTo("soft");
        assertThat(NetworkFabric.clusterName("roce:[::1]:7")).isEqualTo("roce");
        assertThat(NetworkFabric.clusterName("soft:/x")).isEqualTo("soft:/x");
        assertThat(NetworkFabric.clusterName("soft:/x,network=::1")).isEqualTo("roce");
        assertThat(NetworkFabric.isNetwork("soft:/network=")).isFalse();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        192.0.2.1        | 192.0.2.1 is no address of this host: it has
        [::1]:0          | port 0 of '[::1]:0' must be 1 to 65535
        127.0.0.1:65536  | port 65536 of '127.0.0.1:65536' must be 1 to 65535
        [::1             | '[::1' is no address: it looks like 10.0.0.7, fd00::7 or [fd00::7]:4791
        [::1]7           | '[::1]7' is no address
        no.such.invalid  | unknown host 'no.such.invalid'
        ''               | '' is no address
        """)
    void shouldRefuseWhatIsNoAddressOfThisHost(final String advertise, final String expected)
    {
        assertThatThrownBy(() -> NetworkFabric.toJoin(cluster("roce", "::1", 1), null, advertise, null))
            .isInstanceOf(BootstrapException.class).hasMessageStartingWith(expected)
            .message().hasLineCount(1);
    }

    @Test
    void shouldRefuseAnAddressWhereThereIsNoneAndEveryAddressWhereOneIsNeeded()
    {
        assertThatThrownBy(() -> NetworkFabric.toJoin(cluster("soft", "::1", 1), null, "::1", null))
            .hasMessage("--advertise ::1 is for the fabric roce, and this is soft: leave it out");
        assertThatThrownBy(() -> NetworkFabric.toServe("soft", LOOPBACK, "::1")).hasMessageContaining("leave it out");
        assertThatThrownBy(() -> NetworkFabric.toServe("roce", new ClusterAddress("0.0.0.0", 7373), null))
            .hasMessageContaining("give --advertise ADDRESS, one of ").message().contains("127.0.0.1 (lo)");
    }

    @Test
    void shouldSayWhereOthersReachWhatListens()
    {
        assertThat(NetworkFabric.announced(LOOPBACK, null)).isEqualTo(LOOPBACK);
        assertThat(NetworkFabric.announced(new ClusterAddress("0.0.0.0", 7373), null)).isNull();
        assertThat(NetworkFabric.announced(new ClusterAddress("[::]", 7373), null)).isNull();
        assertThat(NetworkFabric.announced(new ClusterAddress("0.0.0.0", 7373), "[fd00::7]:4800"))
            .isEqualTo(new ClusterAddress("[fd00::7]", 7373));
    }

    @Test
    void shouldKnowWhatOtherHostsReach()
    {
        assertThat(NetworkFabric.isForOtherHosts("127.0.0.2")).isFalse();
        assertThat(NetworkFabric.isForOtherHosts("[::1]")).isFalse();
        assertThat(NetworkFabric.isForOtherHosts("lo")).isFalse();
        assertThat(NetworkFabric.isForOtherHosts("0.0.0.0")).isTrue();
        assertThat(NetworkFabric.isForOtherHosts("[::]")).isTrue();
        assertThat(NetworkFabric.isForOtherHosts("192.0.2.1")).isTrue();
        assertThat(NetworkFabric.place("roce:[::1]:7")).isEqualTo("::1");
        assertThat(NetworkFabric.place("roce:eth0")).isEqualTo("eth0");
        assertThat(NetworkFabric.place("roce:fd00::1,mtu=512")).isEqualTo("fd00::1");
        assertThat(NetworkFabric.place("soft:/x,network=[fd00::1]:7,mtu=512")).isEqualTo("fd00::1");
        assertThat(NetworkFabric.place("soft:network=eth0")).isEqualTo("eth0");
        assertThat(NetworkFabric.place("soft:/x")).isNull();
    }

    @Test
    void shouldNameThePortThatDoesNotAnswer() throws IOException
    {
        final int port;
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getByName("::1")))
        {
            port = server.getLocalPort();
            NetworkFabric.requireReachable(LOOPBACK, cluster("roce", "::1", port), "roce:::1");
        }
        assertThatThrownBy(
            () -> NetworkFabric.requireReachable(LOOPBACK, cluster("roce", "::1", port), "roce:::1"))
            .isInstanceOf(BootstrapException.class)
            .hasMessageContainingAll("nothing listens at ::1 port " + port + "/tcp", "--advertise");
        NetworkFabric.requireReachable(LOOPBACK, cluster("soft", "::1", port), "soft");
        assertThatThrownBy(() -> NetworkFabric.requireReachable(
            new ClusterAddress("192.0.2.1", 7373), cluster("soft:/dev/shm/x", "::1", port), "soft:/dev/shm/x"))
            .hasMessageContainingAll("verbena://192.0.2.1:7373", "memory of its own host", "--fabric roce");
    }

    @Test
    void shouldSuspectTheFirewallWhereTheOtherProtocolHasAnswered()
    {
        assertThat(NetworkFabric.whySilent(cluster("roce", "fd00::1", 4800))).isEqualTo("; fd00::1 port 4800/tcp has " +
            "answered: is 4800/udp open, too, in the firewalls between?");
        assertThat(NetworkFabric.whySilent(cluster("soft:/x", "fd00::1", 4800))).isEmpty();
    }

    @Test
    void shouldSealWithTheTokenWhereTheClusterDoes()
    {
        final Path token = Path.of("/x/token");
        final BootstrapAnswer sealed = cluster(NetworkFabric.SEALED_NAME, "::1", 1);
        assertThat(NetworkFabric.isNetwork(NetworkFabric.SEALED_NAME)).isTrue();
        assertThat(NetworkFabric.isSealed(sealed)).isTrue();
        assertThat(NetworkFabric.isSealed(cluster("roce", "::1", 1))).isFalse();
        assertThat(NetworkFabric.toJoin(sealed, null, null, token)).isEqualTo("soft:network=::1,encrypt=/x/token");
        assertThat(NetworkFabric.toJoin(sealed, "roce:eth1,mtu=512", null, token))
            .isEqualTo("roce:eth1,mtu=512,encrypt=/x/token");
        assertThat(NetworkFabric.toJoin(sealed, "roce:eth1,encrypt=/other", null, token))
            .isEqualTo("roce:eth1,encrypt=/other");
        assertThat(NetworkFabric.toJoin(sealed, null, null, null)).as("a user").isEqualTo("soft:network=::1");
        assertThat(NetworkFabric.toJoin(cluster("roce", "::1", 1), null, null, token)).isEqualTo("soft:network=::1");
        assertThat(NetworkFabric.sealed("soft:/x,network=::1,huge-pages", token, true))
            .isEqualTo("soft:/x,network=::1,encrypt=/x/token,clear=accepted,huge-pages");
        assertThat(NetworkFabric.sealed("soft:/x", token, true)).isEqualTo("soft:/x");
        assertThat(NetworkFabric.sealed("ibverbs:mlx5_0", token, true)).isEqualTo("ibverbs:mlx5_0");
        assertThat(NetworkFabric.sealed("roce:::1", Path.of("token"), false))
            .isEqualTo("roce:::1,encrypt=" + Path.of("token").toAbsolutePath());
        assertThatThrownBy(() -> NetworkFabric.sealed("roce:::1", Path.of("/a,memory=b"), false))
            .hasMessageContainingAll("token file /a,memory=b", "has a comma in its name", "move it");
    }

    @Test
    void shouldKnowWhereOthersConnectInClear()
    {
        assertThat(NetworkFabric.takesClear("soft:/x")).isFalse();
        assertThat(NetworkFabric.takesClear("soft:network=::1")).isTrue();
        assertThat(NetworkFabric.takesClear("roce:::1")).isTrue();
        assertThat(NetworkFabric.takesClear("ibverbs:mlx5_0")).isTrue();
        assertThat(NetworkFabric.takesClear("roce:::1,encrypt=/x")).isFalse();
        assertThat(NetworkFabric.takesClear("roce:::1,encrypt=/x,clear=accepted")).isTrue();
        assertThat(NetworkFabric.isSealed("soft:/x,encrypt=/x")).isFalse();
    }

    private static BootstrapAnswer cluster(final String fabric, final String address, final int port)
    {
        try
        {
            final byte[] bytes = InetAddress.getByName(address).getAddress();
            final ByteBuffer gid = ByteBuffer.allocate(16);
            if (4 == bytes.length)
            {
                gid.putLong(0, 0).putShort(10, (short)0xFFFF).put(12, bytes);
            }
            else
            {
                gid.put(0, bytes);
            }
            return new BootstrapAnswer(1, fabric,
                new PeerAddress(new DeviceAddress(gid.getLong(0), gid.getLong(8), port), 1, 0, 0));
        }
        catch (final IOException ex)
        {
            throw new IllegalStateException(ex);
        }
    }
}
