package io.verbena.rdma.roce.udp;

import io.verbena.rdma.roce.wire.PacketSink;
import io.verbena.rdma.roce.wire.RocePacket;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.RdmaException;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * A UDP socket, bound to one address of this host, that sends and receives the packets of an engine. Packets have
 * "don't fragment" set and announce that this host heeds congestion marks. Over IPv4 their identification field is 0,
 * as the invariant CRC covers it, and the socket cannot see that of packets that arrive.
 *
 * <p>One thread at a time claims, sends, flushes, receives and closes: the one that drives the engine. {@link #await},
 * {@link #problem} and the getters may be called by any thread. Nothing allocates once the port is open. A closed port
 * lends no packets, receives none, and its waits end at once.
 */
public final class UdpPort implements PacketSink, AutoCloseable
{
    private static final long CLOSE_STEP_NS = 1_000_000;
    private static final int CLOSE_STEPS = 5_000;

    private final UdpCounters counters;
    private final UdpSocket socket;
    private final SentErrors errors;
    private final SendRing ring;
    private final ReceiveBatch batch;
    private final WakeDescriptor closing;
    private final AtomicInteger waiters = new AtomicInteger();
    private final String name;
    private volatile boolean isClosed;

    private UdpPort(final UdpPortOptions options, final UdpSocket socket, final WakeDescriptor closing)
    {
        this.socket = socket;
        this.closing = closing;
        final DeviceAddress address = socket.address();
        final SocketCalls calls = new SocketCalls();
        counters = new UdpCounters();
        errors = new SentErrors(calls, counters);
        ring = new SendRing(calls, counters, errors, socket.scope(), options.sendPackets(), !socket.isIpv4());
        batch = new ReceiveBatch(
            calls, counters, errors, address.gidHigh(), address.gidLow(), (int)address.serviceLocator());
        name = SocketName.text(address.gidHigh(), address.gidLow(), (int)address.serviceLocator());
    }

    /**
     * Opens a port.
     *
     * @param options address and port.
     * @return the port, closed by the caller.
     */
    public static UdpPort open(final UdpPortOptions options)
    {
        final WakeDescriptor closing = new WakeDescriptor();
        UdpSocket socket = null;
        try
        {
            socket = UdpSocket.open(options);
            return new UdpPort(options, socket, closing);
        }
        catch (final RuntimeException | Error ex)
        {
            closing.close();
            if (socket != null)
            {
                socket.close();
            }
            throw ex;
        }
    }

    /** @return address as GID, with the port as service locator. */
    public DeviceAddress address()
    {
        return socket.address();
    }

    /** @return bytes that the kernel keeps for packets that nobody has taken, as it counts them, overhead included. */
    public int receiveBufferBytes()
    {
        return socket.receiveBufferBytes();
    }

    /** @return what has been counted. */
    public UdpCounters counters()
    {
        return counters;
    }

    /** @return the socket, to be polled for reading with others; not to be read, written or closed. */
    public int descriptor()
    {
        return socket.descriptor();
    }

    @Override
    public RocePacket claim()
    {
        if (isClosed)
        {
            return null;
        }
        final RocePacket packet = ring.claim();
        if (packet != null)
        {
            return packet;
        }
        flush();
        return ring.claim();
    }

    @Override
    public void send(final RocePacket packet)
    {
        ring.send();
        if (ring.hasWholeRun())
        {
            flush();
        }
    }

    /**
     * Hands the packets sent to the kernel. Those that it has no room for now stay for the next flush; those that it
     * refuses are lost, as any packet may be, and counted.
     */
    public void flush()
    {
        if (!ring.isEmpty() && !isClosed)
        {
            ring.flush(socket.descriptor());
        }
    }

    /** @return whether packets wait for a flush. */
    public boolean hasUnsent()
    {
        return !ring.isEmpty();
    }

    /**
     * Hands on packets that have arrived; does not wait.
     *
     * @param handler of each packet.
     * @return how many, 0 when there are none now.
     */
    public int receive(final PacketHandler handler)
    {
        return isClosed ? 0 : batch.receive(socket.descriptor(), handler);
    }

    /**
     * Waits until there is something to receive, a descriptor can be read, the port is closed, or time is over.
     *
     * @param timeoutNs      longest wait, 0 or more.
     * @param wakeDescriptor another descriptor, such as that of a {@link WakeDescriptor}, or -1.
     * @return whether there is something to receive, which may be the report of an error.
     */
    public boolean await(final long timeoutNs, final int wakeDescriptor)
    {
        waiters.incrementAndGet();
        try
        {
            if (isClosed)
            {
                return false;
            }
            final int events = ThreadCalls.get().poll(
                socket.descriptor(), wakeDescriptor, closing.descriptor(), Math.max(0, timeoutNs));
            if ((events & SocketConstants.POLLERR) != 0)
            {
                errors.expect();
            }
            return events != 0 && !isClosed;
        }
        finally
        {
            waiters.decrementAndGet();
        }
    }

    /**
     * The last error that this host, the network or the peer's host reported for packets to a device: evidence for why
     * there is no answer. It may be of an earlier time.
     *
     * @param peer address of the device.
     * @return such as "no answer from [fd00::2]:4791: its host says that ...", or null when nothing was reported.
     */
    public String problem(final DeviceAddress peer)
    {
        final int port = UdpSocket.port(peer);
        final int errno = errors.of(peer.gidHigh(), peer.gidLow(), port);
        return errno == 0 ? null : "no answer from " + SocketName.text(peer.gidHigh(), peer.gidLow(), port) + ": " +
            SocketFailure.reason(errno);
    }

    /** Closes the port; waits for the threads in {@link #await}, which return at once. Packets not flushed are lost. */
    @Override
    public void close()
    {
        if (isClosed)
        {
            return;
        }
        isClosed = true;
        closing.signal();
        for (int i = 0; waiters.get() > 0; i++)
        {
            if (i == CLOSE_STEPS)
            {
                // Rather two descriptors lost than the next file that gets their numbers polled by a stranger.
                throw new RdmaException("UDP port " + name + " cannot be closed: threads wait for it since 5 s");
            }
            LockSupport.parkNanos(CLOSE_STEP_NS);
        }
        socket.close();
        closing.close();
    }

    @Override
    public String toString()
    {
        return name + " (receive buffer " + receiveBufferBytes() + " bytes, " +
            (ring.isSegmenting() ? "with" : "without") + " segmentation by the kernel)";
    }
}
