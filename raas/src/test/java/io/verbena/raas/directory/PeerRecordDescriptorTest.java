package io.verbena.raas.directory;

import io.verbena.raas.ReadTargetAddress;
import io.verbena.raas.RemoteRegion;
import io.verbena.rdma.verbs.DeviceAddress;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.SplittableRandom;

import static org.assertj.core.api.Assertions.assertThat;

class PeerRecordDescriptorTest
{
    private static final String GOLDEN =
        "1e0adb85728db276" +
        "0200020034120000" + "0700000039300000" +
        "0807060504030201" + "1817161514131211" +
        "2a00000000000000" + "0010000000000100" + "0000000002000000" + "efbeadde67452301" +
        "2827262524232221" + "3837363534333231" +
        "4847464544434241" + "5857565554535251" + "eb180000" + "00".repeat(20);

    @Test
    void shouldWriteTheseBytes()
    {
        final PeerRecord record = new PeerRecord(
            0x1234,
            7,
            42,
            NodeRole.MEMORY_NODE,
            new DeviceAddress(0x0102030405060708L, 0x1112131415161718L, 0x2122232425262728L),
            12_345,
            new RemoteRegion(0x1_0000_0000_1000L, 1L << 33, 0xDEAD_BEEF),
            new ReadTargetAddress(0x0123_4567, 0x3132_3334_3536_3738L),
            new TcpAddress(0x4142_4344_4546_4748L, 0x5152_5354_5556_5758L, 6_379));
        final byte[] bytes = new byte[PeerRecordDescriptor.RECORD_LENGTH_BYTES];
        final UnsafeBuffer buffer = new UnsafeBuffer(bytes);
        PeerRecordDescriptor.encode(record, buffer, 0);
        assertThat(HexFormat.of().formatHex(bytes)).isEqualTo(GOLDEN);
        assertThat(PeerRecordDescriptor.decode(buffer, 0)).isEqualTo(record);
    }

    @Test
    void shouldFindTheSameChecksumInNativeMemoryAndSeeEveryFlippedBit()
    {
        final SplittableRandom random = new SplittableRandom(11);
        final byte[] bytes = new byte[3 * PeerRecordDescriptor.RECORD_LENGTH_BYTES];
        final UnsafeBuffer heap = new UnsafeBuffer(bytes, 64, 256);
        final UnsafeBuffer direct = new UnsafeBuffer(ByteBuffer.allocateDirect(512), 128, 256);
        final int offset = 40;
        final PeerRecord record = new PeerRecord(
            random.nextInt(), random.nextInt(), random.nextLong(), NodeRole.COMPUTE_NODE,
            new DeviceAddress(random.nextLong(), random.nextLong(), random.nextLong()), random.nextInt(),
            new RemoteRegion(random.nextLong(), random.nextLong(), random.nextInt()));
        PeerRecordDescriptor.encode(record, heap, offset);
        direct.putBytes(0, heap, 0, 256);
        assertThat(PeerRecordDescriptor.isValid(direct, offset)).isTrue();
        assertThat(PeerRecordDescriptor.decode(direct, offset)).isEqualTo(record);
        for (int bit = 0; bit < PeerRecordDescriptor.RECORD_LENGTH_BYTES * 8; bit++)
        {
            final int at = offset + bit / 8;
            direct.putByte(at, (byte)(direct.getByte(at) ^ 1 << bit % 8));
            assertThat(PeerRecordDescriptor.isValid(direct, offset)).as("bit %s", bit).isFalse();
            direct.putByte(at, (byte)(direct.getByte(at) ^ 1 << bit % 8));
        }
    }
}
