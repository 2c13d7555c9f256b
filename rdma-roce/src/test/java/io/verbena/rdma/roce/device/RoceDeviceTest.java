package io.verbena.rdma.roce.device;

import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.CompletionChannel;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.QueuePairOptions;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.UnsupportedVerbException;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.test.UnusedPorts;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Devices on the loopback interface: ports, threads, lifetimes, memory. */
class RoceDeviceTest
{
    @TempDir
    private Path directory;
    private Fabric fabric;

    @BeforeEach
    void open()
    {
        fabric = Fabrics.open("roce:::1,memory=" + directory);
    }

    @AfterEach
    void close()
    {
        fabric.close();
    }

    @Test
    void shouldGiveEachDevicePortsOfItsOwnAndTheFirstTheOneAskedFor() throws IOException
    {
        final int free = UnusedPorts.next();
        try (Fabric named = Fabrics.open("roce:[::1]:" + free + ",memory=" + directory);
            Device first = named.openDevice("first");
            Device second = named.openDevice("second"))
        {
            assertThat(first.address().serviceLocator() & 0xFFFF).isEqualTo(free);
            assertThat(second.address().serviceLocator() & 0xFFFF).isNotEqualTo(free);
            assertThat(first.port().pathMtuBytes()).isEqualTo(4096);
            assertThat(named.deviceNames()).containsExactly("first", "second");
        }
    }

    @Test
    void shouldSayInOneLineThatPortIsInUse() throws IOException
    {
        final InetAddress host = InetAddress.ofLiteral("::1");
        try (ServerSocket socket = new ServerSocket(0, 1, host))
        {
            assertInUse(socket.getLocalPort());
        }
        try (DatagramSocket socket = new DatagramSocket(0, host))
        {
            assertInUse(socket.getLocalPort());
        }
    }

    private void assertInUse(final int port)
    {
        try (Fabric named = Fabrics.open("roce:[::1]:" + port + ",memory=" + directory))
        {
            assertThatThrownBy(() -> named.openDevice("first")).isInstanceOf(RdmaException.class)
                .hasMessageContaining("" + port).hasMessageContaining("in use").hasMessageNotContaining("\n");
            // Nothing is left over.
            try (Device second = Fabrics.open("roce:::1,memory=" + directory).openDevice("second"))
            {
                assertThat(second.name()).isEqualTo("second");
            }
        }
    }

    @Test
    void shouldKeepNamedMemoryAndCutOffPeersOfTheHolderBefore()
    {
        final MemoryRegion local;
        try (Device device = fabric.openDevice("reader"); ProtectionDomain domain = device.allocateProtectionDomain())
        {
            local = domain.allocateRegistered(64, AccessFlags.ALL_REMOTE);
            final Fabric first = Fabrics.open("roce:::1,memory=" + directory);
            final Device holder = first.openDevice("holder");
            final ProtectionDomain holderDomain = holder.allocateProtectionDomain();
            final MemoryRegion region = holderDomain.allocateNamed("store-1", 4096, AccessFlags.ALL_REMOTE);
            assertThat(first.hasNamed("store-1")).isTrue();
            assertThatThrownBy(() -> holderDomain.allocateNamed("store-1", 4096, AccessFlags.ALL_REMOTE))
                .isInstanceOf(RdmaException.class).hasMessageContaining("held by this process");
            try (RocePair pair = new RocePair(device, domain, holder, holderDomain))
            {
                local.segment().set(JAVA_LONG, 0, 42);
                assertThat(pair.write(local, region, SendFlags.SIGNALED)).isZero();
                region.close();
                assertThat(pair.write(local, region, SendFlags.SIGNALED))
                    .isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
            }
            holderDomain.close();
            holder.close();
            first.close();

            try (Fabric second = Fabrics.open("roce:::1,memory=" + directory);
                Device again = second.openDevice("holder");
                ProtectionDomain againDomain = again.allocateProtectionDomain())
            {
                assertThat(second.hasNamed("store-1")).isTrue();
                try (MemoryRegion adopted = againDomain.allocateNamed("store-1", 4096, AccessFlags.ALL_REMOTE))
                {
                    assertThat(adopted.segment().get(JAVA_LONG, 0)).isEqualTo(42);
                    assertThatThrownBy(() -> second.discardNamed("store-1")).isInstanceOf(RdmaException.class);
                }
                assertThat(second.discardNamed("store-1")).isTrue();
                assertThat(second.hasNamed("store-1")).isFalse();
                assertThat(second.discardNamed("store-1")).isFalse();
            }
            local.close();
        }
    }

