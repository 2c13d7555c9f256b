package io.verbena.load.wire;

import io.verbena.rdma.roce.udp.PacketHandler;
import io.verbena.rdma.roce.udp.UdpPort;
import io.verbena.rdma.roce.wire.RocePacket;
import io.verbena.rdma.verbs.DeviceAddress;
import org.agrona.concurrent.SystemNanoClock;

/** Exchanges packets with an {@link EchoResponder}. One thread. */
final class EchoRequester
{
    private static final int NUMBER_OFFSET = 2 * Integer.BYTES;
    private static final long LOST_NS = 100_000_000;

    private final UdpPort port;
    private final DeviceAddress peer;
    private final PacketHandler handler = this::onPacket;
    private int number;
    private int missing;
    private long lostExchanges;

    EchoRequester(final UdpPort port, final DeviceAddress peer)
    {
        this.port = port;
        this.peer = peer;
    }

    /**
     * Sends requests together and waits for all replies.
     *
     * @param requests     packets to send.
     * @param requestBytes of each, with room for three words.
     * @param replies      to each request.
     * @param replyBytes   of each reply.
     */
    void exchange(final int requests, final int requestBytes, final int replies, final int replyBytes)
    {
        number++;
        missing = requests * replies;
        final DeviceAddress self = port.address();
        for (int i = 0; i < requests; i++)
        {
            final RocePacket packet = port.claim();
            packet.buffer().putInt(0, replyBytes);
            packet.buffer().putInt(Integer.BYTES, replies);
            packet.buffer().putInt(NUMBER_OFFSET, number);
            packet.lengthBytes(requestBytes);
            packet.path(self.gidHigh(), self.gidLow(), (int)self.serviceLocator(), peer.gidHigh(), peer.gidLow(),
                (int)peer.serviceLocator());
            port.send(packet);
        }
        port.flush();
        long idle = 0;
        long deadlineNs = 0;
        while (missing > 0)
        {
            if (port.receive(handler) > 0)
            {
                idle = 0;
            }
            else if (++idle == 1_000)
            {
                deadlineNs = SystemNanoClock.INSTANCE.nanoTime() + LOST_NS;
            }
            else if (idle > 1_000 && SystemNanoClock.INSTANCE.nanoTime() - deadlineNs > 0)
            {
                lostExchanges++;
                return;
            }
        }
    }

    private void onPacket(final RocePacket packet)
    {
        if (packet.buffer().getInt(NUMBER_OFFSET) == number)
        {
            missing--;
        }
    }

    /** Exchanges of which a packet was lost. */
    long lostExchanges()
    {
        return lostExchanges;
    }
}
