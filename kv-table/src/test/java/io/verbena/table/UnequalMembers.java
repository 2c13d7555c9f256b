package io.verbena.table;

import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.DirectoryEntry;
import io.verbena.table.format.SizeClasses;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SplitLink;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.TableDescriptor;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.List;
import java.util.Random;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/** Memories of a group's members as rounds may have left them: a table with two subtables, of which one was split. */
final class UnequalMembers
{
    static final int GROUP = 9;
    static final int TABLE_ID = 7;
    static final int MEMORY_BYTES = 1 << 20;
    /** The second one on another page than its blocks; the third is found by a link of the first. */
    static final int[] SUBTABLES_AT = {4_096, 300_032, 600_064, 600_064 + 8_192};
    private static final int BLOCKS_AT = 620_032;
    private static final int FIRST_DEPTH = 1;

    private final List<UnsafeBuffer> memories;
    private final Random random;
    private int nextBlockAt = BLOCKS_AT;

    private UnequalMembers(final List<UnsafeBuffer> memories, final Random random)
    {
        this.memories = memories;
        this.random = random;
    }

    static TableDescriptor table()
    {
        return new TableDescriptor("t", TABLE_ID, FIRST_DEPTH, 1, 42, new long[]{
            DirectoryEntry.stable(FIRST_DEPTH, GROUP, SUBTABLES_AT[0]),
            DirectoryEntry.stable(FIRST_DEPTH, GROUP, SUBTABLES_AT[1])});
    }

    /** @return where a slot of a subtable with one group is. */
    static int slotAt(final int subtableAt, final int slot)
    {
        return subtableAt + SubtableDescriptor.GROUPS_OFFSET +
            slot / BucketDescriptor.SLOTS_PER_BUCKET * BucketDescriptor.BUCKET_BYTES +
            BucketDescriptor.SLOTS_OFFSET +
            slot % BucketDescriptor.SLOTS_PER_BUCKET * BucketDescriptor.SLOT_BYTES;
    }

    /** Writes a record that proves itself under a word. */
    static void writeRecord(final UnsafeBuffer memory, final int slotAt, final long word, final long version)
    {
        final int at = (int)SlotWord.blockOffset(word);
        BlockDescriptor.writeHeader(memory, at, TABLE_ID, 5, 20, version, 1, slotAt, 0, 0, 0, 0);
        BlockDescriptor.seal(memory, at, word);
    }

    /** Fills memories, the head's first and the primary's last, when the primary may have less than the others. */
    static void fill(final List<UnsafeBuffer> memories, final Random random)
    {
        format(memories);
        new UnequalMembers(memories, random).fillSlots();
    }

    /** All slots are empty. */
    static void format(final List<UnsafeBuffer> memories)
    {
        for (final UnsafeBuffer memory : memories)
        {
            final PreparedSubtables subtables = new PreparedSubtables(memory, 42);
            subtables.format(SUBTABLES_AT[0], 0, FIRST_DEPTH, SlotWord.EMPTY);
            subtables.format(SUBTABLES_AT[1], 1, FIRST_DEPTH, SlotWord.EMPTY);
            subtables.format(SUBTABLES_AT[2], 0, FIRST_DEPTH + 1, SlotWord.EMPTY);
            subtables.format(SUBTABLES_AT[3], 2, FIRST_DEPTH + 1, SlotWord.EMPTY);
            memory.putLong(SUBTABLES_AT[0] + SubtableDescriptor.SPLIT_OFFSET,
                SplitLink.of(SUBTABLES_AT[2], SUBTABLES_AT[3]), LITTLE_ENDIAN);
        }
    }

    private void fillSlots()
    {
        for (final int at : SUBTABLES_AT)
        {
            for (int slot = 0; slot < BucketDescriptor.SLOTS_PER_GROUP; slot++)
            {
                fillSlot(slotAt(at, slot));
            }
        }
    }

    private void fillSlot(final int offset)
    {
        final int sizeClass = random.nextInt(8) == 0 ? SizeClasses.COUNT - 1 : random.nextInt(4);
        if (random.nextInt(3) == 0 || nextBlockAt + SizeClasses.lengthBytes(sizeClass) > MEMORY_BYTES)
        {
            return;
        }
        final long word = SlotWord.committed(random.nextInt(200), 0, 1, sizeClass, nextBlockAt);
        // The head first: the word is on so many members, and its block on these at least.
        final int members = 1 + random.nextInt(memories.size());
        final boolean isTentative = members == 1 && random.nextBoolean();
        for (int member = 0; member < memories.size(); member++)
        {
            if (member < members)
            {
                memories.get(member).putLong(
                    offset, isTentative ? SlotWord.withKind(word, SlotWord.KIND_TENTATIVE) : word, LITTLE_ENDIAN);
            }
            if (member < members || random.nextBoolean())
            {
                writeRecord(memories.get(member), offset, word, 1);
            }
        }
        nextBlockAt += SizeClasses.lengthBytes(sizeClass);
    }
}
