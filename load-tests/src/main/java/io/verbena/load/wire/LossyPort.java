package io.verbena.load.wire;

import io.verbena.rdma.roce.udp.UdpPort;
import io.verbena.rdma.roce.wire.PacketSink;
import io.verbena.rdma.roce.wire.RocePacket;

import java.util.SplittableRandom;

/** Loses some of the packets that an engine sends, as one seed decides, before the kernel sees them. One thread. */
final class LossyPort implements PacketSink
{
    private static final int PER_THOUSAND = 1000;

    private final UdpPort port;
    private final int lostPerThousand;
    private final SplittableRandom random;

    private LossyPort(final UdpPort port, final int lostPerThousand, final long seed)
    {
        this.port = port;
        this.lostPerThousand = lostPerThousand;
        random = new SplittableRandom(seed);
    }

    /** The port itself where nothing is lost. */
    static PacketSink of(final UdpPort port, final int lostPerThousand, final long seed)
    {
        return lostPerThousand == 0 ? port : new LossyPort(port, lostPerThousand, seed);
    }

    @Override
    public RocePacket claim()
    {
        return port.claim();
    }

    @Override
    public void send(final RocePacket packet)
    {
        // One that is not sent is lent again.
        if (random.nextInt(PER_THOUSAND) >= lostPerThousand)
        {
            port.send(packet);
        }
    }
}
