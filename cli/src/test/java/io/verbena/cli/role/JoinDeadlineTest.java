package io.verbena.cli.role;

import io.verbena.cli.console.CommandFailedException;
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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** A node that joins asks a single address, too, until somebody answers there, or its deadline is over. */
@Timeout(50)
class JoinDeadlineTest
{
    private static final BootstrapAnswer ANSWER =
        new BootstrapAnswer(1, "soft", new PeerAddress(new DeviceAddress(1, 2, 3), 1, 0, 0));

    @TempDir
    private Path folder;
    private final ClusterAddress address = new ClusterAddress("127.0.0.1", UnusedPorts.next());

    private RoleOptions options(final String tokenFile)
    {
        ClusterToken.readOrCreate(folder.resolve(tokenFile));
        return RoleOptions.of(address.toString(), folder.resolve(tokenFile), 0);
    }

    private BootstrapServer listen()
    {
        return BootstrapServer.open(address, ClusterToken.readOrCreate(folder.resolve("token")), ANSWER,
            () -> AccessRules.NONE, (roles) -> null);
    }

    @Test
    void shouldAskUntilAMetaServerListens() throws Exception
    {
        final RoleOptions options = options("token");
        final CompletableFuture<BootstrapAnswer> joining = CompletableFuture.supplyAsync(options::bootstrap);
        assertThatThrownBy(() -> joining.get(500, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);
        try (BootstrapServer server = listen())
        {
            assertThat(server.address()).isEqualTo(address);
            assertThat(joining.get(30, TimeUnit.SECONDS)).isEqualTo(ANSWER);
        }
    }

    @Test
    void shouldEndAtItsDeadline()
    {
        final RoleOptions options = options("token");
        final long startNs = System.nanoTime();
        assertThatThrownBy(() -> options.bootstrap(400)).isInstanceOf(CommandFailedException.class)
            .hasMessageContaining(address.toString()).hasMessageContaining("is the cluster up?")
            .message().hasLineCount(1);
        assertThat(System.nanoTime() - startNs).isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(390));
    }

    /** Else it would be refused until the test is over. */
    @Test
    void shouldSayAtOnceThatItsTokenIsAnotherOne()
    {
        try (BootstrapServer server = listen())
        {
            assertThat(server.address()).isEqualTo(address);
            assertThatThrownBy(() -> options("other").bootstrap((int)TimeUnit.MINUTES.toMillis(2)))
                .isInstanceOf(CommandFailedException.class).message().hasLineCount(1);
        }
    }
}
