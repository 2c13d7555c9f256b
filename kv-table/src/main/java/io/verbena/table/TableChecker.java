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
import java.util.List;
import java.util.Map;
import java.util.function.IntToLongFunction;
import net.openhft.hashing.LongTupleHashFunction;
import org.agrona.concurrent.UnsafeBuffer;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * Walks a table and verifies what must always be true: headers name this table; each committed word names a whole block
 * of this table whose key belongs to that slot; no key twice; no two words one block.
 *
 * <p>Also beside writers, without telling of what they are doing: a stretch of slots and their blocks are read while
 * the store {@link CheckedStore#hold holds}, so that no word comes back and no block is used again meanwhile. Whatever
 * looks wrong then is looked at again, slot first: it is told only if the word is still the same, so that the block was
 * read while the word stood. Of two slots with one key both must have stood at one instant.
 */
public final class TableChecker
{
    /** How often a slot is looked at that changes while it is. */
    private static final int MAX_LOOKS = 16;

    private final TableDescriptor table;
    private final CheckedStore store;
    private final LongTupleHashFunction hashFunction;
    private final KeyHash hash = new KeyHash();
    private final Map<KeyIdentity, Long> slotOfKey = new HashMap<>();
    private final Map<Long, Long> slotOfBlock = new HashMap<>();
    private int onlyNodeId;
    private boolean findsSharedBlocks = true;
    private IntToLongFunction regionLengthBytes = (nodeId) -> SlotWord.ADDRESSABLE_BYTES;
    private UnsafeBuffer block;
    private UnsafeBuffer line;
    private TableCheck check;

    private record KeyIdentity(long low, long high)
    {
    }

    /**
     * @param table  to check; nobody changes it meanwhile.
     * @param reader of the memory nodes.
     */
    public TableChecker(final TableDescriptor table, final RegionReader reader)
    {
        this(table, CheckedStore.atRest(reader, List.of(table)));
    }

    /**
     * @param table to check.
     * @param store that it belongs to.
     */
    public TableChecker(final TableDescriptor table, final CheckedStore store)
    {
        this.table = table;
        this.store = store;
        hashFunction = KeyHash.function(table.hashSeed());
    }

    /**
     * Leaves out whether two words name one block, which the {@link StoreChecker} finds out with less memory, and, if
     * an id is given, what is at other memory nodes; blocks beyond the end of their region are not read.
     */
    TableChecker forStore(final int nodeId, final IntToLongFunction regionLengths)
    {
        findsSharedBlocks = false;
        onlyNodeId = nodeId;
        regionLengthBytes = regionLengths;
        return this;
    }

    /** @return what was found. */
    public TableCheck check()
    {
        check = new TableCheck();
        slotOfBlock.clear();
        try (Arena arena = Arena.ofConfined())
        {
            line = buffer(arena, SubtableDescriptor.HEADER_BYTES);
            block = buffer(arena, SizeClasses.MAX_BLOCK_BYTES);
            final TableWords words = new TableWords(store, buffer(arena, TableWords.BUFFER_BYTES));
            for (int suffix = 0; suffix < table.subtableCount() && !check.dropped; suffix++)
            {
                if (0 == onlyNodeId || onlyNodeId == nodeOf(suffix))
                {
                    slotOfKey.clear();
                    checkSubtable(suffix, words);
                }
            }
        }
        return check;
    }

    private static UnsafeBuffer buffer(final Arena arena, final int lengthBytes)
    {
        return new UnsafeBuffer(arena.allocate(lengthBytes, 64).address(), lengthBytes);
    }

    private int nodeOf(final int suffix)
    {
        return DirectoryEntry.memoryNodeId(table.entry(suffix));
    }

    private void checkSubtable(final int suffix, final TableWords words)
    {
        if (!checkHeader(suffix))
        {
            return;
        }
        int count;
        for (int group = 0; group < table.groupCount() && !check.dropped; group += count)
        {
            store.hold();
            try
            {
                final int first = group;
                count = words.read(table, suffix, first);
                words.forEach(table, suffix, first, count,
                    (bucket) -> problem("bucket " + bucket % BucketDescriptor.BUCKETS_PER_GROUP + " of group " +
                        bucket / BucketDescriptor.BUCKETS_PER_GROUP + " of subtable " + suffix + " has a wrong header"),
                    (groupIndex, bucket, slot, word) -> checkSlot(suffix, groupIndex, bucket, slot, word));
            }
            finally
            {
                store.release();
            }
        }
    }

    private boolean checkHeader(final int suffix)
    {
        store.hold();
        try
        {
            store.read(nodeOf(suffix), DirectoryEntry.subtableOffset(table.entry(suffix)), line,
                SubtableDescriptor.HEADER_BYTES);
            SubtableDescriptor.check(line, 0);
            if (SubtableDescriptor.tableId(line, 0) == table.tableId() &&
                SubtableDescriptor.suffix(line, 0) == suffix &&
                SubtableDescriptor.groupCount(line, 0) == table.groupCount() &&
                SubtableDescriptor.hashSeed(line, 0) == table.hashSeed())
            {
                return true;
            }
            problem("subtable " + suffix + " at node " + nodeOf(suffix) + " belongs to another table");
        }
        catch (final FormatException ex)
        {
            problem("subtable " + suffix + " at node " + nodeOf(suffix) + ": " + ex.getMessage());
        }
        finally
        {
            store.release();
        }
        return false;
    }

    /** Memory of a table that was dropped meanwhile may be somebody else's: then nothing is wrong with it. */
    private void problem(final String text)
    {
        if (!check.dropped && store.isLive())
        {
            check.dropped = store.tables().stream().noneMatch((other) -> other.tableId() == table.tableId());
        }
        if (!check.dropped)
        {
            check.problem(text);
        }
    }

    private void checkSlot(
        final int suffix, final int groupIndex, final int bucket, final long slotOffset, final long seenWord)
    {
        check.slots++;
        check.tentative += SlotWord.isTentative(seenWord) ? 1 : 0;
        check.restructuring += SlotWord.isRestructuring(seenWord) ? 1 : 0;
        if (SlotWord.isCommitted(seenWord))
        {
            check.committed++;
            check.blockBytes += SizeClasses.lengthBytes(SlotWord.sizeClass(seenWord));
        }
        long word = seenWord;
        for (int look = 0; look < MAX_LOOKS; look++)
        {
            final String problem = judge(suffix, groupIndex, bucket, word);
            final long again = problem == null || !store.isLive() ? word : word(nodeOf(suffix), slotOffset);
            if (again == word)
            {
                if (problem != null)
                {
                    problem(where(suffix, slotOffset, word) + problem);
                }
                else if (SlotWord.isCommitted(word))
                {
                    checkUnique(suffix, slotOffset, word);
                }
                return;
            }
            word = again;
        }
        check.unsettled++;
    }

    private static String where(final int suffix, final long slotOffset, final long word)
    {
        return String.format("slot 0x%x of subtable %d, %s: ", slotOffset, suffix, SlotWord.toString(word));
    }

    private long word(final int node, final long slotOffset)
    {
        store.read(node, slotOffset, line, BucketDescriptor.SLOT_BYTES);
        return line.getLong(0, LITTLE_ENDIAN);
    }

    /** @return what is wrong with a word and its block, or null; leaves the hash of its key. */
    private String judge(final int suffix, final int groupIndex, final int bucket, final long word)
    {
        if (!SlotWord.isCommitted(word))
        {
            return word == SlotWord.EMPTY || SlotWord.isTentative(word) || SlotWord.isRestructuring(word) ? null :
                String.format("there is no such word %016x", word);
        }
        if (isOutside(nodeOf(suffix), word))
        {
            return "its block lies outside of the memory";
        }
        if (!readBlock(nodeOf(suffix), word))
        {
            return "its block is damaged or was rewritten";
        }
        if (BlockDescriptor.tableId(block, 0) != table.tableId() ||
            KeyHash.suffix(hash.high(), table.depth()) != suffix ||
            KeyHash.fingerprint(hash.high()) != SlotWord.fingerprint(word) ||
            KeyHash.window(hash.high(), table.depth()) != SlotWord.window(word) ||
            BlockDescriptor.keyHash(block, 0) != hash.high())
        {
            return "its block holds a key that does not belong to this word";
        }
        return belongs(groupIndex, bucket) ? null : "its key does not belong to this bucket";
    }

    private boolean isOutside(final int node, final long word)
    {
        return SlotWord.blockOffset(word) + SizeClasses.lengthBytes(SlotWord.sizeClass(word)) >
            regionLengthBytes.applyAsLong(node);
    }

    private boolean readBlock(final int node, final long word)
    {
        final int length = SizeClasses.lengthBytes(SlotWord.sizeClass(word));
        store.read(node, SlotWord.blockOffset(word), block, length);
        if (!BlockDescriptor.isValid(block, 0, length, word))
        {
            return false;
        }
        hash.compute(hashFunction, block.addressOffset() + BlockDescriptor.KEY_OFFSET,
            BlockDescriptor.keyLength(block, 0));
        return true;
    }

    private void checkUnique(final int suffix, final long slotOffset, final long word)
    {
        final KeyIdentity key = new KeyIdentity(hash.low(), hash.high());
        final Long otherSlot = slotOfKey.put(key, slotOffset);
        if (otherSlot != null && (!store.isLive() || isInBoth(nodeOf(suffix), key, otherSlot, slotOffset)))
        {
            problem(where(suffix, slotOffset, word) + String.format("its key is also in slot 0x%x", otherSlot));
        }
        if (findsSharedBlocks)
        {
            final Long sharer = slotOfBlock.put((long)nodeOf(suffix) << 48 | SlotWord.blockOffset(word), slotOffset);
            if (sharer != null)
            {
                problem(where(suffix, slotOffset, word) +
                    String.format("its block is also named by slot 0x%x", sharer));
            }
        }
    }

    /** Whether both slots have the key at one instant: the first is seen the same before and after the second. */
    private boolean isInBoth(final int node, final KeyIdentity key, final long slotA, final long slotB)
    {
        for (int look = 0; look < MAX_LOOKS; look++)
        {
            final long first = word(node, slotA);
            final long second = word(node, slotB);
            final boolean hasStood = first == word(node, slotA);
            if (hasStood || !isKeyOf(node, first, key) || !isKeyOf(node, second, key))
            {
                return hasStood && isKeyOf(node, first, key) && isKeyOf(node, second, key);
            }
        }
        check.unsettled++;
        return false;
    }

    private boolean isKeyOf(final int node, final long word, final KeyIdentity key)
    {
        return SlotWord.isCommitted(word) && !isOutside(node, word) && readBlock(node, word) &&
            hash.low() == key.low() && hash.high() == key.high();
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
