package io.verbena.rdma.roce.wire;

import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.io.IOException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Packets that others sent: each header, read and written again by our classes, gives the same bytes, except for the
 * migration state, which Soft-RoCE sends as 0 and nobody reads, and congestion marks.
 */
class GoldenPacketsTest
{
    /** Of a notification, all of them 0. */
    private static final int NOTIFICATION_BYTES = 16;

    private final InvariantCrc crc = new InvariantCrc();

    @Test
    void shouldWriteWhatOthersSent() throws IOException
    {
        GoldenPackets.read().forEach((name, packet) ->
        {
            final RocePacket copy = new RocePacket();
            copy.copyOf(packet);
            copy.buffer().setMemory(0, RocePacket.MAX_LENGTH_BYTES, (byte)0x5A);
            final int opcode = BthDescriptor.opcode(packet.buffer(), 0);
            final int headersEnd = rewrite(packet.buffer(), copy.buffer(), RoceOpcode.traits(opcode));
            assertThat(headersEnd).as(name).isEqualTo(RoceOpcode.headerBytes(opcode));
            copy.buffer().putBytes(headersEnd, packet.buffer(), headersEnd,
                packet.lengthBytes() - headersEnd - InvariantCrc.LENGTH_BYTES);
            crc.seal(copy);
            for (int i = 0; i < packet.lengthBytes(); i++)
            {
                assertThat(copy.buffer().getByte(i)).as("%s, byte %d", name, i).isEqualTo(packet.buffer().getByte(i));
            }
        });
    }

    private static int rewrite(final UnsafeBuffer from, final UnsafeBuffer to, final int traits)
    {
        BthDescriptor.encode(to, 0, BthDescriptor.opcode(from, 0), BthDescriptor.isSolicited(from, 0),
            BthDescriptor.padBytes(from, 0), BthDescriptor.destination(from, 0),
            BthDescriptor.isAckRequested(from, 0), BthDescriptor.sequence(from, 0));
        final int flags = from.getByte(BthDescriptor.FLAGS_OFFSET);
        assertThat(to.getByte(BthDescriptor.FLAGS_OFFSET)).isEqualTo((byte)(flags | BthDescriptor.MIGRATION_FLAG));
        to.putByte(BthDescriptor.FLAGS_OFFSET, (byte)flags);
        to.putByte(BthDescriptor.CONGESTION_OFFSET, from.getByte(BthDescriptor.CONGESTION_OFFSET));
        int at = BthDescriptor.LENGTH_BYTES;
        if ((traits & RoceOpcode.IS_NOTIFICATION) != 0)
        {
            to.setMemory(at, NOTIFICATION_BYTES, (byte)0);
            at += NOTIFICATION_BYTES;
        }
        if ((traits & RoceOpcode.HAS_DETH) != 0)
        {
            DethDescriptor.encode(to, at, DethDescriptor.qkey(from, at), DethDescriptor.source(from, at));
            at += DethDescriptor.LENGTH_BYTES;
        }
        if ((traits & RoceOpcode.HAS_RETH) != 0)
        {
            RethDescriptor.encode(to, at, RethDescriptor.address(from, at), RethDescriptor.remoteKey(from, at),
                (int)RethDescriptor.dmaLength(from, at));
            at += RethDescriptor.LENGTH_BYTES;
        }
        if ((traits & RoceOpcode.HAS_ATOMIC_ETH) != 0)
        {
            AtomicEthDescriptor.encode(to, at, AtomicEthDescriptor.address(from, at),
                AtomicEthDescriptor.remoteKey(from, at), AtomicEthDescriptor.swapOrAdd(from, at),
                AtomicEthDescriptor.compare(from, at));
            at += AtomicEthDescriptor.LENGTH_BYTES;
        }
        if ((traits & RoceOpcode.HAS_AETH) != 0)
        {
            AethDescriptor.encode(
                to, at, AethDescriptor.syndrome(from, at), AethDescriptor.messageSequence(from, at));
            at += AethDescriptor.LENGTH_BYTES;
        }
        if ((traits & RoceOpcode.HAS_ATOMIC_ACK_ETH) != 0)
        {
            AtomicAckEthDescriptor.encode(to, at, AtomicAckEthDescriptor.original(from, at));
            at += AtomicAckEthDescriptor.LENGTH_BYTES;
        }
        if ((traits & RoceOpcode.HAS_IMMEDIATE) != 0)
        {
            ImmDtDescriptor.encode(to, at, ImmDtDescriptor.immediate(from, at));
            at += ImmDtDescriptor.LENGTH_BYTES;
        }
        if ((traits & RoceOpcode.HAS_IETH) != 0)
        {
            IethDescriptor.encode(to, at, IethDescriptor.remoteKey(from, at));
            at += IethDescriptor.LENGTH_BYTES;
        }
        return at;
    }
}
