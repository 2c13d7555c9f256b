package io.verbena.protocol.bootstrap;

import io.verbena.protocol.access.AccessRules;
import io.verbena.raas.PeerAddress;
import io.verbena.rdma.verbs.DeviceAddress;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.atomic.AtomicInteger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** A server that hangs up may be too busy, or no cluster: it is asked again, four times. */
@Timeout(60)
class HangUpTest
{
    private static final int TIMEOUT_MS = 20_000;
    private static final BootstrapAnswer ANSWER =
        new BootstrapAnswer(4, "sim", new PeerAddress(new DeviceAddress(1, 2, 3), 9, 0, 0));
    private final ClusterToken token = ClusterToken.ofHex("0123456789abcdef".repeat(4), "test");
    private final AtomicInteger accepted = new AtomicInteger();

    /** Hangs up so often, then passes everything to the server and back. */
    private void hangUp(final ServerSocket listening, final int times, final int port)
    {
        try
        {
            while (true)
            {
                final Socket client = listening.accept();
                if (accepted.incrementAndGet() <= times)
                {
                    client.close();
                    continue;
                }
                final Socket server = new Socket(InetAddress.getLoopbackAddress(), port);
                Thread.ofVirtual().start(() -> pass(client, server));
                Thread.ofVirtual().start(() -> pass(server, client));
            }
        }
        catch (final IOException ignore)
        {
            // The test is over.
        }
    }

    private static void pass(final Socket from, final Socket to)
    {
        try (from; to)
        {
            from.getInputStream().transferTo(to.getOutputStream());
        }
        catch (final IOException ignore)
        {
            // One of them has gone.
        }
    }

    private BootstrapAnswer ask(final int times) throws IOException
    {
        try (BootstrapServer server = BootstrapServer.open(
                 new ClusterAddress("127.0.0.1", 0), token, ANSWER, () -> AccessRules.NONE, (roles) -> null);
            ServerSocket listening = new ServerSocket(0, 16, InetAddress.getLoopbackAddress()))
        {
            Thread.ofVirtual().start(() -> hangUp(listening, times, server.address().port()));
            return BootstrapClient.ask(
                new ClusterAddress("127.0.0.1", listening.getLocalPort()), token, TIMEOUT_MS);
        }
    }

    @Test
    void shouldAskFourTimesMore() throws IOException
    {
        assertThat(ask(4)).isEqualTo(ANSWER);
        assertThat(accepted.get()).isEqualTo(5);
    }

    @Test
    void shouldGiveUpThen()
    {
        assertThatThrownBy(() -> ask(5)).isInstanceOf(BootstrapException.class);
        assertThat(accepted.get()).isEqualTo(5);
    }
}
