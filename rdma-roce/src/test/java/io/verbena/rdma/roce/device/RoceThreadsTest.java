package io.verbena.rdma.roce.device;

import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.CompletionChannel;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletions;
import io.verbena.test.UnusedPorts;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.net.BindException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.IntConsumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** A device whose peers are answered by three threads, and one with the usual one that asks it. */
class RoceThreadsTest
{
    private static final int THREADS = 3;
    private static final int CONNECTIONS = 6;
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(60);
    private static final QueuePairCapabilities CAPABILITIES = new QueuePairCapabilities(16, 16, 64, 4);

    @TempDir
    private Path directory;
    private Fabric fabric;
    private Fabric threaded;
    private Device a;
    private Device b;
    private ProtectionDomain domainA;
    private ProtectionDomain domainB;
    private final List<RocePair> pairs = new ArrayList<>();

    @BeforeEach
    void open()
    {
        fabric = Fabrics.open("roce:::1,memory=" + directory);
        threaded = Fabrics.open("roce:::1,threads=" + THREADS + ",memory=" + directory);
        a = fabric.openDevice("a");
        b = threaded.openDevice("b");
        domainA = a.allocateProtectionDomain();
        domainB = b.allocateProtectionDomain();
    }

    @AfterEach
    void close()
    {
        pairs.forEach(RocePair::close);
        domainA.close();
        domainB.close();
        a.close();
        b.close();
        fabric.close();
        threaded.close();
    }

    private void connect(final int count)
    {
        for (int i = 0; i < count; i++)
        {
            pairs.add(new RocePair(a, domainA, b, domainB));
        }
    }

    private static void await(final String what, final BooleanSupplier condition)
    {
        final long endNs = System.nanoTime() + PATIENCE_NS;
        while (!condition.getAsBoolean())
        {
            assertThat(System.nanoTime() - endNs).as(what).isNegative();
            Thread.onSpinWait();
        }
    }

    /** Runs one thread a connection. */
    private void onEach(final IntConsumer work)
    {
        final AtomicReference<Throwable> failure = new AtomicReference<>();
        final List<Thread> threads = IntStream.range(0, pairs.size()).mapToObj((i) -> Thread.ofPlatform().start(() ->
        {
            try
            {
                work.accept(i);
            }
            catch (final Throwable ex)
            {
                failure.set(ex);
            }
        })).toList();
        for (final Thread thread : threads)
        {
            try
            {
                assertThat(thread.join(Duration.ofNanos(PATIENCE_NS))).isTrue();
            }
            catch (final InterruptedException ex)
            {
                throw new AssertionError(ex);
            }
        }
        assertThat(failure.get()).isNull();
    }

    @Test
    void shouldSpreadQueuePairsOverThreadsAndTheirPorts()
    {
        connect(CONNECTIONS);
        final Set<Integer> ports = pairs.stream().map(RocePair::destinationPort).collect(Collectors.toSet());
        assertThat(ports).hasSize(THREADS).contains((int)b.address().serviceLocator() & 0xFFFF);
        for (int i = 0; i < THREADS; i++)
        {
            assertThat(pairs.get(i).destinationPort()).isEqualTo(pairs.get(i + THREADS).destinationPort());
        }
        final Set<String> names = Thread.getAllStackTraces().keySet().stream().map(Thread::getName)
            .filter((name) -> name.startsWith("roce-progress-b")).collect(Collectors.toSet());
        assertThat(names).containsExactlyInAnyOrder("roce-progress-b", "roce-progress-b-1", "roce-progress-b-2");
    }

    @Test
    void shouldAddEachOperandOnceWhicheverThreadAnswers()
    {
        final int adds = 200;
        connect(CONNECTIONS);
        try (MemoryRegion word = domainB.allocateRegistered(64, AccessFlags.ALL_REMOTE);
            MemoryRegion results = domainA.allocateRegistered(CONNECTIONS * adds * 8L, AccessFlags.ALL_REMOTE))
        {
            onEach((i) ->
            {
                for (int n = 0; n < adds; n++)
                {
                    assertThat(pairs.get(i).fetchAdd(results, (i * adds + n) * 8L, word, 1)).isZero();
                }
            });
            assertThat(word.segment().get(JAVA_LONG, 0)).isEqualTo(CONNECTIONS * adds);
            final Set<Long> originals = new HashSet<>();
            for (int i = 0; i < CONNECTIONS * adds; i++)
            {
                originals.add(results.segment().get(JAVA_LONG, i * 8L));
            }
            assertThat(originals).hasSize(CONNECTIONS * adds).doesNotContain(-1L, (long)CONNECTIONS * adds);
        }
    }

