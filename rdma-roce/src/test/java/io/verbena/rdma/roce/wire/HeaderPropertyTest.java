package io.verbena.rdma.roce.wire;

import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.util.HexFormat;
import java.util.SplittableRandom;

import static org.assertj.core.api.Assertions.assertThat;

/** Each header is read as it was written, touches no byte around it, and lies as the specification draws it. */
class HeaderPropertyTest
{
    private static final int OFFSET = 3;
    private static final int ROUNDS = 2_000;

    private final UnsafeBuffer buffer = new UnsafeBuffer(new byte[64]);
    private final SplittableRandom random = new SplittableRandom(20_261_123);

    @Test
    void shouldReadBaseHeaderAsWritten()
    {
        for (int round = 0; round < ROUNDS; round++)
        {
            fill();
            final int opcode = random.nextInt(256);
            final boolean isSolicited = random.nextBoolean();
            final int pad = random.nextInt(4);
            final int destination = random.nextInt(1 << 24);
            final boolean isAckRequested = random.nextBoolean();
            final int sequence = random.nextInt(1 << 24);
            BthDescriptor.encode(buffer, OFFSET, opcode, isSolicited, pad, destination, isAckRequested, sequence);
            assertThat(BthDescriptor.opcode(buffer, OFFSET)).isEqualTo(opcode);
            assertThat(BthDescriptor.isSolicited(buffer, OFFSET)).isEqualTo(isSolicited);
            assertThat(BthDescriptor.padBytes(buffer, OFFSET)).isEqualTo(pad);
            assertThat(BthDescriptor.version(buffer, OFFSET)).isZero();
            assertThat(BthDescriptor.partitionKey(buffer, OFFSET)).isEqualTo(0xFFFF);
            assertThat(BthDescriptor.destination(buffer, OFFSET)).isEqualTo(destination);
            assertThat(BthDescriptor.isAckRequested(buffer, OFFSET)).isEqualTo(isAckRequested);
            assertThat(BthDescriptor.sequence(buffer, OFFSET)).isEqualTo(sequence);
            assertUntouched(BthDescriptor.LENGTH_BYTES);
        }
    }

    @Test
    void shouldReadOtherHeadersAsWritten()
    {
        for (int round = 0; round < ROUNDS; round++)
        {
            final long address = random.nextLong();
            final long other = random.nextLong();
            final int key = random.nextInt();
            final int number = random.nextInt(1 << 24);
            fill();
            RethDescriptor.encode(buffer, OFFSET, address, key, (int)other);
            assertThat(RethDescriptor.address(buffer, OFFSET)).isEqualTo(address);
            assertThat(RethDescriptor.remoteKey(buffer, OFFSET)).isEqualTo(key);
            assertThat(RethDescriptor.dmaLength(buffer, OFFSET)).isEqualTo(other & 0xFFFF_FFFFL);
            assertUntouched(RethDescriptor.LENGTH_BYTES);
            fill();
            AtomicEthDescriptor.encode(buffer, OFFSET, address, key, other, ~other);
            assertThat(AtomicEthDescriptor.address(buffer, OFFSET)).isEqualTo(address);
            assertThat(AtomicEthDescriptor.remoteKey(buffer, OFFSET)).isEqualTo(key);
            assertThat(AtomicEthDescriptor.swapOrAdd(buffer, OFFSET)).isEqualTo(other);
            assertThat(AtomicEthDescriptor.compare(buffer, OFFSET)).isEqualTo(~other);
            assertUntouched(AtomicEthDescriptor.LENGTH_BYTES);
            fill();
            AethDescriptor.encode(buffer, OFFSET, key & 0xFF, number);
            assertThat(AethDescriptor.syndrome(buffer, OFFSET)).isEqualTo(key & 0xFF);
            assertThat(AethDescriptor.messageSequence(buffer, OFFSET)).isEqualTo(number);
            assertUntouched(AethDescriptor.LENGTH_BYTES);
            fill();
            AtomicAckEthDescriptor.encode(buffer, OFFSET, other);
            assertThat(AtomicAckEthDescriptor.original(buffer, OFFSET)).isEqualTo(other);
            assertUntouched(AtomicAckEthDescriptor.LENGTH_BYTES);
            fill();
            ImmDtDescriptor.encode(buffer, OFFSET, key);
            assertThat(ImmDtDescriptor.immediate(buffer, OFFSET)).isEqualTo(key);
            assertUntouched(ImmDtDescriptor.LENGTH_BYTES);
            fill();
            IethDescriptor.encode(buffer, OFFSET, key);
            assertThat(IethDescriptor.remoteKey(buffer, OFFSET)).isEqualTo(key);
            assertUntouched(IethDescriptor.LENGTH_BYTES);
            fill();
            DethDescriptor.encode(buffer, OFFSET, key, number);
            assertThat(DethDescriptor.qkey(buffer, OFFSET)).isEqualTo(key);
            assertThat(DethDescriptor.source(buffer, OFFSET)).isEqualTo(number);
            assertUntouched(DethDescriptor.LENGTH_BYTES);
            fill();
            final int small = random.nextInt(256);
            DcEthDescriptor.encode(buffer, OFFSET, address, key, small, number);
            assertThat(DcEthDescriptor.accessKey(buffer, OFFSET)).isEqualTo(address);
            assertThat(DcEthDescriptor.context(buffer, OFFSET)).isEqualTo(key);
            assertThat(DcEthDescriptor.mtuCode(buffer, OFFSET)).isEqualTo(small);
            assertThat(DcEthDescriptor.initiator(buffer, OFFSET)).isEqualTo(number);
            assertUntouched(DcEthDescriptor.LENGTH_BYTES);
            fill();
            DcAckEthDescriptor.encode(buffer, OFFSET, key);
            assertThat(DcAckEthDescriptor.context(buffer, OFFSET)).isEqualTo(key);
            assertUntouched(DcAckEthDescriptor.LENGTH_BYTES);
            fill();
            DcAcceptEthDescriptor.encode(buffer, OFFSET, key, small, number & 0xFF);
            assertThat(DcAcceptEthDescriptor.connection(buffer, OFFSET)).isEqualTo(key);
            assertThat(DcAcceptEthDescriptor.mtuCode(buffer, OFFSET)).isEqualTo(small);
            assertThat(DcAcceptEthDescriptor.depth(buffer, OFFSET)).isEqualTo(number & 0xFF);
            assertUntouched(DcAcceptEthDescriptor.LENGTH_BYTES);
        }
    }

