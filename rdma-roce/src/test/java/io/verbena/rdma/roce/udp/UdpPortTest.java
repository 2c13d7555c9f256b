package io.verbena.rdma.roce.udp;

import com.sun.management.ThreadMXBean;
import io.verbena.rdma.roce.wire.RocePacket;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.RdmaException;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Ports exchange packets over the loopback interface, and survive what else arrives. */
@Timeout(120)
class UdpPortTest
{
    private static final String IPV6 = "::1";
    private static final String IPV4 = "127.0.0.1";
    private static final int UDP_NO_CHECK6_TX = 101;
    private static final long WAIT_NS = TimeUnit.SECONDS.toNanos(10);
    private static final long SHORT_NS = TimeUnit.MILLISECONDS.toNanos(20);

    private final List<UdpPort> ports = new ArrayList<>();

    @AfterEach
    void close()
    {
        ports.forEach(UdpPort::close);
    }

    @ParameterizedTest
    @ValueSource(strings = {IPV6, IPV4})
    void shouldDeliverPacketsWithTheAddressesTheyTravelledUnder(final String address)
    {
        final UdpPort a = open(address);
        final UdpPort b = open(address);
        send(a, b.address(), 1, 64);
        a.flush();

        final List<Seen> seen = receive(b, 1);

        assertThat(seen).containsExactly(new Seen(1, 64, a.address(), b.address(), false));
        assertThat(a.address().serviceLocator()).isBetween(1L, 65_535L);
        assertThat(a.counters().sent).isEqualTo(1);
        assertThat(b.counters().received).isEqualTo(1);
    }

    /** Lengths rise, fall and repeat, so that runs end for each reason; 3,000 packets go around the ring often. */
    @ParameterizedTest
    @ValueSource(strings = {IPV6, IPV4})
    void shouldDeliverRunsOfAnyLengthsInOrder(final String address)
    {
        final int[] lengths = {16, 20, 20, 20, 16, 1044, 1044, 1044, 60, 64, 4160, 4160, 4160, 4160, 4160, 4160, 4160,
            4160, 4160, 4160, 4160, 4160, 4160, 4160, 4160, 4160, 4160, 300, 300, 300};
        final UdpPort a = open(address);
        final UdpPort b = open(address);
        final UdpPort c = open(address);
        final List<Seen> expectedB = new ArrayList<>();
        final List<Seen> expectedC = new ArrayList<>();
        final List<Seen> seenB = new ArrayList<>();
        final List<Seen> seenC = new ArrayList<>();
        for (int i = 0; i < 3_000; i++)
        {
            final boolean isForC = i % 7 == 6 || i / 100 % 2 == 1;
            final UdpPort target = isForC ? c : b;
            final int length = lengths[i % lengths.length];
            send(a, target.address(), i, length);
            (isForC ? expectedC : expectedB).add(new Seen(i, length, a.address(), target.address(), false));
            if (i % 61 == 60)
            {
                a.flush();
                seenB.addAll(receive(b, expectedB.size() - seenB.size()));
                seenC.addAll(receive(c, expectedC.size() - seenC.size()));
            }
        }
        a.flush();
        seenB.addAll(receive(b, expectedB.size() - seenB.size()));
        seenC.addAll(receive(c, expectedC.size() - seenC.size()));

        assertThat(seenB).isEqualTo(expectedB);
        assertThat(seenC).isEqualTo(expectedC);
        assertThat(a.counters().sent).isEqualTo(3_000);
    }

    /** As Soft-RoCE sends them, and RNICs. */
    @Test
    void shouldTakeIpv6PacketsWithoutUdpChecksum()
    {
        final UdpPort a = open(IPV6);
        final UdpPort b = open(IPV6);
        final UnsafeBuffer on = new UnsafeBuffer(BufferUtil.allocateDirectAligned(Integer.BYTES, Integer.BYTES));
        on.putInt(0, 1);
        assertThat(new SocketCalls().setsockopt(
            a.descriptor(), SocketConstants.SOL_UDP, UDP_NO_CHECK6_TX, on.addressOffset(), Integer.BYTES)).isZero();
        send(a, b.address(), 1, 64);
        a.flush();

        assertThat(receive(b, 1)).containsExactly(new Seen(1, 64, a.address(), b.address(), false));
    }

