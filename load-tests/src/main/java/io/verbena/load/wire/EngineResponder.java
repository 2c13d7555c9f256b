package io.verbena.load.wire;

import io.verbena.rdma.roce.udp.UdpPort;
import io.verbena.rdma.verbs.DeviceAddress;

/** A device whose memory is read and written. */
final class EngineResponder implements WireResponder
{
    private static final int FIXED_WORDS = 6;

    private final EngineSide side;

    EngineResponder(final UdpPort port, final int windowPackets, final int queuePairs, final int lostPerThousand)
    {
        side = new EngineSide(port, LossyPort.of(port, lostPerThousand, 0), windowPackets, queuePairs);
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

    /** Words: connect, first of the own queue pairs, GID of the peer, its port, path MTU, its queue pairs. */
    @Override
    public void connect(final String[] words)
    {
        final int[] numbers = new int[words.length - FIXED_WORDS];
        for (int i = 0; i < numbers.length; i++)
        {
            numbers[i] = Integer.parseInt(words[FIXED_WORDS + i]);
        }
        side.connect(Integer.parseInt(words[1]),
            new DeviceAddress(Long.parseLong(words[2]), Long.parseLong(words[3]), Long.parseLong(words[4])), numbers,
            Integer.parseInt(words[5]));
    }
}
