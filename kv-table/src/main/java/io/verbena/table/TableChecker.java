package io.verbena.table;

import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.DirectoryEntry;
import io.verbena.table.format.FormatException;
import io.verbena.table.format.KeyHash;
import io.verbena.table.format.SizeClasses;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.TableDescriptor;
import java.lang.foreign.Arena;
import java.util.HashMap;
import java.util.Map;
import net.openhft.hashing.LongTupleHashFunction;
import org.agrona.concurrent.UnsafeBuffer;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * Walks a table that nobody changes meanwhile and verifies what must always be true: headers name this table; each
 * committed word names a whole block of this table whose key belongs to that slot; no key twice; no two words one
 * block.
 */
public final class TableChecker
{
    private final TableDescriptor table;
    private final RegionReader reader;
    private final LongTupleHashFunction hashFunction;
    private final KeyHash hash = new KeyHash();
    private final Map<KeyIdentity, Long> slotOfKey = new HashMap<>();
    private final Map<Long, Long> slotOfBlock = new HashMap<>();
    private int onlyNodeId;
    private TableCheck check;
    private WordConsumer committedWords = (memoryNodeId, word) -> { };

    /** Takes committed words. */
    @FunctionalInterface
    public interface WordConsumer
    {
        /** Takes a word of a slot, and of a block, at this memory node. */
        void accept(int memoryNodeId, long word);
    }

    private record KeyIdentity(long low, long high)
    {
    }

    /**
     * @param table  to check.
     * @param reader of the memory nodes.
     */
    public TableChecker(final TableDescriptor table, final RegionReader reader)
    {
        this.table = table;
        this.reader = reader;
        hashFunction = KeyHash.function(table.hashSeed());
    }

    /** Also gives each committed word to a consumer, while checking. */
    public TableChecker committedWords(final WordConsumer consumer)
    {
        committedWords = consumer;
        return this;
    }

    /**
     * Leaves out what is at other memory nodes, and whether two words name one block, which who takes the words finds
     * out with less memory.
     */
    TableChecker onlyAt(final int nodeId)
    {
        onlyNodeId = nodeId;
        return this;
    }

    /** @return what was found. */
    public TableCheck check()
    {
        check = new TableCheck();
        slotOfBlock.clear();
        try (Arena arena = Arena.ofConfined())
        {
            final UnsafeBuffer group = buffer(arena, BucketDescriptor.GROUP_BYTES);
            final UnsafeBuffer block = buffer(arena, SizeClasses.MAX_BLOCK_BYTES);
            for (int suffix = 0; suffix < table.subtableCount(); suffix++)
            {
                // A key's suffix is its subtable, so duplicates meet within one.
                slotOfKey.clear();
                if (0 == onlyNodeId || onlyNodeId == DirectoryEntry.memoryNodeId(table.entry(suffix)))
                {
                    checkSubtable(suffix, group, block);
                }
            }
        }
        return check;
    }

    private static UnsafeBuffer buffer(final Arena arena, final int lengthBytes)
    {
        return new UnsafeBuffer(arena.allocate(lengthBytes, 64).address(), lengthBytes);
    }

    private void checkSubtable(final int suffix, final UnsafeBuffer group, final UnsafeBuffer block)
    {
        final long entry = table.entry(suffix);
        final int node = DirectoryEntry.memoryNodeId(entry);
        final long offset = DirectoryEntry.subtableOffset(entry);
        reader.read(node, offset, group, SubtableDescriptor.HEADER_BYTES);
        try
        {
            SubtableDescriptor.check(group, 0);
        }
        catch (final FormatException ex)
        {
            check.problem("subtable " + suffix + " at node " + node + ": " + ex.getMessage());
            return;
        }
        if (SubtableDescriptor.tableId(group, 0) != table.tableId() ||
            SubtableDescriptor.suffix(group, 0) != suffix ||
            SubtableDescriptor.groupCount(group, 0) != table.groupCount() ||
            SubtableDescriptor.hashSeed(group, 0) != table.hashSeed())
        {
            check.problem("subtable " + suffix + " at node " + node + " belongs to another table");
            return;
        }
        for (int i = 0; i < table.groupCount(); i++)
        {
            final long groupOffset = SubtableDescriptor.GROUPS_OFFSET + (long)i * BucketDescriptor.GROUP_BYTES;
            reader.read(node, offset + groupOffset, group, BucketDescriptor.GROUP_BYTES);
            checkGroup(suffix, i, offset + groupOffset, group, block);
        }
    }

