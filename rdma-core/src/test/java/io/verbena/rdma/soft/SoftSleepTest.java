package io.verbena.rdma.soft;

import io.verbena.rdma.soft.shared.AccessMark;
import io.verbena.rdma.verbs.CompletionChannel;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Endpoint;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletions;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Waits for events: what they cost while nothing comes, and that something ends them. */
@Timeout(60)
class SoftSleepTest
{
    private static final long WAIT_NS = TimeUnit.MILLISECONDS.toNanos(800);
    /** A fortieth of a core; polling takes a whole one. */
    private static final long MOST_CPU_NS = WAIT_NS / 40;
    private static final int WATCHED = 200;
    private static final long PAUSE_NS = TimeUnit.MICROSECONDS.toNanos(300);

    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    private SoftFabric fabric;
    private Device device;
    private ProtectionDomain domain;
    private CompletionChannel channel;
    private CompletionQueue queue;
    private QueuePair queuePair;
    private Endpoint peer;

    @BeforeEach
    void setUp()
    {
        fabric = SoftFabric.open(new SoftFabricOptions().directory(TestDirectories.next()));
        device = fabric.openDevice("d");
        domain = device.allocateProtectionDomain();
        channel = device.createCompletionChannel();
        queue = device.createCompletionQueue(64, channel);
        queuePair = domain.createQueuePair(queue, queue, Endpoint.CAPABILITIES);
        peer = new Endpoint(device);
        SoftConnections.connect(peer, peer.queuePair, peer, queuePair);
    }

    @AfterEach
    void tearDown()
    {
        queuePair.close();
        queue.close();
        channel.close();
        domain.close();
        peer.close();
        device.close();
        fabric.close();
    }

    private long cpuNsOfWait()
    {
        final long before = threads.getCurrentThreadCpuTime();
        final long startNs = device.clock().nanoTime();
        assertThat(channel.await(WAIT_NS)).isNull();
        assertThat(device.clock().nanoTime() - startNs).isGreaterThanOrEqualTo(WAIT_NS);
        return threads.getCurrentThreadCpuTime() - before;
    }

    /** Its word may be another channel's by then. The device closes, so nothing of the refused queue is left. */
    @Test
    void shouldRefuseCompletionQueueOnClosedChannel()
    {
        final CompletionChannel closed = device.createCompletionChannel();
        closed.close();
        assertThatThrownBy(() -> device.createCompletionQueue(64, closed))
            .isInstanceOf(RdmaException.class).hasMessageContaining("completion channel is closed");
    }

    @Test
    void shouldBurnNoCoreWhileNothingComes()
    {
        queue.requestNotification(false);
        cpuNsOfWait();
        assertThat(cpuNsOfWait()).isLessThan(MOST_CPU_NS);
    }

    /** It looks once a millisecond whether the peer has posted a receive; what that costs is the machine's matter. */
    @Test
    void shouldLookOnceAMillisecondWhileItsOwnSendWaitsForReceive()
    {
        final int[] looks = {0};
        final SoftCompletionChannel.Listener listener = () -> looks[0]++ < 0;
        ((SoftCompletionChannel)channel).attach(listener);
        queue.requestNotification(false);
        queuePair.begin();
        queuePair.send(1, SendFlags.SIGNALED, 0, 0, 0);
        queuePair.complete();
        assertThat(channel.await(WAIT_NS)).isNull();
        ((SoftCompletionChannel)channel).detach(listener);
        assertThat(looks[0]).isBetween(9, (int)TimeUnit.NANOSECONDS.toMillis(WAIT_NS) + 1);
    }

    /** Else a sender that is stopped then, or that the woken thread takes the processor from, is inside its memory. */
    @Test
    void shouldBeWokenOnlyOnceTheSenderHasLeftItsMemory()
    {
        final WorkCompletions completions = new WorkCompletions(1);
        final AtomicInteger wakeUps = new AtomicInteger();
        final AtomicInteger inside = new AtomicInteger();
        ((SoftQueuePair)peer.queuePair).beforeWake(() ->
        {
            wakeUps.incrementAndGet();
            inside.addAndGet(AccessMark.isAnyInside(
                ((SoftDevice)device).host().file(), device.address().gidLow()) ? 1 : 0);
        });
        for (int i = 0; i < WATCHED; i++)
        {
            queuePair.postReceive(i, 0, 0, 0);
            queue.requestNotification(false);
            final Thread sender = Thread.ofPlatform().start(() ->
            {
                LockSupport.parkNanos(PAUSE_NS);
                peer.queuePair.begin();
                peer.queuePair.send(1, 0, 0, 0, 0);
                peer.queuePair.complete();
            });
            assertThat(channel.await(TimeUnit.SECONDS.toNanos(30))).isSameAs(queue);
            assertThat(queue.poll(completions)).isEqualTo(1);
            join(sender);
            if (i % 8 == 7)
            {
                free(completions);
            }
        }
        assertThat(wakeUps.get()).as("of %s messages", WATCHED).isBetween(1, WATCHED);
        assertThat(inside.get()).isZero();
    }