    /** Fences: what the store relies on when it gives memory to others. */
    @Test
    void shouldLetNothingLandAfterQueuePairOrRegionWasClosed() throws InterruptedException
    {
        try (Device a = fabric.openDevice("a"); Device b = fabric.openDevice("b");
            ProtectionDomain domainA = a.allocateProtectionDomain();
            ProtectionDomain domainB = b.allocateProtectionDomain();
            MemoryRegion source = domainA.allocateRegistered(1 << 16, AccessFlags.ALL_REMOTE))
        {
            for (int round = 0; round < 20; round++)
            {
                final boolean closesRegion = round % 2 == 0;
                final MemoryRegion target = domainB.allocateRegistered(1 << 16, AccessFlags.ALL_REMOTE);
                // Another region over the same bytes: they stay mapped when the first is closed.
                final MemoryRegion witness = domainB.register(target.segment(), AccessFlags.LOCAL_WRITE);
                final RocePair pair = new RocePair(a, domainA, b, domainB);
                final Thread writer = new Thread(() ->
                {
                    for (long i = 1; pair.write(source, target, SendFlags.SIGNALED) == 0; i++)
                    {
                        source.segment().set(JAVA_LONG, 0, i);
                    }
                });
                writer.start();
                TimeUnit.MILLISECONDS.sleep(5);
                if (closesRegion)
                {
                    target.close();
                }
                else
                {
                    pair.closeResponder();
                }
                final long found = witness.segment().get(JAVA_LONG, 0);
                TimeUnit.MILLISECONDS.sleep(10);
                assertThat(witness.segment().get(JAVA_LONG, 0)).isEqualTo(found);
                if (!closesRegion)
                {
                    pair.failRequester();
                }
                writer.join(TimeUnit.SECONDS.toMillis(20));
                assertThat(writer.isAlive()).isFalse();
                pair.close();
                target.close();
                witness.close();
            }
        }
    }

    @Test
    void shouldAnswerPeersWhileNobodyPollsOrWaits()
    {
        try (Device a = fabric.openDevice("a"); Device b = fabric.openDevice("b");
            ProtectionDomain domainA = a.allocateProtectionDomain();
            ProtectionDomain domainB = b.allocateProtectionDomain();
            MemoryRegion source = domainA.allocateRegistered(64, AccessFlags.ALL_REMOTE);
            MemoryRegion target = domainB.allocateRegistered(64, AccessFlags.ALL_REMOTE);
            RocePair pair = new RocePair(a, domainA, b, domainB))
        {
            for (int i = 0; i < 50; i++)
            {
                source.segment().set(JAVA_LONG, 0, i);
                assertThat(pair.write(source, target, SendFlags.SIGNALED)).isZero();
                assertThat(target.segment().get(JAVA_LONG, 0)).isEqualTo(i);
            }
            assertThat(a.networkCounters().sent()).isGreaterThanOrEqualTo(50);
            assertThat(a.networkCounters().received()).isGreaterThanOrEqualTo(50);
            assertThat(b.networkCounters().received()).isGreaterThanOrEqualTo(50);
            assertThat(b.networkCounters().unsendable() + b.networkCounters().invalid()).isZero();
        }
    }

