package io.verbena.cli.hosts.wire;

import org.agrona.concurrent.NanoClock;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A switch with a port for each host that does to frames what {@link LinkFaults} says. It knows hosts by their MAC
 * address ({@link #mac}), and sends what is for no single host to all others. One thread drives it; links are cut and
 * counts read by any.
 */
final class FrameForwarder implements AutoCloseable
{
    /** Longest frame: an MTU of 9,000 bytes and its Ethernet header. */
    static final int MAX_FRAME_BYTES = 9_216;
    private static final int ETHERNET_BYTES = 14;
    private static final int MAC_BYTES = 6;
    /** Locally administered, of one host; behind it the number of the host. */
    private static final long MAC_PREFIX = 0x0276_6200_0000L;
    private static final int FRAMES_A_TURN = 64;
    private static final int MAX_HELD = 4_096;
    private static final long NS_PER_S = 1_000_000_000L;

    private final List<? extends FramePort> ports;
    private final LinkFaults faults;
    private final NanoClock clock;
    private final FrameFates[][] fates;
    private final long[] uplinkFreeNs;
    private final long[] downlinkFreeNs;
    private final FrameCounts counts = new FrameCounts();
    private final Arena arena = Arena.ofShared();
    private final MemorySegment received = arena.allocate(MAX_FRAME_BYTES, Long.BYTES);
    private final HeldFrames held = new HeldFrames(arena, MAX_HELD, MAX_FRAME_BYTES);
    /** Bit i: the link of the host at port i is cut. */
    private volatile long cutLinks;

    /**
     * @param ports  one for each host, in the order of their numbers; closed with this. 64 at most.
     * @param faults of every link.
     * @param clock  of delays.
     */
    FrameForwarder(final List<? extends FramePort> ports, final LinkFaults faults, final NanoClock clock)
    {
        this.ports = ports;
        this.faults = faults;
        this.clock = clock;
        fates = new FrameFates[ports.size()][ports.size()];
        for (int from = 0; from < ports.size(); from++)
        {
            for (int to = 0; to < ports.size(); to++)
            {
                fates[from][to] = new FrameFates(faults, from, to);
            }
        }
        uplinkFreeNs = new long[ports.size()];
        downlinkFreeNs = new long[ports.size()];
        final long nowNs = clock.nanoTime();
        Arrays.fill(uplinkFreeNs, nowNs);
        Arrays.fill(downlinkFreeNs, nowNs);
    }

    /** @return the MAC address of the host at a port. */
    static long mac(final int port)
    {
        return MAC_PREFIX + port;
    }

    /** Cuts the links of some hosts, and restores all others. What is under way already arrives. */
    void cut(final long links)
    {
        cutLinks = links;
    }

    FrameCounts counts()
    {
        return counts;
    }

    /** @return number of frames received and sent. */
    int doWork()
    {
        int work = 0;
        final long nowNs = clock.nanoTime();
        for (int from = 0; from < ports.size(); from++)
        {
            final FramePort port = ports.get(from);
            int lengthBytes = port.receive(received);
            for (int i = 0; i < FRAMES_A_TURN && FramePort.NOTHING != lengthBytes; i++)
            {
                onFrame(from, lengthBytes, nowNs);
                work++;
                lengthBytes = i + 1 < FRAMES_A_TURN ? port.receive(received) : FramePort.NOTHING;
            }
        }
        while (!held.isEmpty() && held.firstDueNs() - nowNs <= 0)
        {
            final MemorySegment frame = held.firstFrame();
            send(frame, (int)frame.byteSize(), held.firstPort());
            held.removeFirst();
            work++;
        }
        return work;
    }

    /** @return how long nothing is due unless a frame arrives; 0 or more. */
    long idleNs()
    {
        return held.isEmpty() ? NS_PER_S : Math.max(0, Math.min(NS_PER_S, held.firstDueNs() - clock.nanoTime()));
    }

    private void onFrame(final int from, final int lengthBytes, final long nowNs)
    {
        if (lengthBytes < ETHERNET_BYTES || lengthBytes > MAX_FRAME_BYTES)
        {
            return; // no frame of a host: longer than its MTU, or without a header
        }
        final long host = destination() - MAC_PREFIX;
        if (host >= 0 && host < ports.size())
        {
            forward(from, (int)host, lengthBytes, nowNs);
            return;
        }
        for (int to = 0; to < ports.size(); to++)
        {
            if (to != from)
            {
                forward(from, to, lengthBytes, nowNs);
            }
        }
    }

    private long destination()
    {
        long mac = 0;
        for (int i = 0; i < MAC_BYTES; i++)
        {
            mac = mac << Byte.SIZE | received.get(ValueLayout.JAVA_BYTE, i) & 0xFF;
        }
        return mac;
    }

    private void forward(final int from, final int to, final int lengthBytes, final long nowNs)
    {
        if (0 != (cutLinks & (1L << from | 1L << to)))
        {
            counts.cut.lazySet(counts.cut.get() + 1);
            return;
        }
        final FrameFates fate = fates[from][to];
        fate.next();
        if (fate.isLost())
        {
            counts.lost.lazySet(counts.lost.get() + 1);
            return;
        }
        final boolean isCorrupt = fate.isCorrupt() && lengthBytes > ETHERNET_BYTES;
        if (isCorrupt)
        {
            invert(fate.corruptBit((long)(lengthBytes - ETHERNET_BYTES) * Byte.SIZE));
            counts.corrupted.lazySet(counts.corrupted.get() + 1);
        }
        if (fate.heldNs() > 0)
        {
            counts.held.lazySet(counts.held.get() + 1);
        }
        transmit(from, to, lengthBytes, nowNs, fate.heldNs());
        if (fate.isDuplicate())
        {
            counts.duplicated.lazySet(counts.duplicated.get() + 1);
            transmit(from, to, lengthBytes, nowNs, 0);
        }
        if (isCorrupt)
        {
            invert(fate.corruptBit((long)(lengthBytes - ETHERNET_BYTES) * Byte.SIZE)); // others get it whole
        }
    }

    private void invert(final long bit)
    {
        final long at = ETHERNET_BYTES + bit / Byte.SIZE;
        final int inverted = received.get(ValueLayout.JAVA_BYTE, at) ^ 1 << bit % Byte.SIZE;
        received.set(ValueLayout.JAVA_BYTE, at, (byte)inverted);
    }

    private void transmit(final int from, final int to, final int lengthBytes, final long nowNs, final long heldNs)
    {
        final long throughNs = throughNs(from, to, lengthBytes, nowNs);
        if (throughNs < 0)
        {
            counts.queueFull.lazySet(counts.queueFull.get() + 1);
            return;
        }
        final long underWayNs = throughNs + faults.delayNs() + heldNs;
        if (0 == underWayNs)
        {
            send(received, lengthBytes, to);
        }
        else if (!held.add(received, lengthBytes, to, nowNs + underWayNs))
        {
            counts.queueFull.lazySet(counts.queueFull.get() + 1);
        }
    }

    /** How long a frame takes through both links at their rate, or -1 when a queue is full. */
    private long throughNs(final int from, final int to, final int lengthBytes, final long nowNs)
    {
        if (0 == faults.rateBitsPerS())
        {
            return 0;
        }
        final long wireNs = lengthBytes * (long)Byte.SIZE * NS_PER_S / faults.rateBitsPerS();
        final long upNs = Math.max(0, uplinkFreeNs[from] - nowNs) + wireNs;
        if (upNs - wireNs > LinkFaults.QUEUE_NS)
        {
            return -1;
        }
        uplinkFreeNs[from] = nowNs + upNs;
        final long downNs = Math.max(upNs, downlinkFreeNs[to] - nowNs) + wireNs;
        if (downNs - upNs - wireNs > LinkFaults.QUEUE_NS)
        {
            return -1;
        }
        downlinkFreeNs[to] = nowNs + downNs;
        return downNs;
    }

    private void send(final MemorySegment frame, final int lengthBytes, final int port)
    {
        final boolean isSent = ports.get(port).send(frame, lengthBytes);
        final AtomicLong count = isSent ? counts.sent : counts.queueFull;
        count.lazySet(count.get() + 1);
    }

    /** Reads what only the ports know into the counts. */
    void readOverruns()
    {
        counts.overruns.lazySet(ports.stream().mapToLong(FramePort::overruns).sum());
    }

    @Override
    public void close()
    {
        ports.forEach(FramePort::close);
        arena.close();
    }
}