    @Test
    void shouldSleepThroughNoMessage()
    {
        final WorkCompletions completions = new WorkCompletions(1);
        for (int i = 0; i < 1_000; i++)
        {
            queuePair.postReceive(i, 0, 0, 0);
            queue.requestNotification(false);
            final Thread sender = Thread.ofPlatform().start(() ->
            {
                peer.queuePair.begin();
                peer.queuePair.send(1, 0, 0, 0, 0);
                peer.queuePair.complete();
            });
            assertThat(channel.await(TimeUnit.SECONDS.toNanos(30))).isSameAs(queue);
            assertThat(queue.poll(completions)).isEqualTo(1);
            assertThat(completions.wrId(0)).isEqualTo(i);
            join(sender);
            if (i % 8 == 7)
            {
                free(completions);
            }
        }
    }

    /** A wait that missed one would last an hour. */
    @Test
    void shouldBeWokenByOwnSendOfAnotherThread()
    {
        final WorkCompletions completions = new WorkCompletions(1);
        for (int i = 0; i < 1_000; i++)
        {
            queue.requestNotification(false);
            final Thread sender = Thread.ofPlatform().start(this::write);
            assertThat(channel.await(TimeUnit.HOURS.toNanos(1))).isSameAs(queue);
            join(sender);
            assertThat(queue.poll(completions)).isEqualTo(1);
        }
    }

    /** Each wake-up would be a system call, and a thread that has nothing to do. */
    @Test
    void shouldNotWakeWhoWatchesByOwnSend()
    {
        final WorkCompletions completions = new WorkCompletions(1);
        final AtomicInteger wakeUps = new AtomicInteger();
        final AtomicBoolean isOver = new AtomicBoolean();
        final Thread watcher = Thread.ofPlatform().start(() ->
        {
            while (!isOver.get())
            {
                channel.watch(channel.signals(), TimeUnit.HOURS.toNanos(1));
                wakeUps.incrementAndGet();
            }
        });
        for (int i = 0; i < WATCHED; i++)
        {
            LockSupport.parkNanos(PAUSE_NS);
            queue.requestNotification(false);
            final int seen = channel.signals();
            write();
            assertThat(channel.signals()).isNotEqualTo(seen);
            assertThat(channel.await(0)).isSameAs(queue);
            assertThat(queue.poll(completions)).isEqualTo(1);
        }
        assertThat(wakeUps.get()).isLessThan(WATCHED / 10);
        isOver.set(true);
        channel.wake();
        join(watcher);
    }

    private void write()
    {
        queuePair.begin();
        queuePair.write(1, SendFlags.SIGNALED, 0, 0, 0, 0, 0);
        queuePair.complete();
    }

    /** Without the event the wait would last an hour, and the test too long. */
    @Test
    void shouldBeWokenByRequestOfConnection()
    {
        try (ConnectionListener listener = device.listen(7, channel);
            Endpoint caller = new Endpoint(device))
        {
            final Thread connecting = Thread.ofPlatform().start(() ->
                device.connect(caller.queuePair, device.address(), 7, new byte[0], WAIT_NS));
            assertThat(channel.await(TimeUnit.HOURS.toNanos(1))).as("no completion queue").isNull();
            final ConnectionRequest request = listener.poll();
            assertThat(request).isNotNull();
            join(connecting);
            request.reject(new byte[0]);
            assertThat(channel.await(0)).isNull();
        }
    }

    @Test
    void shouldNotCloseChannelUnderItsListener()
    {
        try (ConnectionListener listener = device.listen(7, channel))
        {
            assertThatThrownBy(channel::close).isInstanceOf(RdmaException.class)
                .hasMessageContaining("close its completion queues and listeners first, open=2");
            assertThat(listener.poll()).isNull();
        }
    }

    @Test
    void shouldLeaveNothingOfListenerOnClosedChannel()
    {
        final CompletionChannel closed = device.createCompletionChannel();
        closed.close();
        assertThatThrownBy(() -> device.listen(7, closed))
            .isInstanceOf(RdmaException.class).hasMessageContaining("completion channel is closed");
        device.listen(7).close();
    }

    private void free(final WorkCompletions completions)
    {
        peer.queuePair.begin();
        peer.queuePair.write(1, SendFlags.SIGNALED, 0, 0, 0, 0, 0);
        peer.queuePair.complete();
        SoftConnections.awaitSuccess(peer, completions);
    }

    private static void join(final Thread thread)
    {
        try
        {
            thread.join();
        }
        catch (final InterruptedException ex)
        {
            throw new AssertionError("interrupted", ex);
        }
    }
}
