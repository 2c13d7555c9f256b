package io.verbena.cli.role;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.protocol.bootstrap.BootstrapAnswer;
import io.verbena.protocol.bootstrap.ClusterToken;
import io.verbena.protocol.bootstrap.NetworkFabric;
import io.verbena.raas.PeerAddress;
import io.verbena.rdma.verbs.DeviceAddress;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** On which fabric a role works, and what it refuses, by what the cluster says. */
class RoleOptionsTest
{
    private static final String OTHERS = "192.0.2.1";

    @TempDir
    private Path folder;
    private Path token;
    /** In the place of the meta server's connection service. */
    private ServerSocket metaServer;

    @BeforeEach
    void open() throws IOException
    {
        token = folder.resolve("token");
        ClusterToken.readOrCreate(token);
        metaServer = new ServerSocket(0, 50, InetAddress.ofLiteral("::1"));
    }

    @AfterEach
    void close() throws IOException
    {
        metaServer.close();
    }

    private RoleOptions options()
    {
        return RoleOptions.of("verbena://[::1]:7373", token, 0);
    }

    private BootstrapAnswer cluster(final String fabric)
    {
        return new BootstrapAnswer(
            1, fabric, new PeerAddress(new DeviceAddress(0, 1, metaServer.getLocalPort()), 1, 0, 0));
    }

    @Test
    void shouldSealWhereTheClusterDoes()
    {
        final BootstrapAnswer sealed = cluster(NetworkFabric.SEALED_NAME);
        final String name = "soft:network=::1,encrypt=" + token;
        assertThat(options().fabric(sealed, false, false)).isEqualTo(name);
        assertThat(options().fabric(sealed, true, false, 4)).isEqualTo(name + ",threads=4");
        assertThat(options().fabric(sealed, true, true)).as("without TLS users cannot encrypt").isEqualTo(name);

        ClusterToken.name(token, new byte[32]);
        assertThat(options().fabric(sealed, true, true)).as("users encrypt over TLS")
            .isEqualTo(name + ",clear=accepted");
        assertThat(options().fabric(sealed, true, false)).as("memory is not for users").isEqualTo(name);
    }

    @Test
    void shouldJoinNoClusterInClearWhereItHasToBeSealed()
    {
        final BootstrapAnswer clear = cluster("roce");
        assertThat(options().fabric(clear, false, true)).isEqualTo("soft:network=::1");
        assertThatThrownBy(() -> options().fabric(clear, true, true)).isInstanceOf(CommandFailedException.class)
            .hasMessage("--encrypt: the cluster at verbena://[::1]:7373 does not seal packets between hosts: start " +
                "its meta servers with --encrypt, or give --fabric soft:network=::1,encrypt=KEYFILE, and all " +
                "others the same key")
            .satisfies((ex) -> assertThat(((CommandFailedException)ex).exitStatus()).isEqualTo(ExitStatus.USAGE));
        assertThat(options().fabric(cluster("soft:/x"), true, true)).as("on one host").isEqualTo("soft:/x");
    }

    @Test
    void shouldServeOtherHostsWhereItIsSecureOrTheUserSaysSo()
    {
        assertThatThrownBy(() -> InsecureNetwork.check(false, "fabric x", OTHERS, "roce:::1", false))
            .isInstanceOf(CommandFailedException.class).hasMessage("fabric x is for other hosts, too: without TLS " +
                "and sealed packets, hosts on the way may read and change every record. Give the cluster --encrypt " +
                "and a certificate ('up --tls --encrypt'), or, on a network of which all hosts are trusted, as one " +
                "of WireGuard, --insecure-network");
        assertThatCode(() ->
        {
            InsecureNetwork.check(false, "fabric x", OTHERS, "roce:::1", true);
            InsecureNetwork.check(true, "fabric x", OTHERS, "roce:::1", false);
            InsecureNetwork.check(false, "fabric x", "::1", "roce:::1", false);
            InsecureNetwork.check(false, "fabric x", null, "roce:::1", false);
        }).doesNotThrowAnyException();
    }

    @Test
    void shouldNotAdviseToSealPacketsThatCannotBe()
    {
        assertThatThrownBy(() -> InsecureNetwork.check(false, "--listen x", OTHERS, "ibverbs:mlx5_0", false))
            .isInstanceOf(CommandFailedException.class).hasMessage("--listen x is for other hosts, too: packets of " +
                "ibverbs:mlx5_0 cannot be sealed: hosts on the way may read and change every record. Give, on a " +
                "network of which all hosts are trusted, as one of WireGuard, --insecure-network");
        assertThatThrownBy(() -> InsecureNetwork.check(false, "--listen x", OTHERS, "soft:/x", false))
            .as("TLS is enough there").hasMessageContaining("a certificate");
    }

    @Test
    void shouldEncryptRequestsWhereThatIsAskedForOrTheClusterSealsPackets()
    {
        assertThat(RoleOptions.isEncrypted(false, cluster(NetworkFabric.SEALED_NAME))).isTrue();
        assertThat(RoleOptions.isEncrypted(true, cluster("soft:/x"))).isTrue();
        assertThat(RoleOptions.isEncrypted(false, cluster("soft:/x"))).isFalse();
        assertThat(RoleOptions.isEncrypted(false, cluster("roce"))).isFalse();
    }

    @Test
    void shouldCountAsSecureWithTlsAndSealedPacketsOnly()
    {
        final String sealed = "roce:::1,encrypt=/k";
        assertThat(RoleOptions.isSecure(true, true, sealed + ",clear=accepted")).as("users encrypt").isTrue();
        assertThat(RoleOptions.isSecure(true, false, sealed)).as("by hand").isTrue();
        assertThat(RoleOptions.isSecure(true, false, sealed + ",clear=accepted")).isFalse();
        assertThat(RoleOptions.isSecure(false, true, sealed)).as("without TLS").isFalse();
        assertThat(RoleOptions.isSecure(true, true, "ibverbs:mlx5_0")).as("sealed by name alone").isFalse();
        assertThat(RoleOptions.isSecure(true, false, "roce:::1")).isFalse();
        assertThat(RoleOptions.isSecure(true, false, "ibverbs:mlx5_0")).isFalse();
        assertThat(RoleOptions.isSecure(true, false, "soft:/x")).as("on one host").isTrue();
    }
}