    /** Who has seen a value never sees an earlier one of the same queue pair. */
    @Test
    void shouldKeepTheOrderOfEachQueuePair()
    {
        connect(CONNECTIONS);
        try (MemoryRegion words = domainB.allocateRegistered(CONNECTIONS * 8L, AccessFlags.ALL_REMOTE);
            MemoryRegion sources = domainA.allocateRegistered(CONNECTIONS * 8L, AccessFlags.ALL_REMOTE))
        {
            final VarHandle word = JAVA_LONG.varHandle();
            onEach((i) ->
            {
                long seen = 0;
                for (int n = 1; n <= 300; n++)
                {
                    word.setVolatile(sources.segment(), i * 8L, (long)n);
                    assertThat(pairs.get(i).writeWord(sources, words, i * 8L)).isZero();
                    final long now = (long)word.getVolatile(words.segment(), i * 8L);
                    assertThat(now).isGreaterThanOrEqualTo(seen).isEqualTo(n);
                    seen = now;
                }
            });
        }
    }

    @Test
    void shouldLetNothingLandByAnyThreadOnceARegionIsClosed() throws InterruptedException
    {
        connect(CONNECTIONS);
        try (Arena arena = Arena.ofShared();
            MemoryRegion source = domainA.allocateRegistered(64, AccessFlags.ALL_REMOTE))
        {
            source.segment().fill((byte)7);
            final MemorySegment memory = arena.allocate(4096, 4096);
            final MemoryRegion region = domainB.register(memory, AccessFlags.ALL_REMOTE);
            final CountDownLatch begun = new CountDownLatch(CONNECTIONS);
            final Thread closer = Thread.ofPlatform().start(() ->
            {
                try
                {
                    begun.await(PATIENCE_NS, TimeUnit.NANOSECONDS);
                }
                catch (final InterruptedException ex)
                {
                    return;
                }
                region.close();
                memory.fill((byte)0);
            });
            onEach((i) ->
            {
                int status = 0;
                for (int n = 0; status == 0; n++)
                {
                    status = pairs.get(i).write(source, region, SendFlags.SIGNALED);
                    if (n == 3)
                    {
                        begun.countDown();
                    }
                }
            });
            closer.join(TimeUnit.NANOSECONDS.toMillis(PATIENCE_NS));
            assertThat(closer.isAlive()).isFalse();
            assertThat(memory.get(JAVA_LONG, 0)).isZero();
        }
    }

    @Test
    void shouldRaiseAndPollCompletionsOfAllThreadsByOneQueueAndChannel()
    {
        final CompletionChannel channel = b.createCompletionChannel();
        final CompletionQueue queue = b.createCompletionQueue(64, channel);
        final List<QueuePair> receivers = new ArrayList<>();
        final List<RocePair.Requester> senders = new ArrayList<>();
        try (MemoryRegion region = domainB.allocateRegistered(64, AccessFlags.ALL_REMOTE);
            MemoryRegion source = domainA.allocateRegistered(64, AccessFlags.ALL_REMOTE))
        {
            accept(queue, receivers, senders);
            for (int round = 0; round < 20; round++)
            {
                for (int i = 0; i < CONNECTIONS; i++)
                {
                    assertThat(receivers.get(i).postReceive(i, region.address(), 8, region.localKey())).isZero();
                }
                final int last = round;
                final Thread sending = Thread.ofPlatform().start(() -> senders.forEach((sender) ->
                {
                    send(sender.queuePair, source, last);
                    await("sent", sender::hasCompleted);
                }));
                assertThat(receiveAll(channel, queue)).hasSize(CONNECTIONS);
                join(sending);
            }
            assertThatThrownBy(queue::close).isInstanceOf(RdmaException.class).hasMessageContaining("in use");
            assertThat(receivers.getLast().postReceive(1, region.address(), 8, region.localKey())).isZero();
            receivers.subList(0, CONNECTIONS - 1).forEach(QueuePair::close);
            assertThatThrownBy(queue::close).isInstanceOf(RdmaException.class).hasMessageContaining("in use");
            send(senders.getLast().queuePair, source, 20);
            await("message", () -> queue.poll(new WorkCompletions(4)) > 0);
        }
        senders.forEach(RocePair.Requester::close);
        receivers.forEach(QueuePair::close);
        queue.close();
        channel.close();
    }

    private static void join(final Thread thread)
    {
        try
        {
            assertThat(thread.join(Duration.ofNanos(PATIENCE_NS))).isTrue();
        }
        catch (final InterruptedException ex)
        {
            throw new AssertionError(ex);
        }
    }

    private static Set<Long> receiveAll(final CompletionChannel channel, final CompletionQueue queue)
    {
        final WorkCompletions batch = new WorkCompletions(4);
        final Set<Long> received = new HashSet<>();
        await("messages", () ->
        {
            queue.requestNotification(false);
            int count = queue.poll(batch);
            if (count == 0)
            {
                channel.await(TimeUnit.MILLISECONDS.toNanos(500));
                count = queue.poll(batch);
            }
            for (int i = 0; i < count; i++)
            {
                assertThat(batch.status(i)).isZero();
                received.add(batch.wrId(i));
            }
            return received.size() == CONNECTIONS;
        });
        return received;
    }

