package io.verbena.cli.hosts.wire;

import org.agrona.concurrent.SystemNanoClock;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * Forwards frames between network interfaces, with faults, on a thread of its own. Links are cut, and counts read, by
 * any thread.
 */
public final class Wire implements AutoCloseable
{
    private static final long LONGEST_WAIT_NS = 20_000_000;
    private static final int IDLES_PER_READING = 256;
    // Of linux/ethtool.h. Without its check sum no segmentation offload is left to a device, of TCP and of UDP.
    private static final int ETHTOOL_STXCSUM = 0x17;
    private static final int ETHTOOL_SGRO = 0x2C;

    private final FrameForwarder forwarder;
    private final int[] descriptors;
    private final Thread thread;
    private volatile boolean isClosed;

    private Wire(final FrameForwarder forwarder, final int[] descriptors)
    {
        this.forwarder = forwarder;
        this.descriptors = descriptors;
        thread = Thread.ofPlatform().name("verbena-wire").daemon().unstarted(this::run);
    }

    /**
     * Starts forwarding.
     *
     * @param interfaces of this process's network namespace, one for each host.
     * @param faults     of all links.
     * @return the wire, closed by the caller.
     * @throws IOException when an interface is not there, or packet sockets are not permitted.
     */
    public static Wire start(final List<String> interfaces, final LinkFaults faults) throws IOException
    {
        final List<PacketSocket> ports = new ArrayList<>();
        try
        {
            for (final String name : interfaces)
            {
                ports.add(PacketSocket.open(name));
            }
        }
        catch (final IOException ex)
        {
            ports.forEach(PacketSocket::close);
            throw ex;
        }
        final Wire wire = new Wire(new FrameForwarder(ports, faults, SystemNanoClock.INSTANCE),
            ports.stream().mapToInt(PacketSocket::descriptor).toArray());
        wire.thread.start();
        return wire;
    }

    /**
     * Has an interface send whole frames: of at most its MTU, each with its check sum.
     *
     * @param name of the interface, in this process's network namespace.
     * @throws IOException when it cannot.
     */
    public static void sendWholeFrames(final String name) throws IOException
    {
        PacketSockets.feature(name, ETHTOOL_STXCSUM, false);
        PacketSockets.feature(name, ETHTOOL_SGRO, false);
    }

    /**
     * @param host its number, from 0.
     * @return its MAC address as text; frames are forwarded by it.
     */
    public static String mac(final int host)
    {
        final long mac = FrameForwarder.mac(host);
        return String.format("%02x:%02x:%02x:%02x:%02x:%02x", mac >> 40, mac >> 32 & 0xFF, mac >> 24 & 0xFF,
            mac >> 16 & 0xFF, mac >> 8 & 0xFF, mac & 0xFF);
    }

    /**
     * Cuts the links of some hosts and restores all others.
     *
     * @param links bit i for host i, from 0.
     */
    public void cut(final long links)
    {
        forwarder.cut(links);
    }

    /** @return what befell the frames so far. */
    public FrameCounts counts()
    {
        return forwarder.counts();
    }

    private void run()
    {
        try (Arena arena = Arena.ofConfined())
        {
            final MemorySegment pollSet = PacketSockets.pollSet(arena, descriptors);
            int idles = 0;
            while (!isClosed)
            {
                if (0 == forwarder.doWork())
                {
                    if (0 == ++idles % IDLES_PER_READING)
                    {
                        forwarder.readOverruns();
                    }
                    PacketSockets.await(pollSet, Math.min(LONGEST_WAIT_NS, forwarder.idleNs()));
                }
            }
        }
        finally
        {
            forwarder.readOverruns();
            forwarder.close();
        }
    }

    @Override
    public void close()
    {
        isClosed = true;
        try
        {
            thread.join();
        }
        catch (final InterruptedException ex)
        {
            Thread.currentThread().interrupt();
        }
    }
}