    private void checkGroup(
        final int suffix, final int groupIndex, final long offset, final UnsafeBuffer group, final UnsafeBuffer block)
    {
        final long header = BucketDescriptor.header(table.tableId(), suffix, table.depth());
        for (int bucket = 0; bucket < BucketDescriptor.BUCKETS_PER_GROUP; bucket++)
        {
            final int bucketAt = bucket * BucketDescriptor.BUCKET_BYTES;
            if (group.getLong(bucketAt + BucketDescriptor.HEADER_OFFSET, LITTLE_ENDIAN) != header)
            {
                check.problem("bucket " + bucket + " of group " + groupIndex + " of subtable " + suffix +
                    " has a wrong header");
            }
            for (int slot = 0; slot < BucketDescriptor.SLOTS_PER_BUCKET; slot++)
            {
                final int at = bucketAt + BucketDescriptor.SLOTS_OFFSET + slot * BucketDescriptor.SLOT_BYTES;
                checkSlot(suffix, groupIndex, bucket, offset + at, group.getLong(at, LITTLE_ENDIAN), block);
            }
        }
    }

    private void checkSlot(
        final int suffix,
        final int groupIndex,
        final int bucket,
        final long slotOffset,
        final long word,
        final UnsafeBuffer block)
    {
        check.slots++;
        if (SlotWord.isTentative(word))
        {
            check.tentative++;
        }
        else if (SlotWord.isRestructuring(word))
        {
            check.restructuring++;
        }
        else if (SlotWord.isCommitted(word))
        {
            check.committed++;
            committedWords.accept(DirectoryEntry.memoryNodeId(table.entry(suffix)), word);
            checkBlock(suffix, groupIndex, bucket, slotOffset, word, block);
        }
        else if (word != SlotWord.EMPTY)
        {
            check.problem(String.format("slot 0x%x of subtable %d: no such word %016x", slotOffset, suffix, word));
        }
    }

    private void checkBlock(
        final int suffix,
        final int groupIndex,
        final int bucket,
        final long slotOffset,
        final long word,
        final UnsafeBuffer block)
    {
        final String where =
            String.format("slot 0x%x of subtable %d, %s: ", slotOffset, suffix, SlotWord.toString(word));
        final int length = SizeClasses.lengthBytes(SlotWord.sizeClass(word));
        final int node = DirectoryEntry.memoryNodeId(table.entry(suffix));
        check.blockBytes += length;
        reader.read(node, SlotWord.blockOffset(word), block, length);
        if (!BlockDescriptor.isValid(block, 0, length, word))
        {
            check.problem(where + "its block is damaged or was rewritten");
            return;
        }
        final int keyLength = BlockDescriptor.keyLength(block, 0);
        hash.compute(hashFunction, block.addressOffset() + BlockDescriptor.KEY_OFFSET, keyLength);
        if (BlockDescriptor.tableId(block, 0) != table.tableId() ||
            KeyHash.suffix(hash.high(), table.depth()) != suffix ||
            KeyHash.fingerprint(hash.high()) != SlotWord.fingerprint(word) ||
            KeyHash.window(hash.high(), table.depth()) != SlotWord.window(word) ||
            BlockDescriptor.keyHash(block, 0) != hash.high())
        {
            check.problem(where + "its block holds a key that does not belong to this word");
        }
        if (!belongs(groupIndex, bucket))
        {
            check.problem(where + "its key does not belong to this bucket");
        }
        final Long otherSlot = slotOfKey.put(new KeyIdentity(hash.low(), hash.high()), slotOffset);
        if (otherSlot != null)
        {
            check.problem(where + String.format("its key is also in slot 0x%x", otherSlot));
        }
        if (0 != onlyNodeId)
        {
            return;
        }
        final Long sharer = slotOfBlock.put((long)node << 48 | SlotWord.blockOffset(word), slotOffset);
        if (sharer != null)
        {
            check.problem(where + String.format("its block is also named by slot 0x%x", sharer));
        }
    }

    private boolean belongs(final int groupIndex, final int bucket)
    {
        final long low = hash.low();
        return KeyHash.group1(low, table.groupCount()) == groupIndex && covers(KeyHash.side1(low), bucket) ||
            KeyHash.group2(low, table.groupCount()) == groupIndex && covers(KeyHash.side2(low), bucket);
    }

    private static boolean covers(final int side, final int bucket)
    {
        return bucket == side || bucket == side + 1;
    }
}