    @Test
    void shouldCountWhatIsSentAgainAndWhatIsForNobody()
    {
        try (Device a = fabric.openDevice("a"); Device b = fabric.openDevice("b");
            ProtectionDomain domainA = a.allocateProtectionDomain();
            ProtectionDomain domainB = b.allocateProtectionDomain();
            MemoryRegion source = domainA.allocateRegistered(64, AccessFlags.ALL_REMOTE);
            MemoryRegion target = domainB.allocateRegistered(64, AccessFlags.ALL_REMOTE);
            RocePair pair = new RocePair(a, domainA, b, domainB))
        {
            pair.closeResponder();
            assertThat(pair.write(source, target, SendFlags.SIGNALED)).isNotZero();
            assertThat(a.networkCounters().resent()).isPositive();
            assertThat(a.networkCounters().timeouts()).isPositive();
            assertThat(b.networkCounters().resent() + b.networkCounters().timeouts()).isZero();
            assertThat(b.networkCounters().invalid()).isPositive();
            assertThat(a.networkCounters().invalid()).isZero();
        }
    }

    /** Doorbells in a row are sent together by a poll; here none comes, and the progress thread sleeps. */
    @Test
    void shouldSendWhatWasPostedByWhoPollsNoMore() throws InterruptedException
    {
        try (Device a = fabric.openDevice("a"); Device b = fabric.openDevice("b");
            ProtectionDomain domainA = a.allocateProtectionDomain();
            ProtectionDomain domainB = b.allocateProtectionDomain();
            MemoryRegion source = domainA.allocateRegistered(64, AccessFlags.ALL_REMOTE);
            MemoryRegion target = domainB.allocateRegistered(64, AccessFlags.ALL_REMOTE);
            RocePair pair = new RocePair(a, domainA, b, domainB))
        {
            long tookNs = 0;
            for (int i = 1; i <= 10; i++)
            {
                TimeUnit.MILLISECONDS.sleep(5);
                source.segment().set(JAVA_LONG, 0, i);
                final long startNs = System.nanoTime();
                pair.postAfterPoll(source, target, 3);
                while (target.segment().get(JAVA_LONG, 16) != i && System.nanoTime() - startNs < 10_000_000_000L)
                {
                    TimeUnit.MICROSECONDS.sleep(100);
                }
                tookNs += System.nanoTime() - startNs;
                assertThat(target.segment().get(JAVA_LONG, 16)).isEqualTo(i);
                pair.takeAll(3);
            }
            // Without the progress thread it would be its next look, up to a second later, each time; a machine that is
            // busy delays some of them only.
            assertThat(tookNs).isLessThan(TimeUnit.MILLISECONDS.toNanos(2_500));
        }
    }

    /** Who answers and closes at once has answered, whichever doorbells were left to the next poll. */
    @Test
    void shouldSendWhatWasPostedBeforeClose() throws InterruptedException
    {
        final int count = 8;
        try (Device a = fabric.openDevice("a"); Device b = fabric.openDevice("b");
            ProtectionDomain domainA = a.allocateProtectionDomain();
            ProtectionDomain domainB = b.allocateProtectionDomain();
            MemoryRegion source = domainA.allocateRegistered(64, AccessFlags.ALL_REMOTE);
            MemoryRegion target = domainB.allocateRegistered(64, AccessFlags.ALL_REMOTE))
        {
            for (int i = 1; i <= 10; i++)
            {
                try (RocePair pair = new RocePair(a, domainA, b, domainB))
                {
                    source.segment().set(JAVA_LONG, 0, i);
                    pair.postAfterPoll(source, target, count);
                    pair.closeRequester();
                    final long startNs = System.nanoTime();
                    while (target.segment().get(JAVA_LONG, (count - 1) * 8) != i &&
                        System.nanoTime() - startNs < 1_000_000_000)
                    {
                        TimeUnit.MICROSECONDS.sleep(100);
                    }
                    assertThat(target.segment().get(JAVA_LONG, (count - 1) * 8)).as("round %d", i).isEqualTo(i);
                }
            }
        }
    }

