package io.verbena.table.format;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Random;
import net.openhft.hashing.LongHashFunction;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class BlockChecksumTest
{
    private static final ValueLayout.OfLong WORD =
        ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final int LONGEST = BlockChecksum.MAX_SHORT_BYTES + 40;

    @Test
    void shouldBeTheLibrarysFunctionForEveryLength()
    {
        final Random random = new Random(7);
        try (Arena arena = Arena.ofConfined())
        {
            for (int length = BlockChecksum.MIN_BYTES; length <= LONGEST; length++)
            {
                // Ends where the memory ends, and begins at no multiple of 8.
                final byte[] bytes = new byte[length];
                random.nextBytes(bytes);
                final MemorySegment block = arena.allocate(length, 1).copyFrom(MemorySegment.ofArray(bytes));
                final long word = random.nextLong();
                final long checksum = BlockChecksum.of(block.address(), length, word);
                assertThat(block.toArray(ValueLayout.JAVA_BYTE)).as("left as it was").isEqualTo(bytes);
                block.set(WORD, 0, word);
                assertThat(checksum).as("length %d", length)
                    .isEqualTo(LongHashFunction.xx3().hashMemory(block.address(), length));
            }
        }
    }

    @Test
    void shouldDependOnEveryByte()
    {
        try (Arena arena = Arena.ofConfined())
        {
            for (final int length : new int[]{65, 97, 129, 180, 240})
            {
                final MemorySegment block = arena.allocate(length);
                final long whole = BlockChecksum.of(block.address(), length, 0);
                for (int at = Long.BYTES; at < length; at++)
                {
                    block.set(ValueLayout.JAVA_BYTE, at, (byte)1);
                    assertThat(BlockChecksum.of(block.address(), length, 0)).as("byte %d", at).isNotEqualTo(whole);
                    block.set(ValueLayout.JAVA_BYTE, at, (byte)0);
                }
                assertThat(BlockChecksum.of(block.address(), length, 1)).isNotEqualTo(whole);
            }
        }
    }
}
