package io.verbena.rdma.roce.engine;

import io.verbena.rdma.roce.seal.SealedPacketDescriptor;
import io.verbena.rdma.roce.wire.BthDescriptor;
import io.verbena.rdma.roce.wire.InvariantCrc;
import io.verbena.rdma.roce.wire.RocePacket;

import java.nio.ByteOrder;
import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Consumer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Changes sealed packets on their way, each with a checksum that is right: a byte is another one, the end is cut off,
 * or a packet from before comes in its place, to its own or to another queue pair. Checks that no count is used twice.
 */
final class SealedPathAttacker implements Consumer<RocePacket>
{
    private static final int RECORDED = 64;
    private static final int ALIGNMENT = 4;
    /** Each attack on one packet of so many: to the queue pairs all of them are losses, besides those of chance. */
    private static final int ONE_IN = 100;

    private record Use(long sender, int destination, long counter)
    {
    }

    private final SplittableRandom random;
    private final InvariantCrc crc = new InvariantCrc();
    private final RocePacket[] recorded = new RocePacket[RECORDED];
    private final Set<Use> uses = new HashSet<>();
    long attacks;

    SealedPathAttacker(final long seed)
    {
        random = new SplittableRandom(seed);
    }

    /** A packet is sent, perhaps once more. */
    void onSent(final RocePacket packet)
    {
        assertThat(BthDescriptor.version(packet.buffer(), 0)).isEqualTo(SealedPacketDescriptor.VERSION);
        assertThat(uses.add(new Use(packet.sourceLow(), BthDescriptor.destination(packet.buffer(), 0),
            packet.buffer().getLong(SealedPacketDescriptor.COUNTER_OFFSET)))).as("a count is used once").isTrue();
    }

    @Override
    public void accept(final RocePacket packet)
    {
        final int place = random.nextInt(RECORDED);
        final RocePacket before = recorded[place];
        final RocePacket copy = new RocePacket();
        copy.copyOf(packet);
        recorded[place] = copy;
        switch (random.nextInt(ONE_IN))
        {
            case 0 -> change(packet, random.nextInt(packet.lengthBytes() - InvariantCrc.LENGTH_BYTES));
            case 1 -> packet.lengthBytes(packet.lengthBytes() - ALIGNMENT * (1 + random.nextInt(3)));
            case 2 -> replace(packet, before);
            case 3 ->
            {
                // As if it were of the queue pair and the peer that this packet is for.
                final int number = BthDescriptor.destination(packet.buffer(), 0);
                replace(packet, before);
                packet.buffer().putInt(BthDescriptor.DESTINATION_OFFSET, number, ByteOrder.BIG_ENDIAN);
            }
            default ->
            {
                return;
            }
        }
        attacks++;
        crc.seal(packet);
    }

    private static void replace(final RocePacket packet, final RocePacket before)
    {
        if (before != null)
        {
            packet.copyOf(before);
        }
    }

    private void change(final RocePacket packet, final int at)
    {
        packet.buffer().putByte(at, (byte)(packet.buffer().getByte(at) ^ 1 << random.nextInt(Byte.SIZE)));
    }
}