    @Test
    void shouldSendEqualPacketsAsOneMessage()
    {
        final UdpPort a = open(IPV6);
        final UdpPort b = open(IPV6);
        for (int i = 0; i < 64; i++)
        {
            send(a, b.address(), i, 84);
        }
        a.flush();

        assertThat(receive(b, 64)).hasSize(64);
        assertThat(a.counters().messages).isEqualTo(1);
    }

    @Test
    void shouldSendIpv4PacketsOneByOneAsARunWouldBeNumbered()
    {
        final UdpPort a = open(IPV4);
        final UdpPort b = open(IPV4);
        for (int i = 0; i < 64; i++)
        {
            send(a, b.address(), i, 84);
        }
        a.flush();

        assertThat(receive(b, 64)).hasSize(64);
        assertThat(a.counters().messages).isEqualTo(64);
        assertThat(a.counters().sendCalls).isEqualTo(1);
    }

    @Test
    void shouldFlushWhenAllPacketsAreLent()
    {
        final UdpPort a = open(IPV6);
        final UdpPort b = open(IPV6);
        for (int i = 0; i < 2 * UdpPortOptions.SEND_PACKETS + 1; i++)
        {
            send(a, b.address(), i, 32);
        }
        assertThat(a.hasUnsent()).isTrue();
        assertThat(receive(b, 2 * UdpPortOptions.SEND_PACKETS)).hasSize(2 * UdpPortOptions.SEND_PACKETS);
    }

    @Test
    void shouldDropWhatIsNoPacketAndGoOn() throws IOException
    {
        final UdpPort port = open(IPV6);
        try (DatagramSocket stranger = new DatagramSocket(0, InetAddress.getByName(IPV6)))
        {
            for (final int length : new int[] {0, 1, 15, 4_161, 20_000, 65_000})
            {
                stranger.send(new DatagramPacket(new byte[length], length, inet(port), portOf(port)));
            }
            stranger.send(new DatagramPacket(new byte[16], 16, inet(port), portOf(port)));
            final List<Seen> seen = receive(port, 1);
            assertThat(seen.getFirst().lengthBytes).isEqualTo(16);
            assertThat(seen.getFirst().source.serviceLocator()).isEqualTo(stranger.getLocalPort());
        }
        assertThat(port.counters().malformed).isEqualTo(6);
        assertThat(port.counters().received).isEqualTo(1);
    }

    @Test
    void shouldDropTheShortEndOfARun()
    {
        final UdpPort a = open(IPV6);
        final UdpPort b = open(IPV6);
        send(a, b.address(), 1, 40);
        send(a, b.address(), 2, 40);
        send(a, b.address(), 3, 8);
        a.flush();
        assertThat(receive(b, 2)).extracting(Seen::number).containsExactly(1, 2);
        assertThat(b.counters().malformed).isEqualTo(1);
    }

    @Test
    void shouldReportCongestionMarks() throws IOException
    {
        for (final String address : List.of(IPV6, IPV4))
        {
            final UdpPort port = open(address);
            try (DatagramSocket marking = new DatagramSocket(0, InetAddress.getByName(address)))
            {
                for (final int trafficClass : new int[] {0, 1, 2, 3, 0xFF, 0xFC})
                {
                    marking.setTrafficClass(trafficClass);
                    marking.send(new DatagramPacket(new byte[20], 20, inet(port), portOf(port)));
                }
            }
            assertThat(receive(port, 6)).extracting(Seen::isMarked)
                .containsExactly(false, false, false, true, true, false);
            assertThat(port.counters().congestionMarked).isEqualTo(2);
        }
    }

    @Test
    void shouldLoseWhatNobodyTakesAndGoOn()
    {
        final UdpPort a = open(IPV6);
        final UdpPort b = open(new UdpPortOptions(address(IPV6), 0, 20_000, 64));
        for (int i = 0; i < 20_000; i++)
        {
            send(a, b.address(), i, 100 + i % 2);
        }
        a.flush();
        final int received = drain(b);
        assertThat(received).isLessThan(20_000);

        send(a, b.address(), 7, 64);
        a.flush();
        assertThat(receive(b, 1)).extracting(Seen::number).containsExactly(7);
    }

