package io.verbena.protocol.bootstrap;

import io.verbena.protocol.access.AccessRules;
import io.verbena.raas.PeerAddress;
import io.verbena.rdma.verbs.DeviceAddress;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** More handshakes at once than a server makes: refused for a while, and lost none. */
@Timeout(60)
class BusyBootstrapTest
{
    private static final int TIMEOUT_MS = 40_000;
    private static final BootstrapAnswer ANSWER =
        new BootstrapAnswer(4, "sim", new PeerAddress(new DeviceAddress(1, 2, 3), 9, 0, 0));

    private final ClusterToken token = ClusterToken.ofHex("0123456789abcdef".repeat(4), "test");
    private final BootstrapServer server = BootstrapServer.open(new ClusterAddress("127.0.0.1", 0), token, ANSWER,
        () -> AccessRules.NONE);

    @AfterEach
    void close()
    {
        server.close();
    }

    /** Takes every place of the server with peers that say nothing; closed by the caller. */
    private List<Socket> takeAllPlaces() throws IOException
    {
        final List<Socket> silent = new ArrayList<>();
        for (int i = 0; i < BootstrapServer.MAX_CONNECTIONS; i++)
        {
            silent.add(new Socket("127.0.0.1", server.address().port()));
        }
        return silent;
    }

    @Test
    void shouldAskWhoFindsNoPlaceToComeAgain() throws IOException
    {
        final List<Socket> silent = takeAllPlaces();
        try (Socket late = new Socket("127.0.0.1", server.address().port()))
        {
            late.getOutputStream().write(BootstrapDescriptor.hello(
                BootstrapDescriptor.VERSION, BootstrapDescriptor.FORMATS, new byte[32], ""));
            final ByteBuffer challenge = BootstrapDescriptor.wrap(
                late.getInputStream().readNBytes(BootstrapDescriptor.HELLO_LENGTH_BYTES));
            assertThat(challenge.getShort(BootstrapDescriptor.STATUS_OFFSET))
                .isEqualTo((short)BootstrapDescriptor.STATUS_BUSY);
            assertThat(challenge.getInt(BootstrapDescriptor.RETRY_DELAY_OFFSET)).isBetween(20, 1_000);
            assertThat(new String(late.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                .isEqualTo("64 handshakes are under way");
        }
        assertThat(server.refusals()).isEqualTo(1);
        assertThatThrownBy(() -> BootstrapClient.ask(server.address(), token, 150))
            .isInstanceOf(BootstrapException.class)
            .hasMessageContaining("64 handshakes are under way; try again in ");
        assertThat(server.refusals()).as("asked again").isGreaterThan(2);
        // In the time of a silent peer there is a place again.
        assertThat(BootstrapClient.ask(server.address(), token, TIMEOUT_MS)).isEqualTo(ANSWER);
        for (final Socket each : silent)
        {
            each.close();
        }
    }

    @Test
    void shouldAnswerAThousandWhoAskAtOnce() throws Exception
    {
        final int count = 1_000;
        final List<Socket> silent = takeAllPlaces();
        final Set<String> failures = ConcurrentHashMap.newKeySet();
        final AtomicInteger answered = new AtomicInteger();
        final List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < count; i++)
        {
            threads.add(Thread.ofVirtual().start(() ->
            {
                try
                {
                    answered.addAndGet(BootstrapClient.ask(server.address(), token, TIMEOUT_MS).equals(ANSWER) ? 1 : 0);
                }
                catch (final BootstrapException ex)
                {
                    failures.add(ex.getMessage());
                }
            }));
        }
        while (server.refusals() < BootstrapServer.MAX_CONNECTIONS)
        {
            Thread.onSpinWait();
        }
        for (final Socket each : silent)
        {
            each.close();
        }
        for (final Thread thread : threads)
        {
            thread.join();
        }
        assertThat(failures).isEmpty();
        assertThat(answered.get()).isEqualTo(count);
    }
}