    @Test
    void shouldWakeThreadsThatWaitForCompletionsOfSeveralChannels() throws InterruptedException
    {
        try (Device a = fabric.openDevice("a"); Device b = fabric.openDevice("b");
            ProtectionDomain domainA = a.allocateProtectionDomain();
            ProtectionDomain domainB = b.allocateProtectionDomain();
            MemoryRegion source = domainA.allocateRegistered(64, AccessFlags.ALL_REMOTE);
            MemoryRegion target = domainB.allocateRegistered(64, AccessFlags.ALL_REMOTE))
        {
            final int count = 3;
            final List<RocePair> pairs = new ArrayList<>();
            final List<Thread> waiters = new ArrayList<>();
            final AtomicReference<Throwable> failure = new AtomicReference<>();
            for (int i = 0; i < count; i++)
            {
                final RocePair pair = new RocePair(a, domainA, b, domainB);
                pairs.add(pair);
                waiters.add(Thread.ofPlatform().uncaughtExceptionHandler((_, ex) -> failure.set(ex))
                    .start(() -> pair.echoByWaiting(target, 200)));
            }
            for (int i = 0; i < count; i++)
            {
                final RocePair pair = pairs.get(i);
                waiters.add(Thread.ofPlatform().uncaughtExceptionHandler((_, ex) -> failure.set(ex))
                    .start(() -> pair.pingByWaiting(source, 200)));
            }
            for (final Thread waiter : waiters)
            {
                waiter.join(TimeUnit.SECONDS.toMillis(30));
                assertThat(waiter.isAlive()).isFalse();
            }
            assertThat(failure.get()).isNull();
            pairs.forEach(RocePair::close);
        }
    }

    @Test
    void shouldEndWaitForConnectionRequestWakeInterruptAndClose() throws InterruptedException
    {
        try (Device a = fabric.openDevice("a"); Device b = fabric.openDevice("b");
            ProtectionDomain domainA = a.allocateProtectionDomain())
        {
            final CompletionChannel channel = b.createCompletionChannel();
            final ConnectionListener listener = b.listen(7, channel);
            assertThat(b.wakesForConnections()).isTrue();
            assertThatThrownBy(channel::close).isInstanceOf(RdmaException.class);
            assertThatThrownBy(b::close).isInstanceOf(RdmaException.class).hasMessageContaining("open=2");
            final AtomicReference<CompletionQueue> result = new AtomicReference<>();
            final Thread waiter = Thread.ofPlatform().start(
                () -> result.set(channel.await(TimeUnit.SECONDS.toNanos(30))));
            try (RocePair.Requester requester = new RocePair.Requester(a, domainA))
            {
                requester.connect(b.address(), 7);
                assertEnds(waiter);
                assertThat(result.get()).isNull();
                assertThat(listener.poll()).isNotNull();
            }
            final Thread woken = Thread.ofPlatform().start(() -> channel.await(TimeUnit.SECONDS.toNanos(30)));
            TimeUnit.MILLISECONDS.sleep(20);
            channel.wake();
            assertEnds(woken);
            channel.wake();
            final Thread wokenBefore = Thread.ofPlatform().start(() -> channel.await(TimeUnit.SECONDS.toNanos(30)));
            assertEnds(wokenBefore);
            assertThat(b.pollsBySystemCall()).isTrue();
            final Thread interrupted = Thread.ofPlatform().start(() -> channel.await(TimeUnit.SECONDS.toNanos(30)));
            interrupted.interrupt();
            assertEnds(interrupted);
            listener.close();
            final Thread last = Thread.ofPlatform().start(() ->
            {
                try
                {
                    channel.await(TimeUnit.SECONDS.toNanos(30));
                }
                catch (final RdmaException ex)
                {
                    assertThat(ex).hasMessageContaining("closed");
                }
            });
            TimeUnit.MILLISECONDS.sleep(20);
            channel.close();
            channel.close();
            assertEnds(last);
        }
    }

