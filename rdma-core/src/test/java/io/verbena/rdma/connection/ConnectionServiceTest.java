package io.verbena.rdma.connection;

import io.verbena.rdma.verbs.ConnectionAttempt;
import io.verbena.rdma.verbs.ConnectionAttempt.State;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.QueuePairState;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Peers of every kind at the TCP port of a device. */
class ConnectionServiceTest
{
    private static final InetAddress HOST = InetAddress.ofLiteral("::1");

    private FakeDevice own;
    private FakeDevice peer;

    @BeforeEach
    void open() throws IOException
    {
        own = new FakeDevice();
        peer = new FakeDevice();
    }

    @AfterEach
    void close()
    {
        own.close();
        peer.close();
    }

    @Test
    void shouldConnectWithTheSmallerMtuOfBothSides()
    {
        own.mtu = 3;
        final FakeQueuePair requester = new FakeQueuePair(11);
        final FakeQueuePair responder = new FakeQueuePair(12);
        connect(requester, responder, 20_000);
        assertThat(requester.mtu).isEqualTo(3);
        assertThat(responder.mtu).isEqualTo(3);
        assertThat(responder.peer.queuePairNumber()).isEqualTo(11);
        assertThat(requester.peer.queuePairNumber()).isEqualTo(12);
        assertThat(responder.state()).isEqualTo(QueuePairState.RTS);
    }

    private ConnectionAttempt connect(
        final FakeQueuePair requester, final FakeQueuePair responder, final long timeoutMs)
    {
        try (ConnectionListener listener = peer.service.listen(7, () -> { }))
        {
            final ConnectionAttempt attempt = own.connect(requester, peer.address(), timeoutMs);
            FakeDevice.awaitRequest(listener).accept(peer.queuePair(responder), 0, new byte[]{3});
            if (own.check == null)
            {
                assertThat(FakeDevice.await(attempt)).isEqualTo(State.ESTABLISHED);
                assertThat(attempt.privateData()).containsExactly(3);
                assertThat(attempt.problem()).isEmpty();
            }
            return attempt;
        }
    }

    @Test
    void shouldTakeNoRequestThatNamesTheDeviceOfAnotherHost() throws IOException
    {
        try (ConnectionListener listener = peer.service.listen(7, () -> { });
            Socket socket = new Socket(HOST, peer.service.tcpPort()))
        {
            socket.setSoTimeout(20_000);
            final ByteBuffer request = new ConnectionMessage(ConnectionMessage.REQUEST, 7, 1, 1, 5, 1,
                new DeviceAddress(0x2001_0DB8L << 32, 1, 4791), new byte[0]).encode();
            socket.getOutputStream().write(request.array(), 0, request.limit());
            final ByteBuffer answer = ByteBuffer.wrap(socket.getInputStream().readAllBytes());
            assertThat(answer.getShort(ConnectionMessage.KIND_OFFSET)).isEqualTo((short)ConnectionMessage.UNREACHABLE);
            assertThat(listener.poll()).isNull();
        }
    }

    @Test
    void shouldTellOfEachRequest()
    {
        final AtomicInteger told = new AtomicInteger();
        try (ConnectionListener listener = peer.service.listen(7, told::incrementAndGet))
        {
            own.connect(new FakeQueuePair(1), peer.address(), 20_000);
            own.connect(new FakeQueuePair(2), peer.address(), 20_000);
            FakeDevice.awaitRequest(listener);
            FakeDevice.awaitRequest(listener);
            assertThat(told).hasValue(2);
        }
    }

    @Test
    void shouldSayThatPortRefuses() throws IOException
    {
        final int port;
        try (ServerSocket socket = new ServerSocket(0, 1, HOST))
        {
            port = socket.getLocalPort();
        }
        final ConnectionAttempt attempt = own.connect(new FakeQueuePair(1), new DeviceAddress(0, 1, port), 20_000);
        assertThat(FakeDevice.await(attempt)).isEqualTo(State.UNREACHABLE);
        assertThat(attempt.problem()).isEqualTo("0:0:0:0:0:0:0:1 port " + port + "/tcp: Connection refused");
    }

