package io.verbena.table.format;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class SuperblockDescriptorTest
{
    private static final Superblock SUPERBLOCK =
        new Superblock(0x1234, 0x7FFFFFFE, 1L << 33, 4096, 1 << 18, 32767, 4096 + (32767L << 18));

    @Test
    void shouldMatchGoldenBytes() throws IOException
    {
        try (Arena arena = Arena.ofConfined();
            InputStream in = SuperblockDescriptorTest.class.getResourceAsStream("superblock-3.hex"))
        {
            final byte[] bytes = written(arena).toArray(ValueLayout.JAVA_BYTE);
            assertThat(HexFormat.of().formatHex(bytes))
                .isEqualTo(new String(in.readAllBytes(), StandardCharsets.US_ASCII).trim());
        }
    }

    /** Its slots are empty or full; that is all that an emptied word adds. */
    @Test
    void shouldReadTheVersionBeforeAndWriteItsOwn() throws IOException
    {
        try (Arena arena = Arena.ofConfined();
            InputStream in = SuperblockDescriptorTest.class.getResourceAsStream("superblock-2.hex"))
        {
            final MemorySegment region = arena.allocate(SuperblockDescriptor.SPACE_BYTES, Long.BYTES);
            final byte[] before =
                HexFormat.of().parseHex(new String(in.readAllBytes(), StandardCharsets.US_ASCII).trim());
            MemorySegment.copy(before, 0, region, ValueLayout.JAVA_BYTE, 0, before.length);
            assertThat(SuperblockDescriptor.recover(region)).isEqualTo(SUPERBLOCK);
            SuperblockDescriptor.writeBoth(region, SUPERBLOCK);
            assertThat(region.get(ValueLayout.JAVA_BYTE, SuperblockDescriptor.VERSION_OFFSET)).isEqualTo((byte)3);
            region.set(ValueLayout.JAVA_BYTE, SuperblockDescriptor.VERSION_OFFSET, (byte)1);
            assertThatThrownBy(() -> SuperblockDescriptor.read(region)).hasMessageContaining("version 1");
        }
    }

    @Test
    void shouldReadBackWhatWasWritten()
    {
        try (Arena arena = Arena.ofConfined())
        {
            assertThat(SuperblockDescriptor.read(written(arena))).isEqualTo(SUPERBLOCK);
        }
    }

    @Test
    void shouldRefuseSuperblockWhenAnyBitIsFlipped()
    {
        try (Arena arena = Arena.ofConfined())
        {
            for (int bit = 0; bit < SuperblockDescriptor.LENGTH * 8; bit++)
            {
                final MemorySegment segment = written(arena);
                final byte old = segment.get(ValueLayout.JAVA_BYTE, bit / 8);
                segment.set(ValueLayout.JAVA_BYTE, bit / 8, (byte)(old ^ 1 << bit % 8));
                assertThatThrownBy(() -> SuperblockDescriptor.read(segment))
                    .as("bit %d", bit)
                    .isInstanceOf(FormatException.class);
            }
        }
    }

    @Test
    void shouldNameTheVersionWhenItIsUnknown()
    {
        try (Arena arena = Arena.ofConfined())
        {
            final MemorySegment segment = written(arena);
            segment.set(ValueLayout.JAVA_BYTE, SuperblockDescriptor.VERSION_OFFSET, (byte)9);

            assertThatThrownBy(() -> SuperblockDescriptor.read(segment))
                .isInstanceOf(FormatException.class)
                .hasMessageContaining("version 9")
                .hasMessageContaining("version 3");
        }
    }

    @Test
    void shouldRefuseMemoryWhenItIsNoneOrTooShort()
    {
        try (Arena arena = Arena.ofConfined())
        {
            final MemorySegment zeroes = arena.allocate(SuperblockDescriptor.LENGTH, Long.BYTES);
            assertThatThrownBy(() -> SuperblockDescriptor.read(zeroes)).isInstanceOf(FormatException.class);
            assertThatThrownBy(() -> SuperblockDescriptor.read(written(arena).asSlice(0, 60)))
                .isInstanceOf(FormatException.class);
        }
    }

    @Test
    void shouldBeDocumentedWithTheseOffsets() throws Exception
    {
        final String page = Files.readString(Path.of("..", "docs", "format", "superblock.md"));

        for (final Field field : SuperblockDescriptor.class.getDeclaredFields())
        {
            if (field.getName().endsWith("_OFFSET") || field.getName().endsWith("LENGTH") ||
                field.getName().endsWith("_BYTES"))
            {
                assertThat(page).contains("| " + field.getInt(null) + " | `" + field.getName() + "` |");
            }
        }

        assertThat(page).contains("Format version: " + SuperblockDescriptor.FORMAT_VERSION + "\n");
    }

    private static MemorySegment written(final Arena arena)
    {
        final MemorySegment segment = arena.allocate(SuperblockDescriptor.LENGTH, Long.BYTES);
        SuperblockDescriptor.write(segment, SUPERBLOCK);
        return segment;
    }
}