    private static void send(final QueuePair queuePair, final MemoryRegion source, final int round)
    {
        queuePair.begin();
        queuePair.send(round, SendFlags.SIGNALED, source.address(), 8, source.localKey());
        assertThat(queuePair.complete()).isZero();
    }

    private void accept(
        final CompletionQueue queue, final List<QueuePair> receivers, final List<RocePair.Requester> senders)
    {
        try (ConnectionListener listener = b.listen(77))
        {
            for (int i = 0; i < CONNECTIONS; i++)
            {
                final QueuePair receiver = domainB.createQueuePair(queue, queue, CAPABILITIES);
                final RocePair.Requester sender = new RocePair.Requester(a, domainA);
                receivers.add(receiver);
                senders.add(sender);
                final var attempt = sender.connect(b.address(), 77);
                final ConnectionRequest[] request = new ConnectionRequest[1];
                await("request", () -> null != (request[0] = listener.poll()));
                request[0].accept(receiver, AccessFlags.ALL_REMOTE, new byte[0]);
                await("connection", () -> !attempt.poll().name().equals("PENDING"));
                assertThat(attempt.poll().name()).isEqualTo("ESTABLISHED");
            }
        }
    }

    @Test
    void shouldFailQueuePairsOfAllThreadsWhenTheirQueueOverruns()
    {
        final CompletionQueue queue = b.createCompletionQueue(2);
        final List<QueuePair> receivers = new ArrayList<>();
        final List<RocePair.Requester> senders = new ArrayList<>();
        try (MemoryRegion region = domainB.allocateRegistered(64, AccessFlags.ALL_REMOTE);
            MemoryRegion source = domainA.allocateRegistered(64, AccessFlags.ALL_REMOTE))
        {
            accept(queue, receivers, senders);
            for (int i = 0; i < 4; i++)
            {
                assertThat(receivers.get(1).postReceive(i, region.address(), 8, region.localKey())).isZero();
                send(senders.get(1).queuePair, source, i);
            }
            // Nobody polls before: who takes each completion as it comes has no overrun. Its thread needs no poll.
            await("ERR of the one that received", () -> QueuePairState.ERR == receivers.get(1).state());
            await("overrun", () ->
            {
                try
                {
                    queue.poll(new WorkCompletions(1));
                    return false;
                }
                catch (final RdmaException overrun)
                {
                    return overrun.getMessage().contains("overrun");
                }
            });
            receivers.forEach((receiver) -> await("ERR", () -> QueuePairState.ERR == receiver.state()));
            await("event", () ->
            {
                final var event = b.pollAsyncEvent();
                return event != null && event.source() == queue;
            });
        }
        senders.forEach(RocePair.Requester::close);
        receivers.forEach(QueuePair::close);
        queue.close();
    }

    @Test
    void shouldGiveNoNumberTwice()
    {
        final CompletionQueue queue = b.createCompletionQueue(64);
        final List<QueuePair> all = new ArrayList<>();
        final Set<Integer> numbers = new HashSet<>();
        for (int i = 0; i < 600; i++)
        {
            final QueuePair queuePair = domainB.createQueuePair(queue, queue, CAPABILITIES);
            all.add(queuePair);
            assertThat(numbers.add(queuePair.number())).isTrue();
            assertThat(queuePair.number() % THREADS).isEqualTo(i % THREADS);
        }
        all.forEach(QueuePair::close);
        queue.close();
    }

    private static void release(final DatagramSocket socket)
    {
        socket.close();
    }

    @Test
    void shouldTakeThePortsAfterTheGivenOne() throws IOException
    {
        final InetAddress host = InetAddress.ofLiteral("::1");
        try (DatagramSocket second = new DatagramSocket(UnusedPorts.next(), host))
        {
            final int first = second.getLocalPort() - 1;
            try (Fabric named = Fabrics.open("roce:[::1]:" + first + ",threads=2,memory=" + directory))
            {
                assertThatThrownBy(() -> named.openDevice("c")).isInstanceOf(RdmaException.class)
                    .hasMessageContaining("" + second.getLocalPort()).hasMessageNotContaining("\n");
                release(second);
                try (Device c = named.openDevice("c"))
                {
                    assertThat((int)c.address().serviceLocator() & 0xFFFF).isEqualTo(first);
                    assertThatThrownBy(() -> new DatagramSocket(first + 1, host))
                        .isInstanceOf(BindException.class);
                }
                new DatagramSocket(first + 1, host).close();
            }
        }
    }
}