    @ParameterizedTest
    @ValueSource(strings = {IPV6, IPV4})
    void shouldReportAPortThatNobodyHasOpenAndStillDeliverToOthers(final String address)
    {
        final UdpPort a = open(address);
        final UdpPort b = open(address);
        final UdpPort gone = open(address);
        gone.close();
        final List<Integer> expected = new ArrayList<>();
        final List<Seen> seen = new ArrayList<>();
        for (int i = 0; i < 200; i++)
        {
            send(a, gone.address(), i, 64);
            if (i % 3 == 0)
            {
                a.flush();
            }
            send(a, b.address(), i, 64);
            expected.add(i);
            a.flush();
            seen.addAll(receive(b, 1));
        }
        // Unless its reports are taken, a wait would end at once for ever.
        a.receive(packet -> { });
        assertThat(a.await(SHORT_NS, -1)).isFalse();

        assertThat(seen).extracting(Seen::number).isEqualTo(expected);
        assertThat(a.problem(gone.address())).startsWith("no answer from ").contains(
            address.equals(IPV4) ? "127.0.0.1:" : "[0:0:0:0:0:0:0:1]:", "ECONNREFUSED");
        assertThat(a.problem(b.address())).isNull();
        assertThat(a.counters().reportedErrors).isPositive();
        assertThat(a.counters().unsendable).isZero();
    }

    @Test
    void shouldDropWhatNoWayLeadsTo()
    {
        final UdpPort a = open(IPV4);
        final UdpPort b = open(IPV4);
        final DeviceAddress ipv6 = new DeviceAddress(0x2001_0DB8_0000_0000L, 1, 4791);
        send(a, ipv6, 1, 64);
        send(a, b.address(), 2, 64);
        a.flush();
        assertThat(receive(b, 1)).extracting(Seen::number).containsExactly(2);
        assertThat(a.counters().unsendable).isEqualTo(1);
        assertThat(a.problem(ipv6)).startsWith("no answer from [2001:db8:0:0:0:0:0:1]:4791: ");
    }

    @Test
    void shouldWaitUntilAPacketComesOrTimeIsOver() throws InterruptedException
    {
        final UdpPort a = open(IPV6);
        final UdpPort b = open(IPV6);
        assertThat(b.await(0, -1)).isFalse();
        assertThat(b.await(-5, -1)).isFalse();
        final long start = System.nanoTime();
        assertThat(b.await(SHORT_NS, -1)).isFalse();
        assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(SHORT_NS);

        final Thread sender = Thread.ofPlatform().start(() ->
        {
            send(a, b.address(), 1, 64);
            a.flush();
        });
        assertThat(b.await(WAIT_NS, -1)).isTrue();
        sender.join();
        assertThat(receive(b, 1)).hasSize(1);
    }

    @Test
    void shouldBeWokenByAnotherThread() throws InterruptedException
    {
        final UdpPort port = open(IPV6);
        try (WakeDescriptor wake = new WakeDescriptor())
        {
            final CountDownLatch waiting = new CountDownLatch(1);
            final Thread waker = Thread.ofPlatform().start(() ->
            {
                awaitLatch(waiting);
                wake.signal();
                wake.signal();
            });
            waiting.countDown();
            final long start = System.nanoTime();
            assertThat(port.await(WAIT_NS, wake.descriptor())).isFalse();
            assertThat(System.nanoTime() - start).isLessThan(WAIT_NS);
            waker.join();
            // Signals stay until they are taken.
            assertThat(port.await(WAIT_NS, wake.descriptor())).isFalse();
            wake.reset();
            final long again = System.nanoTime();
            assertThat(port.await(SHORT_NS, wake.descriptor())).isFalse();
            assertThat(System.nanoTime() - again).isGreaterThanOrEqualTo(SHORT_NS);
        }
    }

