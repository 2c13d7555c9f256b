package io.verbena.table.format;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Bytes of each format as they were when it was settled; who changes them has to raise the version. */
class FormatGoldenBytesTest
{
    private static final String GOLDEN = "/io/verbena/table/format/golden.txt";
    private static final String DESCRIPTOR_2 = "table-descriptor-version-2";
    private static final String DESCRIPTOR_1 = "table-descriptor-version-1";
    private static final long SEED = 0x0123456789ABCDEFL;
    private static final int TABLE_ID = 0x7AB1E001;

    private static Map<String, String> golden() throws IOException
    {
        final Map<String, String> lines = new TreeMap<>();
        try (InputStream in = FormatGoldenBytesTest.class.getResourceAsStream(GOLDEN))
        {
            new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().filter(line -> !line.startsWith("#"))
                .forEach(line ->
                    lines.put(line.substring(0, line.indexOf(' ')), line.substring(line.indexOf(' ') + 1)));
        }
        return lines;
    }

    @Test
    void shouldWriteTheBytesThatWereSettled() throws IOException
    {
        final Map<String, String> now = new TreeMap<>();
        try (Arena arena = Arena.ofConfined())
        {
            final MemorySegment key = arena.allocateFrom("golden key").asSlice(0, 10);
            final KeyHash hash = new KeyHash();
            hash.compute(KeyHash.function(SEED), key);
            now.put("key-hash", String.format("%016x %016x", hash.low(), hash.high()));

            final long word = SlotWord.committed(KeyHash.fingerprint(hash.high()), KeyHash.window(hash.high(), 3),
                BlockVersion.slotBits(0x123456789ABC0007L), SizeClasses.classFor(80), 0x1_2345_6740L);
            now.put("slot-word", String.format("%016x %016x %016x", word,
                SlotWord.withKind(word, SlotWord.KIND_TENTATIVE), SlotWord.withKind(word, SlotWord.KIND_FROZEN)));
            now.put("bucket-header", String.format("%016x", BucketDescriptor.header(TABLE_ID, 5, 3)));
            final long link = SplitLink.of(0x12345640L, 0x1_2345_6740L);
            now.put("split-link", String.format("%016x %016x", link, SplitLink.complete(link)));
            now.put("directory-entry", String.format("%016x", DirectoryEntry.stable(3, 0xFFFE, 0x12345640L)));

            final UnsafeBuffer buffer = new UnsafeBuffer(arena.allocate(128, 64).address(), 128);
            buffer.putBytes(BlockDescriptor.KEY_OFFSET, "golden keyvalue!".getBytes(StandardCharsets.UTF_8));
            BlockDescriptor.writeHeader(
                buffer, 0, TABLE_ID, 10, 6, 0x123456789ABC0007L, 77, 99, hash.high(), 0, 0, 0);
            BlockDescriptor.seal(buffer, 0, word);
            now.put("block", hex(buffer, 80));

            SubtableDescriptor.write(buffer, 0, TABLE_ID, 5, 3, 341, SEED, 0x2340);
            now.put("subtable", hex(buffer, SubtableDescriptor.HEADER_BYTES));

            ChunkDescriptor.write(buffer, 0, ChunkDescriptor.STATE_ORPHAN, 0xFFFE, 0x7FFFFFFF, 7, 99, 1L << 40, 0);
            now.put("chunk-header", hex(buffer, ChunkDescriptor.HEADER_BYTES));
        }
        now.put("table-descriptor", HexFormat.of().formatHex(uneven(1).encode()));
        final Map<String, String> golden = golden();
        golden.remove(DESCRIPTOR_1);
        golden.remove(DESCRIPTOR_2);
        assertThat(now).isEqualTo(golden);
    }

    private static TableDescriptor uneven(final int leastDepth)
    {
        return new TableDescriptor("golden", TABLE_ID, 2, leastDepth, 341, SEED,
            new long[]{DirectoryEntry.stable(1, 1, 4096), DirectoryEntry.stable(2, 2, 8192),
                DirectoryEntry.stable(1, 1, 4096), DirectoryEntry.stable(2, 2, 65_536)});
    }

    /** They do not say how deep the table was made: it does not get below what it is. */
    @Test
    void shouldReadTableDescriptorsOfVersionsBefore() throws IOException
    {
        assertThat(TableDescriptor.decode(HexFormat.of().parseHex(golden().get(DESCRIPTOR_2)))).isEqualTo(uneven(2));
        final TableDescriptor read = TableDescriptor.decode(HexFormat.of().parseHex(golden().get(DESCRIPTOR_1)));
        assertThat(read).isEqualTo(new TableDescriptor("golden", TABLE_ID, 1, 341, SEED,
            new long[]{DirectoryEntry.stable(1, 1, 4096), DirectoryEntry.stable(1, 2, 8192)}));
    }

    private static String hex(final UnsafeBuffer buffer, final int length)
    {
        final byte[] bytes = new byte[length];
        buffer.getBytes(0, bytes);
        return HexFormat.of().formatHex(bytes);
    }
}
