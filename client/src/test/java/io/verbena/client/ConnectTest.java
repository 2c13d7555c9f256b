package io.verbena.client;

import io.verbena.protocol.access.AccessRules;
import io.verbena.protocol.bootstrap.BootstrapAnswer;
import io.verbena.protocol.bootstrap.BootstrapServer;
import io.verbena.protocol.bootstrap.ClusterAddress;
import io.verbena.protocol.bootstrap.ClusterToken;
import io.verbena.raas.PeerAddress;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.test.UnusedPorts;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** An application reaches the client's other packages by {@link KvClient#connect} alone. */
@Timeout(50)
class ConnectTest
{
    @TempDir
    private Path directory;

    @Test
    void shouldFindWhatConnects()
    {
        assertThatThrownBy(() -> KvClient.connect("nowhere", new KvClientOptions().tokenFile(Path.of("missing"))))
            .isInstanceOf(KvInvalidRequestException.class).hasMessageMatching(".*(nowhere|missing).*");
        assertThatThrownBy(() -> KvClient.connect(null))
            .isInstanceOf(KvInvalidRequestException.class).hasMessage("address is null");
        assertThatThrownBy(() -> KvClient.connect("verbena://localhost:1", null))
            .isInstanceOf(KvInvalidRequestException.class).hasMessage("options is null");
    }

    /** A group has no leader for a moment, and the client knows one address of it. */
    @Test
    void shouldAskASingleAddressAgainUntilSomebodyListens() throws Exception
    {
        final ClusterToken token = ClusterToken.readOrCreate(directory.resolve("token"));
        final ClusterAddress address = new ClusterAddress("127.0.0.1", UnusedPorts.next());
        final CompletableFuture<KvClient> connecting =
            CompletableFuture.supplyAsync(() -> KvClient.connect(address.toString(), options(Duration.ofMinutes(1))));
        assertThatThrownBy(() -> connecting.get(300, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);
        // What it answers cannot be used here, by which is seen that it has answered.
        try (BootstrapServer server = BootstrapServer.open(address, token, new BootstrapAnswer(4, "no such fabric",
            new PeerAddress(new DeviceAddress(1, 2, 3), 1, 0, 0)), () -> AccessRules.NONE, (roles) -> null))
        {
            assertThat(server.address()).isEqualTo(address);
            assertThatThrownBy(connecting::get).hasMessageContaining("no such fabric");
        }
    }

    /** Else it is asked for a minute, which is longer than the test may take. */
    @Test
    void shouldSayAtOnceThatASingleMetaServerIsDown()
    {
        ClusterToken.readOrCreate(directory.resolve("token"));
        final String address = "127.0.0.1:" + UnusedPorts.next();
        assertThatThrownBy(() -> KvClient.connect(address, options(Duration.ofMinutes(1)).retryConnect(false)))
            .isInstanceOf(KvUnavailableException.class).hasMessageContaining("is the cluster up?");
        final long startNs = System.nanoTime();
        assertThatThrownBy(() -> KvClient.connect(address, options(Duration.ofMillis(300))))
            .as("until the deadline").isInstanceOf(KvUnavailableException.class)
            .hasMessageContaining("is the cluster up?");
        assertThat(System.nanoTime() - startNs).isGreaterThanOrEqualTo(Duration.ofMillis(290).toNanos());
    }

    private KvClientOptions options(final Duration timeout)
    {
        return new KvClientOptions().tokenFile(directory.resolve("token")).timeout(timeout);
    }
}