    @Test
    void shouldEndAllWaitsWhenItIsClosed() throws InterruptedException
    {
        final UdpPort port = UdpPort.open(new UdpPortOptions(address(IPV6), 0));
        final AtomicInteger ended = new AtomicInteger();
        final CountDownLatch started = new CountDownLatch(4);
        final List<Thread> threads = Stream.generate(() -> Thread.ofPlatform().start(() ->
        {
            started.countDown();
            if (!port.await(WAIT_NS, -1))
            {
                ended.incrementAndGet();
            }
        })).limit(4).toList();
        started.await();
        final long start = System.nanoTime();
        port.close();
        for (final Thread thread : threads)
        {
            thread.join();
        }
        assertThat(ended).hasValue(4);
        assertThat(System.nanoTime() - start).isLessThan(WAIT_NS);
        port.close();
        assertThat(port.claim()).isNull();
        assertThat(port.receive(packet -> { })).isZero();
        assertThat(port.await(WAIT_NS, -1)).isFalse();
        port.flush();
    }

    @Test
    void shouldSayWhyItCannotBeOpened() throws UnknownHostException
    {
        final UdpPort port = open(IPV6);
        final int number = portOf(port);
        assertThatThrownBy(() -> UdpPort.open(new UdpPortOptions(address(IPV6), number)))
            .isInstanceOf(RdmaException.class).hasMessageContaining("UDP port " + number + " of 0:0:0:0:0:0:0:1")
            .hasMessageContaining("in use (EADDRINUSE)").hasMessageContaining("give another port");
        assertThatThrownBy(() -> UdpPort.open(new UdpPortOptions(address("2001:db8::1"), 0)))
            .isInstanceOf(RdmaException.class).hasMessageContaining("not an address of this host (EADDRNOTAVAIL)")
            .hasMessageContaining("2001:db8:0:0:0:0:0:1").hasMessageContaining("'ip address' lists");
        assertThatThrownBy(() -> UdpPort.open(new UdpPortOptions(address("192.0.2.1"), 0)))
            .isInstanceOf(RdmaException.class).hasMessageContaining("192.0.2.1");
        assertThatThrownBy(() -> UdpPort.open(new UdpPortOptions(address("fe80::1"), 0)))
            .isInstanceOf(RdmaException.class).hasMessageContaining("fe80::1%eth0");
        assertThatThrownBy(() -> new UdpPortOptions(address("::"), 0))
            .isInstanceOf(RdmaException.class).hasMessageContaining("address of one interface");
        assertThatThrownBy(() -> new UdpPortOptions(address(IPV6), 65_536))
            .isInstanceOf(RdmaException.class).hasMessageContaining("65536");
    }

    @Test
    void shouldNotLeakDescriptors() throws IOException
    {
        final UdpPort held = open(IPV6);
        final long before = descriptors();
        for (int i = 0; i < 20; i++)
        {
            UdpPort.open(new UdpPortOptions(address(IPV6), 0)).close();
            assertThatThrownBy(() -> UdpPort.open(new UdpPortOptions(address(IPV6), portOf(held))))
                .isInstanceOf(RdmaException.class);
        }
        assertThat(descriptors()).isEqualTo(before);
    }

    @Test
    void shouldServeManyPortsAtOnce()
    {
        final List<UdpPort> many = new ArrayList<>();
        for (int i = 0; i < 40; i++)
        {
            many.add(open(new UdpPortOptions(address(IPV6), 0, 1 << 20, 16)));
        }
        for (int i = 0; i < many.size(); i++)
        {
            for (final UdpPort target : many)
            {
                send(many.get(i), target.address(), i, 64);
            }
            many.get(i).flush();
        }
        assertThat(many).allSatisfy(port -> assertThat(receive(port, 40)).extracting(Seen::number).hasSize(40)
            .isSorted());
    }