    private static void assertEnds(final Thread thread) throws InterruptedException
    {
        thread.join(TimeUnit.SECONDS.toMillis(10));
        assertThat(thread.isAlive()).isFalse();
    }

    @Test
    void shouldMakeUseAndCloseQueuePairsFromManyThreadsAtOnce() throws InterruptedException
    {
        try (Device a = fabric.openDevice("a"); Device b = fabric.openDevice("b"))
        {
            final List<Thread> threads = new ArrayList<>();
            final AtomicReference<Throwable> failure = new AtomicReference<>();
            for (int i = 0; i < 4; i++)
            {
                final int servicePort = 10 + i;
                threads.add(Thread.ofPlatform().uncaughtExceptionHandler((_, ex) -> failure.set(ex)).start(() ->
                {
                    for (int round = 0; round < 10; round++)
                    {
                        oneLife(a, b, servicePort);
                    }
                }));
            }
            for (final Thread thread : threads)
            {
                thread.join(TimeUnit.SECONDS.toMillis(60));
                assertThat(thread.isAlive()).isFalse();
            }
            assertThat(failure.get()).isNull();
        }
    }

    private static void oneLife(final Device a, final Device b, final int servicePort)
    {
        try (ProtectionDomain domainA = a.allocateProtectionDomain();
            ProtectionDomain domainB = b.allocateProtectionDomain();
            MemoryRegion source = domainA.allocateRegistered(64, AccessFlags.ALL_REMOTE);
            MemoryRegion target = domainB.allocateRegistered(64, AccessFlags.ALL_REMOTE);
            RocePair pair = new RocePair(a, domainA, b, domainB, servicePort))
        {
            for (int i = 0; i < 20; i++)
            {
                source.segment().set(JAVA_LONG, 0, i);
                assertThat(pair.write(source, target, SendFlags.SIGNALED)).isZero();
                assertThat(target.segment().get(JAVA_LONG, 0)).isEqualTo(i);
            }
        }
    }

    /** RNICs and Soft-RoCE do not know the opcodes; only a device of this provider names its UDP port twice. */
    @Test
    void shouldSendDcToDevicesOfThisProviderOnly()
    {
        try (Device device = fabric.openDevice("initiator");
            ProtectionDomain domain = device.allocateProtectionDomain();
            CompletionQueue completions = device.createCompletionQueue(16);
            QueuePair initiator = domain.createQueuePair(
                new QueuePairOptions().type(QueuePairType.DC_INITIATOR).completions(completions, completions)
                    .capabilities(new QueuePairCapabilities(16, 0, 0, 4)));
            AddressHandle own = domain.createAddressHandle(device.address());
            AddressHandle foreign = domain.createAddressHandle(
                new DeviceAddress(device.address().gidHigh(), device.address().gidLow(), 4791)))
        {
            initiator.begin();
            initiator.write(1, SendFlags.SIGNALED, 0, 0, 0, 0, 0);
            assertThatThrownBy(() -> initiator.toDcTarget(foreign, 5, 6)).isInstanceOf(UnsupportedVerbException.class)
                .hasMessageContaining("connect an RC queue pair").hasMessageNotContaining("\n");
            initiator.toDcTarget(own, 5, 6);
            initiator.abort();
        }
    }

    @Test
    void shouldLeaveNoThreadAndNoDescriptorBehind() throws IOException, InterruptedException
    {
        fabric.openDevice("warm").close();
        final int descriptors = descriptors();
        for (int i = 0; i < 20; i++)
        {
            fabric.openDevice("brief").close();
        }
        assertThat(descriptors()).isLessThanOrEqualTo(descriptors);
        assertThat(Thread.getAllStackTraces().keySet()).noneMatch(
            thread -> thread.isAlive() && thread.getName().contains("-brief"));
    }

    private static int descriptors() throws IOException
    {
        final String[] list = Path.of("/proc/self/fd").toFile().list();
        assertThat(list).isNotNull();
        return list.length;
    }
}
