package io.verbena.load.wire;

import io.verbena.rdma.roce.udp.UdpPort;
import io.verbena.rdma.verbs.DeviceAddress;

/** A device whose memory is read and written. */
final class EngineResponder implements WireResponder
{
    private static final int FIXED_WORDS = 5;

    private final EngineSide side;

    EngineResponder(final UdpPort port, final int windowPackets)
    {
        side = new EngineSide(port, windowPackets);
    }

    @Override
    public boolean work()
    {
        return side.work();
    }

    @Override
    public String greeting()
    {
        return side.describe();
    }

    /** Words: connect, GID of the peer, its port, path MTU, its queue pairs. */
    @Override
    public void connect(final String[] words)
    {
        final int[] numbers = new int[EngineSide.QUEUE_PAIRS];
        for (int i = 0; i < numbers.length; i++)
        {
            numbers[i] = Integer.parseInt(words[FIXED_WORDS + i]);
        }
        side.connect(
            new DeviceAddress(Long.parseLong(words[1]), Long.parseLong(words[2]), Long.parseLong(words[3])), numbers,
            Integer.parseInt(words[4]));
    }
}