    @Test
    void shouldLieAsTheSpecificationDrawsThem()
    {
        BthDescriptor.encode(buffer, 0, 0x0A, true, 2, 0x11_2233, true, 0x44_5566);
        RethDescriptor.encode(buffer, 12, 0x0102_0304_0506_0708L, 0x0A0B_0C0D, 0x99);
        assertThat(hex(28)).isEqualTo("0ae0ffff00112233804455660102030405060708" + "0a0b0c0d00000099");
        AtomicEthDescriptor.encode(buffer, 0, 0x0102_0304_0506_0708L, 0x0A0B_0C0D, 0x1111, 0x2222);
        assertThat(hex(28)).isEqualTo("01020304050607080a0b0c0d" + "0000000000001111" + "0000000000002222");
        AethDescriptor.encode(buffer, 0, AethDescriptor.REMOTE_ACCESS_ERROR, 0x01_0203);
        AtomicAckEthDescriptor.encode(buffer, 4, 0x0708);
        assertThat(hex(12)).isEqualTo("62010203" + "0000000000000708");
        DethDescriptor.encode(buffer, 0, 0x8001_0000, 0x01_0203);
        ImmDtDescriptor.encode(buffer, 8, 0x5566_7788);
        IethDescriptor.encode(buffer, 12, 0x1122_3344);
        assertThat(hex(16)).isEqualTo("80010000" + "00010203" + "55667788" + "11223344");
        DcEthDescriptor.encode(buffer, 0, 0x0102_0304_0506_0708L, 0x0A0B_0C0D, 5, 0x11_2233);
        DcAckEthDescriptor.encode(buffer, 16, 0x0E0F_1011);
        DcAcceptEthDescriptor.encode(buffer, 20, 0x2122_2324, 3, 16);
        assertThat(hex(28)).isEqualTo("01020304050607080a0b0c0d05112233" + "0e0f1011" + "2122232403100000");
    }

    @Test
    void shouldOrderSequenceNumbersAcrossTheWrap()
    {
        for (int round = 0; round < ROUNDS; round++)
        {
            final int sequence = random.nextInt(1 << 24);
            final int distance = random.nextInt(-PacketSequence.HALF, PacketSequence.HALF);
            final int other = PacketSequence.add(sequence, distance);
            assertThat(other).isBetween(0, PacketSequence.MASK);
            assertThat(PacketSequence.distance(other, sequence)).isEqualTo(distance);
        }
        assertThat(PacketSequence.distance(0, 0xFF_FFFF)).isEqualTo(1);
        assertThat(PacketSequence.distance(0xFF_FFFF, 0)).isEqualTo(-1);
        assertThat(PacketSequence.add(0xFF_FFFF, 1)).isZero();
    }

    private void fill()
    {
        buffer.setMemory(0, buffer.capacity(), (byte)0x5A);
    }

    private void assertUntouched(final int lengthBytes)
    {
        for (int i = 0; i < buffer.capacity(); i++)
        {
            if (i < OFFSET || i >= OFFSET + lengthBytes)
            {
                assertThat(buffer.getByte(i)).as("byte %d", i).isEqualTo((byte)0x5A);
            }
        }
    }

    private String hex(final int lengthBytes)
    {
        return HexFormat.of().formatHex(buffer.byteArray(), 0, lengthBytes);
    }
}
