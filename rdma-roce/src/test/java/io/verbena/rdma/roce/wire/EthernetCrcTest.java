package io.verbena.rdma.roce.wire;

import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.zip.CRC32;

import static org.assertj.core.api.Assertions.assertThat;

class EthernetCrcTest
{
    private static final int PLACE = 64;
    private static final int LINES = 3;

    private final ByteBuffer bytes =
        BufferUtil.allocateDirectAligned(2 * PLACE + RocePacket.MAX_LENGTH_BYTES, PLACE);
    private final UnsafeBuffer buffer = new UnsafeBuffer(bytes);
    private final byte[] original = new byte[bytes.capacity()];
    private EthernetCrc crc = new EthernetCrc(false);

    @BeforeEach
    void fill()
    {
        final SplittableRandom random = new SplittableRandom(6);
        random.nextBytes(original);
        buffer.putBytes(0, original);
    }

    /** Each length of some lines and each alignment, and each remainder of the longest packets. */
    @Test
    void shouldComputeWhatTheJdkComputes()
    {
        for (int before = 0; before < EthernetCrc.LINE_BYTES; before++)
        {
            for (int lengthBytes = 0; lengthBytes <= LINES * EthernetCrc.LINE_BYTES + PLACE; lengthBytes++)
            {
                assertSame(PLACE + before, lengthBytes);
            }
            for (int i = 0; i <= EthernetCrc.LINE_BYTES; i++)
            {
                assertSame(PLACE + before, RocePacket.MAX_LENGTH_BYTES - i);
            }
        }
    }

    @Test
    void shouldComputeTheSameWhereTheJdkComputesAll()
    {
        crc = new EthernetCrc(true);
        shouldComputeWhatTheJdkComputes();
        buffer.putBytes(0, original);
        compute(PLACE + 1, PLACE, EthernetCrc.LINE_BYTES - 1);
        assertThat(buffer.getByte(PLACE)).as("nothing is overwritten").isEqualTo(original[PLACE]);
    }

    @Test
    void shouldLeaveAllToTheJdkWhereTheProcessorHasVectors(@TempDir final Path folder) throws IOException
    {
        assertThat(isJdkQuick(folder, "flags\t\t: fpu avx512f avx512bw vpclmulqdq avx512vl sse sse")).isTrue();
        assertThat(isJdkQuick(folder, "flags\t\t: fpu avx512f avx512bw avx512vl")).isFalse();
        assertThat(isJdkQuick(folder, "model name\t: avx512f avx512bw vpclmulqdq avx512vl")).isFalse();
    }

    @Test
    void shouldKnowProcessorsWithoutTheList(@TempDir final Path folder)
    {
        final Path missing = folder.resolve("missing");
        assertThat(EthernetCrc.isJdkQuick("aarch64", missing)).isTrue();
        assertThat(EthernetCrc.isJdkQuick("riscv64", missing)).isFalse();
        assertThat(EthernetCrc.isJdkQuick("amd64", missing)).isFalse();
    }

    private static boolean isJdkQuick(final Path folder, final String line) throws IOException
    {
        return EthernetCrc.isJdkQuick(
            "amd64", Files.writeString(folder.resolve("cpuinfo"), "processor\t: 0\n" + line + "\n"));
    }

    /** A packet at the beginning of its memory, which need not be aligned, has nothing before it. */
    @Test
    void shouldOverwriteNoMoreThanItMay()
    {
        for (int before = 0; before < EthernetCrc.LINE_BYTES; before++)
        {
            for (int freeBytes = 0; freeBytes < EthernetCrc.LINE_BYTES; freeBytes++)
            {
                buffer.putBytes(0, original);
                final int offset = PLACE + before;
                assertThat(compute(offset, PLACE, freeBytes)).isEqualTo(ofJdk(offset, PLACE));
                for (int i = 0; i < original.length; i++)
                {
                    final boolean isFree = i < offset && i >= offset - freeBytes && i >= PLACE;
                    assertThat(isFree ? original[i] : buffer.getByte(i)).as("byte %d", i).isEqualTo(original[i]);
                }
            }
        }
    }

    private void assertSame(final int offset, final int lengthBytes)
    {
        buffer.putBytes(0, original);
        assertThat(compute(offset, lengthBytes, EthernetCrc.LINE_BYTES - 1))
            .as("%d bytes at %d", lengthBytes, offset).isEqualTo(ofJdk(offset, lengthBytes));
    }

    private int compute(final int offset, final int lengthBytes, final int freeBytes)
    {
        return crc.compute(bytes, buffer.addressOffset(), offset, lengthBytes, freeBytes);
    }

    private int ofJdk(final int offset, final int lengthBytes)
    {
        final CRC32 jdk = new CRC32();
        jdk.update(original, offset, lengthBytes);
        return (int)jdk.getValue();
    }
}
