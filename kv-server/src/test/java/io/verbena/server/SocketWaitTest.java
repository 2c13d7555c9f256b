package io.verbena.server;

import io.verbena.protocol.request.ComputeEndpoint;
import io.verbena.protocol.request.NodeRequest;
import io.verbena.rdma.verbs.CompletionChannel;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.resp.RespConfiguration;
import io.verbena.resp.RespServer;

import org.agrona.concurrent.SystemNanoClock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

import static org.assertj.core.api.Assertions.assertThat;

/** The sleep of a thread that serves sockets and a device: every signal ends it, and so does what a client sends. */
@Timeout(120)
class SocketWaitTest
{
    /** A wake-up that is lost makes a wait as long as this, which fails the test. */
    private static final long LONG_NS = TimeUnit.SECONDS.toNanos(20);
    private static final int ROUNDS = Integer.getInteger("verbena.test.socketWaitRounds", 20_000);
    private static final long ROUNDS_NS = TimeUnit.SECONDS.toNanos(10);

    private final SignalledChannel channel = new SignalledChannel();
    private final RespServer server = RespServer.openDriven(
        new RespConfiguration().port(0), new NoEndpoint(), SystemNanoClock.INSTANCE, () -> { });
    private final SocketWait socketWait = new SocketWait(channel, server);

    /** Signals are counted; whoever watches is woken. */
    private static final class SignalledChannel implements CompletionChannel
    {
        private int signals;
        private volatile long limitNs = Long.MAX_VALUE;

        synchronized void signal()
        {
            signals++;
            notifyAll();
        }

        @Override
        public CompletionQueue await(final long timeoutNs)
        {
            assertThat(timeoutNs).as("it sleeps on the sockets").isZero();
            return null;
        }

        @Override
        public void wake()
        {
            signal();
        }

        @Override
        public synchronized int signals()
        {
            return signals;
        }

        @Override
        public synchronized void watch(final int seen, final long timeoutNs)
        {
            try
            {
                if (seen == signals)
                {
                    wait(TimeUnit.NANOSECONDS.toMillis(timeoutNs));
                }
            }
            catch (final InterruptedException ex)
            {
                Thread.currentThread().interrupt();
            }
        }

        @Override
        public long sleepLimitNs()
        {
            return limitNs;
        }

        @Override
        public void close()
        {
            // Nothing is open.
        }
    }

    private static final class NoEndpoint implements ComputeEndpoint
    {
        @Override
        public int id()
        {
            return 1;
        }

        @Override
        public int submit(final NodeRequest request)
        {
            return CLOSED;
        }
    }

    @AfterEach
    void close()
    {
        socketWait.close();
        server.close();
    }

    private void await()
    {
        final long beganNs = System.nanoTime();
        assertThat(socketWait.await(LONG_NS)).isNull();
        assertThat(System.nanoTime() - beganNs).as("a wake-up was lost").isLessThan(LONG_NS / 2);
    }

    @Test
    void shouldNotSleepAfterASignalThatCameSinceTheCycleBegan()
    {
        socketWait.poll();
        channel.signal();
        await();
    }

    @Test
    void shouldSleepNoLongerThanWhatWaitsForPeersAllows()
    {
        channel.limitNs = TimeUnit.MILLISECONDS.toNanos(1);
        socketWait.poll();
        await();
    }

    /** A busy machine has time for fewer rounds. */
    @Test
    void shouldLoseNoSignal() throws InterruptedException
    {
        final AtomicLong begun = new AtomicLong();
        final AtomicBoolean isOver = new AtomicBoolean();
        final Thread signaller = new Thread(() ->
        {
            final SplittableRandom random = new SplittableRandom(1);
            for (long i = 1; i <= ROUNDS; i++)
            {
                while (begun.get() < i)
                {
                    if (isOver.get())
                    {
                        return;
                    }
                    Thread.onSpinWait();
                }
                for (int pause = random.nextInt(2_000); pause > 0; pause--)
                {
                    Thread.onSpinWait();
                }
                channel.signal();
            }
        });
        signaller.start();
        final long endNs = System.nanoTime() + ROUNDS_NS;
        for (long i = 1; i <= ROUNDS && System.nanoTime() - endNs < 0; i++)
        {
            final int before = channel.signals();
            begun.set(i);
            while (true)
            {
                socketWait.poll();
                // As a duty cycle: what is looked for comes after the number was noted.
                if (before != channel.signals())
                {
                    break;
                }
                await();
            }
        }
        isOver.set(true);
        signaller.join();
    }

    @Test
    void shouldServeWhatAClientSendsWhileItSleeps() throws IOException, InterruptedException
    {
        final StringBuilder reply = new StringBuilder();
        final AtomicBoolean hasEnded = new AtomicBoolean();
        final Thread client = new Thread(() ->
        {
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port()))
            {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
                socket.getOutputStream().write("PING\r\n".getBytes(StandardCharsets.US_ASCII));
                reply.append(new String(socket.getInputStream().readNBytes(7), StandardCharsets.US_ASCII));
            }
            catch (final IOException ex)
            {
                reply.append(ex);
            }
            hasEnded.set(true);
            channel.signal();
        });
        client.start();
        while (true)
        {
            socketWait.poll();
            if (hasEnded.get())
            {
                break;
            }
            await();
        }
        client.join();
        assertThat(reply.toString()).isEqualTo("+PONG\r\n");
    }
}