    @Test
    void shouldSayThatPortIsSilentLongBeforeTheAttemptIsOver() throws IOException
    {
        // A queue of one that is full: the kernel drops who comes next.
        try (ServerSocket silent = new ServerSocket(0, 1, HOST);
            Socket first = new Socket(HOST, silent.getLocalPort());
            Socket second = new Socket(HOST, silent.getLocalPort()))
        {
            assertThat(first.isConnected() && second.isConnected()).isTrue();
            final long startNs = System.nanoTime();
            final ConnectionAttempt attempt =
                own.connect(new FakeQueuePair(1), new DeviceAddress(0, 1, silent.getLocalPort()), 20_000);
            assertThat(FakeDevice.await(attempt)).isEqualTo(State.UNREACHABLE);
            assertThat(attempt.problem()).isEqualTo(
                "no answer from 0:0:0:0:0:0:0:1 port " + silent.getLocalPort() + "/tcp: is it open?");
            assertThat(System.nanoTime() - startNs).isLessThan(TimeUnit.SECONDS.toNanos(10));
        }
    }

    @Test
    void shouldSayThatPeerTookTheRequestAndIsSilent()
    {
        try (ConnectionListener _ = peer.service.listen(7, () -> { }))
        {
            final FakeQueuePair queuePair = new FakeQueuePair(1);
            final ConnectionAttempt attempt = own.connect(queuePair, peer.address(), 500);
            assertThat(FakeDevice.await(attempt)).isEqualTo(State.TIMED_OUT);
            assertThat(attempt.problem()).contains("has taken the request and not answered it");
            assertThat(queuePair.state()).isEqualTo(QueuePairState.RESET);
        }
    }

    @Test
    void shouldWaitForPacketsBeforeItSaysThatItIsReady()
    {
        final CountingCheck check = new CountingCheck();
        own.check = check;
        final FakeQueuePair responder = new FakeQueuePair(12);
        final ConnectionAttempt attempt = connect(new FakeQueuePair(11), responder, 20_000);
        check.awaitAsked(3);
        assertThat(attempt.poll()).isEqualTo(State.PENDING);
        own.onAnswered.run();
        assertThat(FakeDevice.await(attempt)).isEqualTo(State.ESTABLISHED);
        assertThat(check.closed).hasValue(1);
        assertThat(responder.state()).isEqualTo(QueuePairState.RTS);
    }

    @Test
    void shouldGiveUpWithinFiveSecondsWhenNoPacketPassesAndTakePeerToError()
    {
        final CountingCheck check = new CountingCheck();
        own.check = check;
        final FakeQueuePair requester = new FakeQueuePair(11);
        final FakeQueuePair responder = new FakeQueuePair(12);
        final long startNs = System.nanoTime();
        final ConnectionAttempt attempt = connect(requester, responder, 20_000);
        assertThat(FakeDevice.await(attempt)).isEqualTo(State.UNREACHABLE);
        assertThat(System.nanoTime() - startNs).isLessThan(TimeUnit.SECONDS.toNanos(5));
        assertThat(attempt.problem()).isEqualTo("no packet");
        assertThat(check.closed).hasValue(1);
        assertThat(requester.state()).isEqualTo(QueuePairState.RESET);
        awaitState(responder, QueuePairState.ERR);
        own.onAnswered.run();
        assertThat(attempt.poll()).isEqualTo(State.UNREACHABLE);
    }

    private static void awaitState(final FakeQueuePair queuePair, final QueuePairState state)
    {
        final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (queuePair.state() != state && System.nanoTime() - endNs < 0)
        {
            Thread.onSpinWait();
        }
        assertThat(queuePair.state()).isEqualTo(state);
    }

    @Test
    void shouldServeOthersWhilePeersAreSilentSlowOrTalkNonsense() throws IOException
    {
        final SplittableRandom random = new SplittableRandom(1);
        final List<Socket> bad = new ArrayList<>();
        try
        {
            for (int i = 0; i < 60; i++)
            {
                final Socket socket = new Socket(HOST, peer.service.tcpPort());
                bad.add(socket);
                final byte[] bytes = new byte[i % 3 == 0 ? 0 : i % 3 == 1 ? 20 : 4_000];
                random.nextBytes(bytes);
                if (i % 3 == 1)
                {
                    // The beginning of what could be a request.
                    ByteBuffer.wrap(bytes).putInt(ConnectionMessage.MAGIC).putShort((short)ConnectionMessage.VERSION);
                }
                send(socket, bytes);
            }
            connect(new FakeQueuePair(11), new FakeQueuePair(12), 20_000);
        }
        finally
        {
            for (final Socket socket : bad)
            {
                socket.close();
            }
        }
    }

