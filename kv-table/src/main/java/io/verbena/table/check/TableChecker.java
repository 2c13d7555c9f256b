package io.verbena.table.check;

import io.verbena.table.directory.Subtable;
import io.verbena.table.expiry.Expiry;
import io.verbena.table.expiry.ExpiryClock;
import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.FormatException;
import io.verbena.table.format.KeyHash;
import io.verbena.table.format.MergeLink;
import io.verbena.table.format.SizeClasses;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SplitLink;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.TableDescriptor;
import java.lang.foreign.Arena;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntConsumer;
import java.util.function.IntToLongFunction;
import net.openhft.hashing.LongTupleHashFunction;
import org.agrona.concurrent.SystemEpochClock;
import org.agrona.concurrent.UnsafeBuffer;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * Walks a table and verifies what must always be true: headers name this table; each committed word names a whole block
 * of this table whose key belongs to that slot; no key twice; no two words one block.
 *
 * <p>Also beside writers, without telling of what they are doing: a range of slots and their blocks are read while
 * the store {@link CheckedStore#hold holds}, so that no word comes back and no block is used again meanwhile. Whatever
 * looks wrong then is looked at again, slot first: it is reported only if the word is still the same, so that the block
 * was read while the word stood. Of two slots with one key both must have stood at one instant.
 */
public final class TableChecker
{
    /** How often a slot is looked at that changes while it is. */
    private static final int MAX_LOOKS = 16;
    private static final String DAMAGED = "its block is damaged or was rewritten";

    private final TableDescriptor table;
    private final CheckedStore store;
    private final LongTupleHashFunction hashFunction;
    private final KeyHash hash = new KeyHash();
    private final Map<KeyIdentity, Long> slotOfKey = new HashMap<>();
    private final Map<Long, Long> slotOfBlock = new HashMap<>();
    private int onlyNodeId;
    private boolean findsSharedBlocks = true;
    private IntToLongFunction regionLengthBytes = (nodeId) -> SlotWord.ADDRESSABLE_BYTES;
    private final ExpiryClock expiryClock = new ExpiryClock(SystemEpochClock.INSTANCE);
    private IntConsumer groupListener = (groups) ->
    {
    };
    private UnsafeBuffer block;
    private UnsafeBuffer line;
    private TableCheck check;

    private final TableWords.Sink sink = new TableWords.Sink()
    {
        @Override
        public void onWord(final TableWords.Slot slot, final long word)
        {
            TableChecker.this.onWord(slot, word);
        }

        @Override
        public void onWrongBucket(final Subtable subtable, final int group, final int bucket)
        {
            problem("bucket " + bucket + " of group " + group + " of " + subtable + " has a wrong header");
        }
    };

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
     * an id is given, what is at other memory nodes; blocks beyond the end of their region are not read. Reports how
     * many groups it has checked since it last did.
     */
    TableChecker forStore(final int nodeId, final IntToLongFunction regionLengths, final IntConsumer onGroups)
    {
        groupListener = onGroups;
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
            final TableWords words = new TableWords(store, arena, (node) -> regionLengthBytes.applyAsLong(node));
            for (final Subtable subtable : Subtable.of(table))
            {
                if (!check.dropped && (0 == onlyNodeId || onlyNodeId == subtable.memoryNodeId()))
                {
                    // Two slots of one key are in one subtable, or in those that took its place.
                    slotOfKey.clear();
                    checkSubtable(subtable, words);
                }
            }
        }
        return check;
    }

    private static UnsafeBuffer buffer(final Arena arena, final int lengthBytes)
    {
        return new UnsafeBuffer(arena.allocate(lengthBytes, 64).address(), lengthBytes);
    }

    /** A piece at a time, as the table stands then: old subtables go when those that take their place are whole. */
    private void checkSubtable(final Subtable subtable, final TableWords words)
    {
        if (!areHeadersSound(subtable))
        {
            return;
        }
        for (int group = 0; group < table.groupCount() && !check.dropped;
            group += TableWords.pieceLength(table, group))
        {
            store.hold();
            try
            {
                for (final Subtable present : Subtable.of(presentTable()))
                {
                    if (present.isWithin(subtable))
                    {
                        words.forEach(table, present, group, sink);
                    }
                }
            }
            finally
            {
                store.release();
            }
            groupListener.accept(TableWords.pieceLength(table, group));
        }
    }

    private boolean areHeadersSound(final Subtable subtable)
    {
        store.hold();
        try
        {
            boolean areSound = true;
            for (final Subtable present : Subtable.of(presentTable()))
            {
                areSound &= !present.isWithin(subtable) || isHeaderSound(present, null);
            }
            return areSound;
        }
        finally
        {
            store.release();
        }
    }

    /** Of a subtable, and of those that take its place; the parent if its slots may still be on their way. */
    private boolean isHeaderSound(final Subtable subtable, final Subtable parent)
    {
        if (!subtable.isWithin(regionLengthBytes.applyAsLong(subtable.memoryNodeId()), table.groupCount()))
        {
            problem(subtable + " lies outside of the memory");
            return false;
        }
        store.read(subtable.memoryNodeId(), subtable.offset(), line, SubtableDescriptor.HEADER_BYTES);
        try
        {
            SubtableDescriptor.check(line, 0);
        }
        catch (final FormatException ex)
        {
            problem(subtable + ": " + ex.getMessage());
            return false;
        }
        if (SubtableDescriptor.tableId(line, 0) != table.tableId() ||
            SubtableDescriptor.suffix(line, 0) != subtable.suffix() ||
            SubtableDescriptor.depth(line, 0) != subtable.depth() ||
            SubtableDescriptor.groupCount(line, 0) != table.groupCount() ||
            SubtableDescriptor.hashSeed(line, 0) != table.hashSeed())
        {
            problem(subtable + " belongs to another table");
            return false;
        }
        final long link = SubtableDescriptor.split(line, 0);
        final long predecessor = SubtableDescriptor.predecessor(line, 0);
        if (!store.isLive() && predecessor != 0 &&
            (parent == null || predecessor != parent.offset() || link != SplitLink.NONE))
        {
            problem(subtable + String.format(
                " waits for slots of the one at 0x%x, which is not split into it, or is split itself before they came",
                predecessor));
        }
        if (link == SplitLink.NONE)
        {
            return true;
        }
        if (MergeLink.isLink(link))
        {
            return isMergeSound(subtable, link);
        }
        final boolean isWhole = SplitLink.isComplete(link);
        check.splitsUnderWay += isWhole ? 0 : 1;
        return isHeaderSound(subtable.child(link, 0), isWhole ? null : subtable) &
            isHeaderSound(subtable.child(link, 1), isWhole ? null : subtable);
    }

    /** With the one of the two that has split bit 0; what is only proposed is nothing yet. */
    private boolean isMergeSound(final Subtable subtable, final long link)
    {
        final long length = regionLengthBytes.applyAsLong(subtable.memoryNodeId());
        if (subtable.depth() == 0 || !subtable.sibling(link).isWithin(length, table.groupCount()))
        {
            problem(subtable + String.format(" has a link that leads nowhere: %016x", link));
            return false;
        }
        check.splitsUnderWay++;
        final Subtable sibling = subtable.sibling(link);
        final boolean isDecided = word(subtable.memoryNodeId(), sibling.offset() + SubtableDescriptor.SPLIT_OFFSET) ==
            MergeLink.of(MergeLink.merged(link), subtable.offset());
        return subtable.side() != 0 || !isDecided || isHeaderSound(subtable.merged(link), subtable);
    }

    private TableDescriptor presentTable()
    {
        if (!store.isLive())
        {
            return table;
        }
        return store.tables().stream().filter((other) -> other.tableId() == table.tableId()).findFirst().orElse(table);
    }

    /** Memory of a table that was dropped meanwhile may be somebody else's: then nothing is wrong with it. */
    private void problem(final String text)
    {
        if (!isDropped())
        {
            check.problem(text);
        }
    }

    private boolean isDropped()
    {
        if (!check.dropped && store.isLive())
        {
            check.dropped = store.tables().stream().noneMatch((other) -> other.tableId() == table.tableId());
        }
        return check.dropped;
    }

    private void problem(final TableWords.Slot slot, final long word, final String what)
    {
        if (!DAMAGED.equals(what) || !isWordSound(slot, word))
        {
            problem(where(slot, word) + what);
        }
        else if (!isDropped())
        {
            check.damagedRecord(where(slot, word) + what);
        }
    }

    /**
     * Whether the word over a damaged block, which was read last, is the one that its key had: then a lookup of the key
     * meets the block, and never takes the key for absent. The block's copy of the key's hash has to agree, because a
     * split takes a new window from there; where the key is whole, it shows whether that copy is.
     */
    private boolean isWordSound(final TableWords.Slot slot, final long word)
    {
        final long high = BlockDescriptor.keyHash(block, 0);
        // Of a damaged length, too: the buffer has room for the longest, and its hash does not fit the word.
        hash.compute(hashFunction, block.addressOffset() + BlockDescriptor.KEY_OFFSET,
            BlockDescriptor.keyLength(block, 0));
        if (isOfWord(slot, word, hash.high()) && hash.high() != high)
        {
            return false;
        }
        return isOfWord(slot, word, high);
    }

    private static boolean isOfWord(final TableWords.Slot slot, final long word, final long high)
    {
        return KeyHash.suffix(high, slot.home().depth()) == slot.home().suffix() &&
            KeyHash.fingerprint(high) == SlotWord.fingerprint(word) &&
            KeyHash.window(high, slot.windowDepth()) == SlotWord.window(word);
    }

    private void onWord(final TableWords.Slot slot, final long seenWord)
    {
        check.slots++;
        check.tentative += SlotWord.isTentative(seenWord) ? 1 : 0;
        check.restructuring += slot.isOld() || SlotWord.isRestructuring(seenWord) ? 1 : 0;
        if (SlotWord.isCommitted(seenWord))
        {
            check.committed++;
            check.blockBytes += SizeClasses.lengthBytes(SlotWord.sizeClass(seenWord));
        }
        final int node = slot.home().memoryNodeId();
        long word = seenWord;
        for (int look = 0; look < MAX_LOOKS; look++)
        {
            final String problem = judge(slot, word);
            final long again =
                problem == null || !store.isLive() ? word : slot.counting(word(node, slot.offset()));
            if (again == word || again == SlotWord.frozen(word))
            {
                // Frozen meanwhile: the same word on its way to another slot, whose block nobody uses again yet.
                if (problem != null)
                {
                    problem(slot, word, problem);
                }
                else if (SlotWord.isCommitted(word))
                {
                    countDeadline();
                    checkUnique(slot, word);
                }
                return;
            }
            word = again;
        }
        check.unsettled++;
    }

    /** Of the block that was read last. */
    private void countDeadline()
    {
        final long expiryMs = BlockDescriptor.expiryMs(block, 0);
        check.withDeadline += expiryMs == Expiry.NONE ? 0 : 1;
        check.expired += expiryClock.isPast(expiryMs) ? 1 : 0;
    }

    private static String where(final TableWords.Slot slot, final long word)
    {
        return slot + ", " + SlotWord.toString(word) + ": ";
    }

    private long word(final int node, final long slotOffset)
    {
        store.read(node, slotOffset, line, BucketDescriptor.SLOT_BYTES);
        return line.getLong(0, LITTLE_ENDIAN);
    }

    /** @return what is wrong with a word and its block, or null; leaves the hash of its key. */
    private String judge(final TableWords.Slot slot, final long word)
    {
        if (SlotWord.isRestructuring(word))
        {
            // In a live table its next word may have come since; the old one was read before.
            return store.isLive() ? null : "no split will give it another word";
        }
        if (!SlotWord.isCommitted(word))
        {
            return SlotWord.isEmpty(word) || word == SlotWord.RESERVED || SlotWord.isTentative(word) ? null :
                String.format("there is no such word %016x", word);
        }
        final int node = slot.home().memoryNodeId();
        if (isOutside(node, word))
        {
            return "its block lies outside of the memory";
        }
        if (!readBlock(node, word))
        {
            return DAMAGED;
        }
        if (BlockDescriptor.tableId(block, 0) != table.tableId() ||
            !isOfWord(slot, word, hash.high()) ||
            BlockDescriptor.keyHash(block, 0) != hash.high())
        {
            return "its block holds a key that does not belong to this word";
        }
        if (!Expiry.isDeadline(BlockDescriptor.expiryMs(block, 0)))
        {
            return "its block has a deadline that no record can have";
        }
        return belongs(slot.group(), slot.bucket()) ? null : "its key does not belong to this bucket";
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

    private void checkUnique(final TableWords.Slot slot, final long word)
    {
        final KeyIdentity key = new KeyIdentity(hash.low(), hash.high());
        final int node = slot.home().memoryNodeId();
        final Long otherSlot = slotOfKey.put(key, slot.offset());
        if (otherSlot != null && (!store.isLive() || isInBoth(node, key, otherSlot, slot.offset())))
        {
            problem(where(slot, word) + String.format("its key is also in slot 0x%x", otherSlot));
        }
        if (findsSharedBlocks)
        {
            final Long sharer = slotOfBlock.put((long)node << 48 | SlotWord.blockOffset(word), slot.offset());
            if (sharer != null)
            {
                problem(where(slot, word) + String.format("its block is also named by slot 0x%x", sharer));
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
