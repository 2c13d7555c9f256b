package io.verbena.protocol.bootstrap;

import io.verbena.protocol.access.AccessRules;
import io.verbena.raas.PeerAddress;
import io.verbena.rdma.verbs.DeviceAddress;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * More handshakes at once than a server keeps: honest ones are lost none, and others keep nobody out. Deep:
 * {@code -Dverbena.test.halfOpen=10000}.
 */
@Timeout(120)
class BusyBootstrapTest
{
    private static final int TIMEOUT_MS = 40_000;
    /** More than a node gives it: on a busy machine, this process waits for a processor as well. */
    private static final int NODE_TIMEOUT_MS = 10_000;
    private static final int HALF_OPEN = Integer.getInteger("verbena.test.halfOpen", 2_500);
    private static final BootstrapAnswer ANSWER =
        new BootstrapAnswer(4, "sim", new PeerAddress(new DeviceAddress(1, 2, 3), 9, 0, 0));
    private static final byte[] HELLO = BootstrapDescriptor.hello(
        BootstrapDescriptor.VERSION, BootstrapDescriptor.FORMATS, new byte[32], "");

    private final ClusterToken token = ClusterToken.ofHex("0123456789abcdef".repeat(4), "test");
    private final BootstrapServer server = BootstrapServer.open(new ClusterAddress("127.0.0.1", 0), token, ANSWER,
        () -> AccessRules.NONE, (roles) -> null);
    private final List<Socket> open = new ArrayList<>();

    @AfterEach
    void close() throws IOException
    {
        for (final Socket each : open)
        {
            each.close();
        }
        server.close();
    }

    /** Connects from an address, and says a part of what it should. */
    private Socket connect(final int lastByte, final byte[] said) throws IOException
    {
        final Socket socket = new Socket();
        open.add(socket);
        socket.bind(new InetSocketAddress(InetAddress.getByName("127.0.0." + lastByte), 0));
        socket.connect(new InetSocketAddress("127.0.0.1", server.address().port()), TIMEOUT_MS);
        socket.getOutputStream().write(said);
        return socket;
    }

    /** Whoever waits for the challenge hears that it shall come again, and who waits for the answer does, too. */
    @Test
    void shouldAskTheOldestOfTheAddressWithMostToComeAgain() throws IOException
    {
        final Socket other = connect(3, HELLO);
        other.getInputStream().readNBytes(BootstrapDescriptor.HELLO_LENGTH_BYTES);
        final Socket silent = connect(2, new byte[0]);
        final Socket waiting = connect(2, HELLO);
        waiting.getInputStream().readNBytes(BootstrapDescriptor.HELLO_LENGTH_BYTES);
        while (server.pending() < 3)
        {
            Thread.onSpinWait();
        }
        for (int i = server.pending(); i < BootstrapServer.MAX_PENDING + 2; i++)
        {
            connect(2, new byte[0]);
        }
        final ByteBuffer challenge = BootstrapDescriptor.wrap(
            silent.getInputStream().readNBytes(BootstrapDescriptor.HELLO_LENGTH_BYTES));
        assertThat(challenge.getShort(BootstrapDescriptor.STATUS_OFFSET))
            .isEqualTo((short)BootstrapDescriptor.STATUS_BUSY);
        assertThat(challenge.getInt(BootstrapDescriptor.RETRY_DELAY_OFFSET)).isEqualTo(100);
        assertThat(new String(silent.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
            .isEqualTo("1024 handshakes are under way");
        final ByteBuffer refusal = BootstrapDescriptor.wrap(waiting.getInputStream().readAllBytes());
        assertThat(refusal.getShort(0)).isEqualTo((short)BootstrapDescriptor.STATUS_BUSY);
        assertThat(server.refusals()).isEqualTo(2);
        assertThat(server.lastRefusal()).isEqualTo("127.0.0.2: 1024 handshakes are under way");
        other.getOutputStream().write(new byte[BootstrapDescriptor.PROOF_LENGTH_BYTES]);
        assertThat(BootstrapDescriptor.wrap(other.getInputStream().readAllBytes()).getShort(0))
            .as("came first of all, from an address with one").isEqualTo((short)BootstrapDescriptor.STATUS_WRONG_TOKEN);
    }

    /** Some say nothing, some a part of the hello, some all but the proof; as fast as they can. */
    @Test
    void shouldLetANodeJoinInTimeWhileThousandsAreHalfOpen() throws Exception
    {
        final AtomicBoolean isOver = new AtomicBoolean();
        final AtomicInteger joined = new AtomicInteger();
        final Set<String> failures = ConcurrentHashMap.newKeySet();
        final Thread node = Thread.ofPlatform().start(() ->
        {
            while (!isOver.get() || 0 == joined.get() && failures.isEmpty())
            {
                try
                {
                    assertThat(BootstrapClient.ask(server.address(), token, NODE_TIMEOUT_MS)).isEqualTo(ANSWER);
                    joined.incrementAndGet();
                }
                catch (final BootstrapException ex)
                {
                    failures.add(ex.getMessage());
                }
            }
        });
        for (int i = 0; i < HALF_OPEN; i++)
        {
            connect(1 + i % 7, Arrays.copyOf(HELLO, i % 3 * BootstrapDescriptor.HELLO_LENGTH_BYTES / 2));
            assertThat(server.pending()).isLessThanOrEqualTo(BootstrapServer.MAX_PENDING);
        }
        isOver.set(true);
        node.join();
        assertThat(failures).isEmpty();
        assertThat(joined.get()).isPositive();
        assertThat(BootstrapClient.ask(server.address(), token, NODE_TIMEOUT_MS)).isEqualTo(ANSWER);
    }

    @Test
    void shouldAnswerThousandsWhoAskAtOnce() throws Exception
    {
        final int count = 2 * BootstrapServer.MAX_PENDING;
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
        for (final Thread thread : threads)
        {
            thread.join();
        }
        assertThat(failures).isEmpty();
        assertThat(answered.get()).isEqualTo(count);
        while (server.pending() > 0)
        {
            Thread.onSpinWait();
        }
    }

    /** However slowly somebody sends, a handshake has one time for all of it. */
    @Test
    void shouldEndAHandshakeThatNeverEnds() throws IOException
    {
        final long[] nowNs = {0};
        final PendingHandshakes pending = new PendingHandshakes(3, 10, () -> nowNs[0]);
        final Socket first = connect(2, HELLO);
        final Socket second = connect(2, HELLO);
        final PendingHandshakes.Pending begun = pending.begin(first);
        nowNs[0] = 9_000_000;
        pending.begin(second);
        pending.closeOverdue();
        assertThat(first.isClosed()).isFalse();
        nowNs[0] = 10_000_000;
        pending.closeOverdue();
        assertThat(first.isClosed()).isTrue();
        assertThat(second.isClosed()).isFalse();
        assertThat(begun.isDisplaced()).isFalse();
        pending.end(begun);
        assertThat(pending.count()).isEqualTo(1);
    }
}