    @Test
    void shouldAllocateNothingForPackets()
    {
        final UdpPort a = open(IPV6);
        final UdpPort b = open(IPV6);
        final ThreadMXBean threads = (ThreadMXBean)ManagementFactory.getThreadMXBean();
        final AtomicInteger received = new AtomicInteger();
        final PacketHandler handler = packet -> received.incrementAndGet();
        long allocatedBytes = Long.MAX_VALUE;
        // The first rounds load classes and compile.
        for (int i = 0; i < 40; i++)
        {
            final long before = threads.getCurrentThreadAllocatedBytes();
            for (int round = 0; round < 1_000; round++)
            {
                for (int j = 0; j < 8; j++)
                {
                    send(a, b.address(), j, j < 4 ? 84 : 300 + j);
                }
                a.flush();
                b.await(0, -1);
                b.receive(handler);
                b.receive(handler);
            }
            allocatedBytes = Math.min(allocatedBytes, threads.getCurrentThreadAllocatedBytes() - before);
        }
        assertThat(received.get()).isEqualTo(320_000);
        assertThat(allocatedBytes / 8_000).isZero();
    }

    /** A packet as it arrived; its number is in its first word, and all its other bytes follow from it. */
    private record Seen(int number, int lengthBytes, DeviceAddress source, DeviceAddress destination, boolean isMarked)
    {
    }

    private UdpPort open(final String address)
    {
        return open(new UdpPortOptions(address(address), 0));
    }

    private UdpPort open(final UdpPortOptions options)
    {
        final UdpPort port = UdpPort.open(options);
        ports.add(port);
        return port;
    }

    private static void send(final UdpPort port, final DeviceAddress to, final int number, final int lengthBytes)
    {
        final RocePacket packet = port.claim();
        final DeviceAddress from = port.address();
        for (int i = 0; i < lengthBytes; i++)
        {
            packet.buffer().putByte(i, (byte)(number + i));
        }
        if (lengthBytes >= Integer.BYTES)
        {
            packet.buffer().putInt(0, number);
        }
        packet.lengthBytes(lengthBytes);
        packet.path(from.gidHigh(), from.gidLow(), (int)from.serviceLocator(), to.gidHigh(), to.gidLow(),
            (int)to.serviceLocator());
        port.send(packet);
    }

    private static List<Seen> receive(final UdpPort port, final int count)
    {
        final List<Seen> seen = new ArrayList<>();
        final AtomicReference<String> damage = new AtomicReference<>();
        while (seen.size() < count && port.await(WAIT_NS, -1))
        {
            port.receive(packet ->
            {
                final int number = packet.buffer().getInt(0);
                for (int i = Integer.BYTES; i < packet.lengthBytes() && packet.buffer().getByte(5) != 0; i++)
                {
                    if (packet.buffer().getByte(i) != (byte)(number + i))
                    {
                        damage.set("packet " + number + " at " + i);
                    }
                }
                seen.add(new Seen(number, packet.lengthBytes(),
                    new DeviceAddress(packet.sourceHigh(), packet.sourceLow(), packet.sourcePort()),
                    new DeviceAddress(packet.destinationHigh(), packet.destinationLow(), packet.destinationPort()),
                    packet.isCongestionMarked()));
            });
        }
        assertThat(damage.get()).isNull();
        assertThat(seen).hasSize(count);
        return seen;
    }

    private static int drain(final UdpPort port)
    {
        int count = 0;
        while (port.await(SHORT_NS, -1))
        {
            count += port.receive(packet -> { });
        }
        return count;
    }

    private static long descriptors() throws IOException
    {
        try (Stream<Path> entries = Files.list(Path.of("/proc/self/fd")))
        {
            return entries.filter(entry ->
            {
                try
                {
                    final String target = Files.readSymbolicLink(entry).toString();
                    return target.startsWith("socket:") || target.contains("eventfd");
                }
                catch (final IOException gone)
                {
                    return false;
                }
            }).count();
        }
    }

    private static void awaitLatch(final CountDownLatch latch)
    {
        try
        {
            latch.await();
        }
        catch (final InterruptedException ex)
        {
            Thread.currentThread().interrupt();
        }
    }

    private static InetAddress inet(final UdpPort port)
    {
        return address(port.address().gidHigh() == 0 && port.address().gidLow() == 1 ? IPV6 : IPV4);
    }

    private static int portOf(final UdpPort port)
    {
        return (int)port.address().serviceLocator();
    }

    private static InetAddress address(final String text)
    {
        try
        {
            return InetAddress.getByName(text);
        }
        catch (final UnknownHostException ex)
        {
            throw new IllegalArgumentException(text, ex);
        }
    }
}
