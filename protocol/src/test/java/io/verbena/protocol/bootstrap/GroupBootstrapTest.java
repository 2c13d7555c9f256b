package io.verbena.protocol.bootstrap;

import io.verbena.protocol.access.AccessRules;
import io.verbena.protocol.bootstrap.BootstrapException.Reason;
import io.verbena.raas.PeerAddress;
import io.verbena.rdma.verbs.DeviceAddress;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The addresses of a group of meta servers, of which the leader alone listens. */
@Timeout(60)
class GroupBootstrapTest
{
    private static final int TIMEOUT_MS = 20_000;
    private static final BootstrapAnswer ANSWER =
        new BootstrapAnswer(4, "soft:/dev/shm/x", new PeerAddress(new DeviceAddress(1, 2, 3), 1, 0, 0));

    @TempDir
    Path directory;
    private ClusterToken token;
    private ServerSocket silent;
    private BootstrapServer leader;
    private int deadPort;

    @BeforeEach
    void open() throws IOException
    {
        token = ClusterToken.readOrCreate(directory.resolve("token"));
        silent = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
        leader = BootstrapServer.open(new ClusterAddress("127.0.0.1", 0), token, ANSWER, () -> AccessRules.NONE);
        try (ServerSocket dead = new ServerSocket(0, 1, InetAddress.getLoopbackAddress()))
        {
            deadPort = dead.getLocalPort();
        }
    }

    @AfterEach
    void close() throws IOException
    {
        leader.close();
        silent.close();
    }

    private static ClusterAddress group(final int... ports)
    {
        final List<String> all = Arrays.stream(ports).mapToObj((port) -> "127.0.0.1:" + port).toList();
        return ClusterAddress.parse(String.join(",", all));
    }

    private BootstrapAnswer ask(final ClusterAddress group, final int timeoutMs)
    {
        return BootstrapClient.ask(group, token, timeoutMs);
    }

    /** One has accepted the connection and says nothing, as a stopped process: the answer does not wait for it. */
    @Test
    void shouldHaveTheAnswerOfTheLeaderWhateverTheOthersDo()
    {
        assertThat(ask(group(silent.getLocalPort(), deadPort, leader.address().port()), TIMEOUT_MS)).isEqualTo(ANSWER);
        assertThat(ask(group(leader.address().port(), silent.getLocalPort(), deadPort), TIMEOUT_MS)).isEqualTo(ANSWER);
    }

    @Test
    void shouldAskAgainUntilThereIsALeader() throws Exception
    {
        final int port = leader.address().port();
        leader.close();
        final CompletableFuture<BootstrapAnswer> asked =
            CompletableFuture.supplyAsync(() -> ask(group(deadPort, port), TIMEOUT_MS));
        Thread.sleep(300);
        leader = BootstrapServer.open(
            new ClusterAddress("127.0.0.1", port), token, ANSWER, () -> AccessRules.NONE);
        assertThat(asked.get()).isEqualTo(ANSWER);
    }

    @Test
    void shouldSayWhenNobodyAnswersOrTheTokenIsAnother()
    {
        leader.close();
        assertThatThrownBy(() -> ask(group(deadPort, leader.address().port()), 200))
            .isInstanceOfSatisfying(BootstrapException.class, (ex) ->
                assertThat(ex.reason()).isEqualTo(Reason.UNREACHABLE));
        leader = BootstrapServer.open(new ClusterAddress("127.0.0.1", 0),
            ClusterToken.ofHex("ab".repeat(32), "test"), ANSWER, () -> AccessRules.NONE);
        assertThatThrownBy(() -> ask(group(deadPort, leader.address().port()), TIMEOUT_MS))
            .isInstanceOfSatisfying(BootstrapException.class, (ex) ->
                assertThat(ex.reason()).isEqualTo(Reason.WRONG_TOKEN));
    }
}