    private static void send(final Socket socket, final byte[] bytes) throws IOException
    {
        try
        {
            socket.getOutputStream().write(bytes);
        }
        catch (final SocketException ex)
        {
            // Closed by the service before all was sent.
            assertThat(bytes).hasSizeGreaterThan(ConnectionMessage.HEADER_LENGTH_BYTES);
        }
    }

    @Test
    void shouldDropTheOldestOfTooManySilentPeersAndServeOthers() throws IOException
    {
        final List<Socket> silent = new ArrayList<>();
        try
        {
            for (int i = 0; i < ConnectionService.MAX_SILENT + 40; i++)
            {
                silent.add(new Socket(HOST, peer.service.tcpPort()));
            }
            silent.getFirst().setSoTimeout(20_000);
            assertThat(silent.getFirst().getInputStream().read()).isEqualTo(-1);
            connect(new FakeQueuePair(11), new FakeQueuePair(12), 20_000);
        }
        finally
        {
            for (final Socket socket : silent)
            {
                socket.close();
            }
        }
    }

    /** Though more come from it than there are places in all. */
    @Test
    void shouldLetNoAddressThatFloodsPushOthersOut() throws IOException
    {
        final List<Socket> flood = new ArrayList<>();
        final FakeDevice flooded = new FakeDevice("127.0.0.1");
        final InetAddress host = InetAddress.ofLiteral("127.0.0.1");
        final int port = flooded.service.tcpPort();
        try (Socket honest = new Socket(host, port, InetAddress.ofLiteral("127.0.0.3"), 0))
        {
            for (int i = 0; i < ConnectionService.MAX_SILENT + 40; i++)
            {
                flood.add(new Socket(host, port, InetAddress.ofLiteral("127.0.0.2"), 0));
            }
            flood.getFirst().setSoTimeout(20_000);
            assertThat(flood.getFirst().getInputStream().read()).isEqualTo(-1);
            honest.setSoTimeout(300);
            assertThatThrownBy(() -> honest.getInputStream().read()).isInstanceOf(SocketTimeoutException.class);
        }
        finally
        {
            for (final Socket socket : flood)
            {
                socket.close();
            }
            flooded.close();
        }
    }

    @Test
    void shouldTakePeerThatAcceptedToErrorWhenItsRequesterIsNeverReady() throws IOException
    {
        peer.peerPatienceMs = 700;
        final FakeQueuePair responder = new FakeQueuePair(12);
        try (ConnectionListener listener = peer.service.listen(7, () -> { });
            Socket socket = new Socket(HOST, peer.service.tcpPort()))
        {
            final ByteBuffer request = new ConnectionMessage(
                ConnectionMessage.REQUEST, 7, 1, 1, 5, 1, own.address(), new byte[0]).encode();
            socket.getOutputStream().write(request.array(), 0, request.limit());
            final ConnectionRequest asked = FakeDevice.awaitRequest(listener);
            asked.accept(peer.queuePair(responder), 0, new byte[0]);
            assertThat(responder.state()).isEqualTo(QueuePairState.RTS);
            // It stays connected and says nothing.
            awaitState(responder, QueuePairState.ERR);
            assertThat(socket.isConnected()).isTrue();
        }
    }

    @Test
    void shouldFreeItsPortWhenClosed() throws IOException
    {
        final int port = peer.service.tcpPort();
        peer.service.close();
        try (ServerSocket socket = new ServerSocket())
        {
            socket.setReuseAddress(true);
            socket.bind(new InetSocketAddress(HOST, port));
            assertThat(socket.isBound()).isTrue();
        }
    }

    /** Counts, and never gets an answer by itself. */
    private static final class CountingCheck implements PathCheck
    {
        private final AtomicInteger asked = new AtomicInteger();
        private final AtomicInteger closed = new AtomicInteger();

        @Override
        public void ask()
        {
            asked.incrementAndGet();
        }

        private void awaitAsked(final int count)
        {
            final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
            while (asked.get() < count && System.nanoTime() - endNs < 0)
            {
                Thread.onSpinWait();
            }
            assertThat(asked.get()).isGreaterThanOrEqualTo(count);
        }

        @Override
        public String problem()
        {
            return "no packet";
        }

        @Override
        public void close()
        {
            closed.incrementAndGet();
        }
    }
}
