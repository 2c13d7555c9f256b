package io.verbena.load.wire;

import io.verbena.rdma.roce.udp.PacketHandler;
import io.verbena.rdma.roce.udp.UdpPort;
import io.verbena.rdma.roce.wire.RocePacket;

/** Answers each packet by as many packets, of the length, that its first words name, without looking at the rest. */
final class EchoResponder implements WireResponder
{
    private static final int NUMBER_OFFSET = 2 * Integer.BYTES;

    private final UdpPort port;
    private final PacketHandler handler = this::onPacket;

    EchoResponder(final UdpPort port)
    {
        this.port = port;
    }

    @Override
    public boolean work()
    {
        final int received = port.receive(handler);
        port.flush();
        return received > 0;
    }

    private void onPacket(final RocePacket request)
    {
        final int replyBytes = request.buffer().getInt(0);
        final int replies = request.buffer().getInt(Integer.BYTES);
        final int number = request.buffer().getInt(NUMBER_OFFSET);
        for (int i = 0; i < replies; i++)
        {
            RocePacket reply = port.claim();
            while (reply == null)
            {
                reply = port.claim();
            }
            reply.buffer().putInt(NUMBER_OFFSET, number);
            reply.lengthBytes(replyBytes);
            reply.path(request.destinationHigh(), request.destinationLow(), request.destinationPort(),
                request.sourceHigh(), request.sourceLow(), request.sourcePort());
            port.send(reply);
        }
    }

    @Override
    public String greeting()
    {
        return "echo";
    }

    @Override
    public void connect(final String[] words)
    {
        throw new IllegalStateException("an echo has no connections");
    }
}
