package io.verbena.rdma.roce.engine;

import io.verbena.rdma.roce.wire.BthDescriptor;
import io.verbena.rdma.roce.wire.InvariantCrc;
import io.verbena.rdma.roce.wire.PacketSequence;
import io.verbena.rdma.roce.wire.RethDescriptor;
import io.verbena.rdma.roce.wire.RoceOpcode;
import io.verbena.rdma.roce.wire.RocePacket;

import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Consumer;

/**
 * Makes of the request for a later part of a READ one that begins among the packets of the part before, as a requester
 * sends that has lost answers of the one part and cuts its READ anew: to the responder it is repeated and partly new.
 */
final class StretchedReads implements Consumer<RocePacket>
{
    private static final int PER_THOUSAND = 1000;

    /** A request as it was sent. */
    private record Part(int sequence, long address, long endAddress, int key)
    {
    }

    private final SplittableRandom random;
    private final int perThousand;
    private final InvariantCrc crc = new InvariantCrc();
    /** The last request of each queue pair. */
    private final Map<Long, Part> parts = new HashMap<>();
    private long count;

    StretchedReads(final long seed, final int perThousand)
    {
        random = new SplittableRandom(seed);
        this.perThousand = perThousand;
    }

    /** How many requests were stretched. */
    long count()
    {
        return count;
    }

    @Override
    public void accept(final RocePacket packet)
    {
        if (BthDescriptor.opcode(packet.buffer(), 0) != RoceOpcode.READ_REQUEST)
        {
            return;
        }
        final int sequence = BthDescriptor.sequence(packet.buffer(), 0);
        final long address = RethDescriptor.address(packet.buffer(), BthDescriptor.LENGTH_BYTES);
        final int key = RethDescriptor.remoteKey(packet.buffer(), BthDescriptor.LENGTH_BYTES);
        final long lengthBytes = RethDescriptor.dmaLength(packet.buffer(), BthDescriptor.LENGTH_BYTES);
        final int destination = BthDescriptor.destination(packet.buffer(), 0);
        final Part before = parts.put(packet.destinationLow() << BthDescriptor.NUMBER_BITS | destination,
            new Part(sequence, address, address + lengthBytes, key));
        final int packets = before == null ? 0 : PacketSequence.distance(sequence, before.sequence);
        // A READ of nothing before another one of the same place is no part of it.
        final boolean isContinued =
            packets > 0 && before.key == key && before.endAddress == address && before.address != address;
        if (isContinued && random.nextInt(PER_THOUSAND) < perThousand)
        {
            final int more = 1 + random.nextInt(packets);
            final int moreBytes = more * (int)((address - before.address) / packets);
            BthDescriptor.encode(packet.buffer(), 0, RoceOpcode.READ_REQUEST, false, 0, destination,
                BthDescriptor.isAckRequested(packet.buffer(), 0), PacketSequence.add(sequence, -more));
            RethDescriptor.encode(packet.buffer(), BthDescriptor.LENGTH_BYTES, address - moreBytes, key,
                (int)lengthBytes + moreBytes);
            crc.seal(packet);
            count++;
        }
    }
}
