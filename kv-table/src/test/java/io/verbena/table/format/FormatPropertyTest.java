package io.verbena.table.format;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class FormatPropertyTest
{
    private static final long SEED = 20_261_121;
    private static final int ROUNDS = 5_000;

    private final Random random = new Random(SEED);

    @Test
    void shouldReadBackEveryFieldOfASlotWord()
    {
        for (int i = 0; i < ROUNDS; i++)
        {
            final int fingerprint = random.nextInt(1 << SlotWord.FINGERPRINT_BITS);
            final int window = random.nextInt(1 << SlotWord.WINDOW_BITS);
            final int version = random.nextInt(1 << SlotWord.VERSION_BITS);
            final int sizeClass = random.nextInt(SizeClasses.COUNT);
            final long offset = (1 + random.nextLong((1L << SlotWord.OFFSET_BITS) - 1)) * 64;
            final long committed = SlotWord.committed(fingerprint, window, version, sizeClass, offset);
            for (int kind = SlotWord.KIND_COMMITTED; kind <= SlotWord.KIND_FROZEN; kind++)
            {
                final long word = SlotWord.withKind(committed, kind);
                assertThat(SlotWord.kind(word)).as("seed %d", SEED).isEqualTo(kind);
                assertThat(SlotWord.fingerprint(word)).isEqualTo(fingerprint);
                assertThat(SlotWord.window(word)).isEqualTo(window);
                assertThat(SlotWord.versionBits(word)).isEqualTo(version);
                assertThat(SlotWord.sizeClass(word)).isEqualTo(sizeClass);
                assertThat(SlotWord.blockOffset(word)).isEqualTo(offset);
                assertThat(word).isNotIn(SlotWord.EMPTY, SlotWord.UNINITIALISED);
                assertThat(SlotWord.withKind(word, SlotWord.KIND_COMMITTED)).isEqualTo(committed);
            }
        }
        assertThat(SlotWord.withKind(0, SlotWord.KIND_FROZEN)).isNotIn(SlotWord.EMPTY, SlotWord.UNINITIALISED);
        assertThat(SlotWord.isRestructuring(SlotWord.withKind(0, SlotWord.KIND_FROZEN))).isTrue();
        assertThat(SlotWord.isCommitted(SlotWord.UNINITIALISED)).isFalse();
        assertThat(SlotWord.isTentative(SlotWord.UNINITIALISED)).isFalse();
    }

    @Test
    void shouldTellEmptiedWordsFromAllOthers()
    {
        for (int i = 0; i < ROUNDS; i++)
        {
            final int writer = random.nextInt(BlockVersion.MAX_WRITER_NUMBER + 1);
            final long count = random.nextLong(1L << SlotWord.EMPTIED_COUNT_BITS);
            final long word = SlotWord.emptied(writer, count);
            assertThat(SlotWord.isEmpty(word)).as("seed %d", SEED).isTrue();
            assertThat(word).isNotIn(SlotWord.EMPTY, SlotWord.UNINITIALISED, SlotWord.RESERVED);
            assertThat(SlotWord.namesBlock(word) || SlotWord.isTentative(word) || SlotWord.isRestructuring(word))
                .isFalse();
            assertThat(SlotWord.frozen(word)).isEqualTo(SlotWord.frozen(SlotWord.EMPTY));
            assertThat(SlotWord.toString(word)).isEqualTo("emptied{writer=" + writer + " count=" + count + '}');
            final long next = SlotWord.emptied(writer, count + 1);
            assertThat(next).isNotEqualTo(word).isEqualTo(
                SlotWord.emptied(writer, count + 1 + (1L << SlotWord.EMPTIED_COUNT_BITS)));
            assertThat(SlotWord.emptied(writer ^ 1, count)).isNotEqualTo(word);
            // The same bits under another kind, and words whose low bits are not the tag.
            for (int kind = SlotWord.KIND_COMMITTED; kind <= SlotWord.KIND_FROZEN; kind++)
            {
                assertThat(SlotWord.isEmpty(SlotWord.withKind(word, kind))).isFalse();
            }
            for (int bit = 0; bit < SlotWord.EMPTIED_TAG_BITS; bit++)
            {
                assertThat(SlotWord.isEmpty(word ^ 1L << bit)).isFalse();
            }
        }
        assertThat(SlotWord.isEmpty(SlotWord.EMPTY)).isTrue();
        assertThat(SlotWord.isEmpty(SlotWord.UNINITIALISED) || SlotWord.isEmpty(SlotWord.RESERVED)).isFalse();
    }

    @Test
    void shouldReadBackEveryFieldOfHeadersAndEntries()
    {
        for (int i = 0; i < ROUNDS; i++)
        {
            final int tableId = random.nextInt();
            final int depth = random.nextInt(BucketDescriptor.MAX_DEPTH + 1);
            final int suffix = random.nextInt(1 << depth);
            final long header = BucketDescriptor.header(tableId, suffix, depth);
            assertThat(BucketDescriptor.tableId(header)).as("seed %d", SEED).isEqualTo(tableId);
            assertThat(BucketDescriptor.suffix(header)).isEqualTo(suffix);
            assertThat(BucketDescriptor.depth(header)).isEqualTo(depth);
            assertThat(BucketDescriptor.formatVersion(header)).isEqualTo(BucketDescriptor.FORMAT_VERSION);
            final int node = 1 + random.nextInt(65_535);
            final long offset = random.nextLong(1L << SlotWord.OFFSET_BITS) * 64;
            final long entry = DirectoryEntry.stable(depth, node, offset);
            assertThat(DirectoryEntry.memoryNodeId(entry)).isEqualTo(node);
            assertThat(DirectoryEntry.depth(entry)).isEqualTo(depth);
            assertThat(DirectoryEntry.subtableOffset(entry)).isEqualTo(offset);
            DirectoryEntry.check(entry);
        }
    }

    @Test
    void shouldReadBackBothOffsetsOfSplitLinks()
    {
        for (int i = 0; i < ROUNDS; i++)
        {
            final long offset0 = (1 + random.nextLong((1L << SlotWord.OFFSET_BITS) - 1)) * 64;
            final long offset1 = (1 + random.nextLong((1L << SlotWord.OFFSET_BITS) - 1)) * 64;
            final long link = SplitLink.of(offset0, offset1);
            final long complete = SplitLink.complete(link);
            assertThat(SplitLink.offset(link, 0)).as("seed %d", SEED).isEqualTo(offset0);
            assertThat(SplitLink.offset(link, 1)).isEqualTo(offset1);
            assertThat(SplitLink.offset(complete, 0)).isEqualTo(offset0);
            assertThat(SplitLink.offset(complete, 1)).isEqualTo(offset1);
            assertThat(SplitLink.underWay(complete)).isEqualTo(link);
            assertThat(SplitLink.isComplete(link)).isFalse();
            assertThat(SplitLink.isComplete(complete)).isTrue();
            assertThat(SplitLink.isLink(link)).isTrue();
            // A bucket header of any shape is no link.
            assertThat(SplitLink.isLink(BucketDescriptor.header(random.nextInt(), random.nextInt(1 << 20),
                random.nextInt(BucketDescriptor.MAX_DEPTH + 1)))).isFalse();
        }
    }

    @Test
    void shouldTellTheSideOfEachSplitFromTheWindow()
    {
        for (int i = 0; i < ROUNDS; i++)
        {
            final long high = random.nextLong();
            final int depth = random.nextInt(BucketDescriptor.MAX_DEPTH);
            final long word = SlotWord.committed(KeyHash.fingerprint(high), KeyHash.window(high, depth), 3, 2, 64);
            final int side = KeyHash.suffix(high, depth + 1) >>> depth;
            assertThat(SlotWord.side(word, depth)).as("seed %d, depth %d", SEED, depth).isEqualTo(side);
            assertThat(SlotWord.side(SlotWord.frozen(word), depth)).isEqualTo(side);
            final long moved = SlotWord.withWindow(word, KeyHash.window(high, depth + 1));
            assertThat(moved != word && !SlotWord.beginsWindow(depth + 1)).isFalse();
            assertThat(SlotWord.withoutWindow(moved)).isEqualTo(SlotWord.withoutWindow(word));
        }
    }

    @Test
    void shouldHoldEveryLengthInTheSmallestClass()
    {
        for (int length = 1; length <= SizeClasses.MAX_BLOCK_BYTES; length++)
        {
            final int sizeClass = SizeClasses.classFor(length);
            assertThat(SizeClasses.lengthBytes(sizeClass)).isGreaterThanOrEqualTo(length);
            if (sizeClass > 0)
            {
                assertThat(SizeClasses.lengthBytes(sizeClass - 1)).isLessThan(length);
            }
        }
    }

    @Test
    void shouldNoticeAnyChangedByteOfABlock()
    {
        try (Arena arena = Arena.ofConfined())
        {
            final UnsafeBuffer buffer = new UnsafeBuffer(arena.allocate(4096, 64).address(), 4096);
            for (int i = 0; i < 300; i++)
            {
                final int keyLength = 1 + random.nextInt(100);
                final int valueLength = random.nextInt(300);
                final int length = BlockDescriptor.recordLength(keyLength, valueLength);
                final int sizeClass = SizeClasses.classFor(length);
                final long word = SlotWord.committed(1, 2, random.nextInt(256), sizeClass, 64L * (1 + i));
                for (int at = 64; at < length; at++)
                {
                    buffer.putByte(at, (byte)random.nextInt());
                }
                BlockDescriptor.writeHeader(buffer, 0, 5, keyLength, valueLength, 7L << 16, 1, i, random.nextLong(),
                    random.nextLong(), 0, 0);
                BlockDescriptor.seal(buffer, 0, word);
                final int read = SizeClasses.lengthBytes(sizeClass);
                assertThat(BlockDescriptor.isValid(buffer, 0, read, word)).as("seed %d", SEED).isTrue();
                assertThat(BlockDescriptor.isValid(buffer, 0, read, word ^ 1L << otherBit())).isFalse();
                assertThat(BlockDescriptor.isValid(buffer, 0, read, SlotWord.withWindow(word, 9))).isTrue();
                final int changed = random.nextInt(length);
                final byte before = buffer.getByte(changed);
                buffer.putByte(changed, (byte)(before + 1 + random.nextInt(255)));
                assertThat(BlockDescriptor.isValid(buffer, 0, read, word)).isFalse();
                buffer.putByte(changed, before);
                assertThat(BlockDescriptor.isValid(buffer, 0, read, word)).isTrue();
            }
        }
    }

    /** Their checksums are right: written by another version, or damaged before they were sealed. */
    @Test
    void shouldRefuseSealedBlocksOfAnotherFormatOrOfNegativeLength()
    {
        try (Arena arena = Arena.ofConfined())
        {
            final UnsafeBuffer buffer = new UnsafeBuffer(arena.allocate(4096, 64).address(), 4096);
            final long word = SlotWord.committed(1, 2, 3, SizeClasses.classFor(256), 64);
            BlockDescriptor.writeHeader(buffer, 0, 5, 100, 50, 7L << 16, 1, 9, 11, 13, 0, 0);
            BlockDescriptor.seal(buffer, 0, word);
            assertThat(BlockDescriptor.isValid(buffer, 0, 256, word)).isTrue();
            buffer.putByte(BlockDescriptor.FORMAT_OFFSET, (byte)(BlockDescriptor.FORMAT_VERSION + 1));
            BlockDescriptor.seal(buffer, 0, word);
            assertThat(BlockDescriptor.isValid(buffer, 0, 256, word)).as("format").isFalse();
            BlockDescriptor.writeHeader(buffer, 0, 5, 100, -1, 7L << 16, 1, 9, 11, 13, 0, 0);
            BlockDescriptor.seal(buffer, 0, word);
            assertThat(BlockDescriptor.isValid(buffer, 0, 256, word)).as("length").isFalse();
        }
    }

    @Test
    void shouldRefuseBlocksOfAbsurdLengthsWithoutReadingThem()
    {
        try (Arena arena = Arena.ofConfined())
        {
            final UnsafeBuffer buffer = new UnsafeBuffer(arena.allocate(64, 64).address(), 64);
            for (int i = 0; i < ROUNDS; i++)
            {
                for (int at = 0; at < 64; at += 8)
                {
                    buffer.putLong(at, random.nextLong());
                }
                buffer.putByte(BlockDescriptor.FORMAT_OFFSET, (byte)BlockDescriptor.FORMAT_VERSION);
                assertThat(BlockDescriptor.isValid(buffer, 0, 64, random.nextLong())).isFalse();
            }
        }
    }

    @Test
    void shouldReadBackTableDescriptors()
    {
        for (int i = 0; i < 200; i++)
        {
            final int depth = random.nextInt(6);
            final long[] entries = random.longs(1 << depth).map(bits ->
                DirectoryEntry.stable(depth, (int)(bits & 0xFFFF), (bits >>> 40) * 64)).toArray();
            final TableDescriptor table = new TableDescriptor("täble-" + i, 1 + random.nextInt(1 << 30), depth,
                random.nextInt(depth + 1), 1 + random.nextInt(1000), random.nextLong(), entries);
            final byte[] bytes = table.encode();
            assertThat(TableDescriptor.decode(bytes)).as("seed %d", SEED).isEqualTo(table);
            final byte[] damaged = bytes.clone();
            damaged[random.nextInt(bytes.length)] ^= (byte)(1 + random.nextInt(255));
            assertThatThrownBy(() -> TableDescriptor.decode(damaged)).isInstanceOf(FormatException.class);
            final byte[] cut = Arrays.copyOf(bytes, random.nextInt(bytes.length));
            assertThatThrownBy(() -> TableDescriptor.decode(cut)).isInstanceOf(FormatException.class);
        }
    }

    @Test
    void shouldReadBackTableDescriptorsOfUnevenDepth()
    {
        for (int i = 0; i < 50; i++)
        {
            final int unit = 64 << random.nextInt(14);
            final int nodes = 1 + random.nextInt(5);
            final List<Integer> depths = new ArrayList<>(List.of(0));
            final List<Integer> suffixes = new ArrayList<>(List.of(0));
            for (int splits = random.nextInt(600); splits > 0; splits--)
            {
                final int split = random.nextInt(depths.size());
                if (depths.get(split) < 12)
                {
                    depths.set(split, depths.get(split) + 1);
                    depths.add(depths.get(split));
                    suffixes.add(suffixes.get(split) | 1 << depths.get(split) - 1);
                }
            }
            final int depth = depths.stream().mapToInt(Integer::intValue).max().orElseThrow();
            final long[] entries = new long[1 << depth];
            for (int subtable = 0; subtable < depths.size(); subtable++)
            {
                final long entry = DirectoryEntry.stable(depths.get(subtable), 1 + 900 * random.nextInt(nodes),
                    4096 + (long)random.nextInt(1 << 15) * unit);
                for (int at = suffixes.get(subtable); at < entries.length; at += 1 << depths.get(subtable))
                {
                    entries[at] = entry;
                }
            }
            final TableDescriptor table = new TableDescriptor("uneven", 9, depth, 1365, 3, entries);
            final byte[] bytes = table.encode();
            final TableDescriptor read = TableDescriptor.decode(bytes);
            for (int at = 0; at < entries.length; at++)
            {
                assertThat(read.entry(at)).as("seed %d", SEED).isEqualTo(entries[at]);
            }
            assertThat(read.distinctSubtables()).isEqualTo(depths.size());
            assertThat(bytes).hasSizeLessThanOrEqualTo(TableDescriptor.lengthBytes(6, depths.size(), nodes, 15));
        }
    }

    @Test
    void shouldRefuseEntriesThatAreNoDirectory()
    {
        assertThatThrownBy(() -> new TableDescriptor("t", 1, 1, 1, 2,
            new long[]{DirectoryEntry.stable(0, 1, 64), DirectoryEntry.stable(1, 1, 128)}))
            .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("3 entries");
        assertThatThrownBy(() -> new TableDescriptor("t", 1, 1, 1, 2,
            new long[]{DirectoryEntry.stable(2, 1, 64), DirectoryEntry.stable(1, 1, 128)}))
            .hasMessageContaining("entry 0 of depth 2");
        assertThatThrownBy(() -> new TableDescriptor("t", 1, 1, 1, 2,
            new long[]{DirectoryEntry.stable(1, 1, 64), DirectoryEntry.stable(0, 1, 64)}))
            .hasMessageContaining("entry 1 of depth 0");
    }

    @Test
    void shouldNameTenMillionRecordsInOneMessage()
    {
        // Subtables of 256 KiB at 0.85 fill: 411 of them; a split of each leaves twice as many.
        assertThat(TableDescriptor.lengthBytes(32, 2 * 411, 1, DirectoryEntry.OFFSET_BITS)).isLessThan(3_584);
        assertThat(TableDescriptor.lengthBytes(32, 1_600, 1, 15)).isLessThan(3_584);
    }

    @Test
    void shouldRefuseUnknownVersionsByName()
    {
        final byte[] bytes = new TableDescriptor("t", 1, 0, 1, 2, new long[]{DirectoryEntry.stable(0, 1, 64)}).encode();
        bytes[TableDescriptor.FORMAT_OFFSET] = 9;
        assertThatThrownBy(() -> TableDescriptor.decode(bytes)).isInstanceOf(FormatException.class)
            .hasMessageContaining("'table descriptor'").hasMessageContaining("found=9").hasMessageContaining("known=3");
        assertThatThrownBy(() -> DirectoryEntry.check(2L << DirectoryEntry.STATE_SHIFT))
            .hasMessageContaining("'directory entry state'");
        try (Arena arena = Arena.ofConfined())
        {
            final UnsafeBuffer buffer = new UnsafeBuffer(arena.allocate(64, 64).address(), 64);
            SubtableDescriptor.write(buffer, 0, 1, 0, 0, 1, 1, 0);
            SubtableDescriptor.check(buffer, 0);
            buffer.putByte(SubtableDescriptor.FORMAT_OFFSET, (byte)3);
            assertThatThrownBy(() -> SubtableDescriptor.check(buffer, 0)).hasMessageContaining("'subtable'");
            buffer.putByte(SubtableDescriptor.FORMAT_OFFSET, (byte)SubtableDescriptor.FORMAT_VERSION);
            buffer.putByte(SubtableDescriptor.SUFFIX_OFFSET, (byte)1);
            assertThatThrownBy(() -> SubtableDescriptor.check(buffer, 0)).hasMessageContaining("damaged");
            buffer.putByte(0, (byte)0);
            assertThatThrownBy(() -> SubtableDescriptor.check(buffer, 0)).hasMessageContaining("not a subtable");
        }
    }

    /** Of which the lower half is stored: also where that begins anew between the merge and the reader. */
    @Test
    void shouldReadTheEpochOfAMergeNextToThePresentOne()
    {
        try (Arena arena = Arena.ofConfined())
        {
            final UnsafeBuffer buffer = new UnsafeBuffer(arena.allocate(64, 64).address(), 64);
            for (int i = 0; i < ROUNDS; i++)
            {
                final long present = random.nextLong(1L << 40) + Integer.MAX_VALUE;
                final long began = present - random.nextLong(Integer.MAX_VALUE) + random.nextInt(3);
                SubtableDescriptor.write(buffer, 0, 1, 0, 0, 1, 1, 64, 128, began);
                SubtableDescriptor.check(buffer, 0);
                assertThat(SubtableDescriptor.epoch(buffer, 0, present)).as("seed %d", SEED).isEqualTo(began);
            }
        }
    }

    @Test
    void shouldGiveVersionsThatOnlyEverGrowAndNeverMeet()
    {
        long last = 0;
        for (int i = 0; i < ROUNDS; i++)
        {
            final long clock = random.nextLong(1L << 40);
            final long replaced = random.nextLong(1L << 40);
            final long version = BlockVersion.next(last, clock, replaced, 7);
            assertThat(version).as("seed %d", SEED).isGreaterThan(last).isGreaterThan(replaced);
            assertThat(BlockVersion.writerNumber(version)).isEqualTo(7);
            last = version;
        }
    }

    @Test
    void shouldSpreadKeysEvenlyAndIndependently()
    {
        final KeyHash hash = new KeyHash();
        final int groups = 10;
        final int[][] together = new int[groups][groups];
        final int[] fingerprints = new int[16];
        try (Arena arena = Arena.ofConfined())
        {
            final MemorySegment key = arena.allocate(8, 8);
            for (long i = 0; i < 100_000; i++)
            {
                key.set(ValueLayout.JAVA_LONG, 0, i);
                hash.compute(KeyHash.function(1), key);
                together[KeyHash.group1(hash.low(), groups)][KeyHash.group2(hash.low(), groups)]++;
                fingerprints[KeyHash.fingerprint(hash.high()) & 15]++;
            }
        }
        for (final int[] row : together)
        {
            for (final int count : row)
            {
                assertThat(count).isBetween(800, 1200);
            }
        }
        for (final int count : fingerprints)
        {
            assertThat(count).isBetween(5900, 6600);
        }
    }

    /** A bit of a committed word that is neither kind nor window. */
    private int otherBit()
    {
        final int bit = random.nextInt(SlotWord.KIND_SHIFT - SlotWord.WINDOW_BITS);
        return bit < SlotWord.WINDOW_SHIFT ? bit : bit + SlotWord.WINDOW_BITS;
    }
}
