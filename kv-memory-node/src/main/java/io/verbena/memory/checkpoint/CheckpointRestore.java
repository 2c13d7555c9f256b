package io.verbena.memory.checkpoint;

import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.format.KeyHash;
import io.verbena.table.format.SizeClasses;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.Superblock;
import io.verbena.table.format.TableDescriptor;
import net.openhft.hashing.LongTupleHashFunction;
import org.agrona.DirectBuffer;
import org.agrona.collections.Int2ObjectHashMap;
import org.agrona.collections.Long2ObjectHashMap;
import org.agrona.collections.LongArrayList;
import org.agrona.concurrent.UnsafeBuffer;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;

import static io.verbena.table.format.SlotWord.BLOCK_ALIGNMENT_BYTES;
import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * Puts the records of a checkpoint into an empty region that nobody else uses: each where the descriptor of its table
 * has it by now, whatever splits there were before, during or after the checkpoint. Words keep their slots in their
 * subtables and blocks their places, so that what fitted a memory fits it again. Two records of a checkpoint may have
 * had the same memory, at different moments: then one of them gets another place, and so does who finds an index in its
 * place that was made since. For the same reason a key may have several records: the largest version is taken. The
 * checkpoints of groups of memory nodes, whose moments are others, go to chunks of their own. One use, one thread.
 */
public final class CheckpointRestore
{
    /** A record as its checkpoint has it. */
    private record Origin(Part part, long slot, long checksum)
    {
    }

    /** What one checkpoint has: of this memory node alone, or of a group. */
    private final class Part
    {
        private final CheckpointStore store;
        private final int group;
        private final Int2ObjectHashMap<RestoredTable> tables = new Int2ObjectHashMap<>();
        private long records;

        private Part(final CheckpointStore store, final int group)
        {
            this.store = store;
            this.group = group;
        }

        /** As directory entries name it. */
        private int homeId()
        {
            return 0 == group ? superblock.nodeId() : group;
        }

        private boolean format(final List<TableDescriptor> descriptors)
        {
            for (final TableDescriptor descriptor : descriptors)
            {
                tables.put(descriptor.tableId(), new RestoredTable(words, places, descriptor, homeId(), group));
            }

            final boolean fits = 0 == group || tables.values().stream().allMatch(RestoredTable::fits);
            if (fits)
            {
                tables.values().forEach(RestoredTable::format);
            }
            return fits;
        }
    }

    /** Hears how far it is, on its thread. */
    @FunctionalInterface
    public interface Listener
    {
        /**
         * A record was looked at.
         *
         * @param done of all, so far.
         * @param all  in the checkpoint, about: some may have been removed, and some are there twice.
         */
        void onRecord(long done, long all);
    }

    private final RegionWords words;
    private final Superblock superblock;
    private final ChunkUse use;
    private final Listener listener;
    private final List<Part> parts = new ArrayList<>();
    private final Int2ObjectHashMap<LongTupleHashFunction> hashFunctions = new Int2ObjectHashMap<>();
    private final KeyHash hash = new KeyHash();
    /** Slots whose words name blocks that need another place. */
    private final Long2ObjectHashMap<Origin> displaced = new Long2ObjectHashMap<>();
    private UnsafeBuffer block;
    private UnsafeBuffer other;
    private FreePlaces places;
    private long wanted;
    private long seen;

    /**
     * @param region     zeroed.
     * @param superblock what it will say of itself.
     * @param store      of this node.
     * @param use        hears of chunks.
     * @param listener   hears how far it is; called for each record.
     */
    public CheckpointRestore(
        final MemorySegment region, final Superblock superblock, final CheckpointStore store, final ChunkUse use,
        final Listener listener)
    {
        this.listener = listener;
        words = new RegionWords(region);
        this.superblock = superblock;
        this.use = use;
        parts.add(new Part(store, 0));
    }

    /**
     * Restores the tables of a group of memory nodes, too.
     *
     * @param group its number.
     * @param store of this node, for that group.
     * @return this.
     */
    public CheckpointRestore addGroup(final int group, final CheckpointStore store)
    {
        parts.add(new Part(store, group));
        return this;
    }

    /**
     * Restores.
     *
     * @param descriptors of the cluster's tables; those made since the checkpoint come back empty.
     * @return records restored.
     * @throws GroupRestoreException when the checkpoint of a group is damaged, does not fit, or cannot be read: the
     *                               region is to be zeroed, and restored without it.
     * @throws CheckpointException   when that of the node alone is, or does not fit beside those of groups.
     */
    public long run(final List<TableDescriptor> descriptors)
    {
        try (Arena arena = Arena.ofConfined())
        {
            block = buffer(arena);
            other = buffer(arena);
            places = new FreePlaces(superblock, arena);
            descriptors.forEach((descriptor) ->
                hashFunctions.put(descriptor.tableId(), KeyHash.function(descriptor.hashSeed())));
            // All indexes first: blocks go between them.
            parts.removeIf((part) -> !part.format(descriptors));
            forEachPart((part) -> part.store.pages().forEach((offset) -> wantPlaces(part.store.page(offset))));
            forEachPart((part) -> part.store.forEachRecord((slot, checksum) ->
            {
                place(part, slot, checksum);
                seen++;
                listener.onRecord(Math.min(seen, wanted), wanted);
            }));
            placeDisplaced();
            places.tell(use);
        }
        return parts.stream().mapToLong((part) -> part.records).sum();
    }

    /**
     * @return records restored of each group whose tables were; where the chunk of a subtable is had by somebody else
     *     by now, nothing of the group is.
     */
    public Map<Integer, Long> groupRecords()
    {
        return parts.stream().filter((part) -> 0 != part.group)
            .collect(Collectors.toMap((part) -> part.group, (part) -> part.records));
    }

    /** Whatever fails in a group's part says of which. */
    private void forEachPart(final Consumer<Part> step)
    {
        for (final Part part : parts)
        {
            try
            {
                step.accept(part);
            }
            catch (final RuntimeException ex)
            {
                throw 0 == part.group ? ex : new GroupRestoreException(part.group, ex);
            }
        }
    }

    private static UnsafeBuffer buffer(final Arena arena)
    {
        return new UnsafeBuffer(arena.allocate(SizeClasses.MAX_BLOCK_BYTES, BLOCK_ALIGNMENT_BYTES).address(),
            SizeClasses.MAX_BLOCK_BYTES);
    }

    private void wantPlaces(final CheckpointPage page)
    {
        for (int at = 0; at < CheckpointPage.RANGE_BYTES; at += Long.BYTES)
        {
            if (page.word(at) != 0)
            {
                places.want(SlotWord.blockOffset(page.word(at)));
                wanted++;
            }
        }
    }

    private void place(final Part part, final long slot, final long checksum)
    {
        final long word = load(part, slot, checksum, block);
        final RestoredTable table = part.tables.get(BlockDescriptor.tableId(block, 0));
        if (table == null)
        {
            return; // dropped since
        }
        if (!table.isPartHere())
        {
            return; // of a table with copies: an earlier build put them into the checkpoint of the node alone
        }
        hash.compute(hashFunctions.get(table.table().tableId()), block.addressOffset() + BlockDescriptor.KEY_OFFSET,
            BlockDescriptor.keyLength(block, 0));
        if (table.home(hash) != part.homeId())
        {
            throw damaged(slot);
        }
        if (isSuperseded(part, table))
        {
            return;
        }
        final long inSubtable = (slot - superblock.chunksOffset()) % superblock.chunkLengthBytes();
        long newSlot = table.freeSlot(hash, inSubtable);
        while (newSlot < 0)
        {
            table.split(hash, moves, (missing) -> doesNotFit((long)missing * superblock.chunkLengthBytes()));
            newSlot = table.freeSlot(hash, inSubtable);
        }
        part.records++;
        final long newWord = SlotWord.withWindow(word, KeyHash.window(hash.high(), table.subtable(hash).depth()));
        if (places.take(
            SlotWord.blockOffset(word), SizeClasses.lengthBytes(SlotWord.sizeClass(word)), part.group))
        {
            put(newSlot, newWord, SlotWord.blockOffset(word));
        }
        else
        {
            words.put(newSlot, newWord);
            displaced.put(newSlot, new Origin(part, slot, checksum));
        }
    }

    /** Whether the key of the block is restored already as it was later; if as it was before, that is taken away. */
    private boolean isSuperseded(final Part part, final RestoredTable table)
    {
        final LongArrayList like = table.takenLike(hash);
        for (int i = 0; i < like.size(); i++)
        {
            final long slot = like.getLong(i);
            final DirectBuffer there = recordOf(slot);
            if (isSameKey(there))
            {
                if (Long.compareUnsigned(BlockDescriptor.version(there, 0), BlockDescriptor.version(block, 0)) >= 0)
                {
                    return true;
                }
                takeAway(slot);
                part.records--;
                return false;
            }
        }
        return false;
    }

    private boolean isSameKey(final DirectBuffer there)
    {
        final int length = BlockDescriptor.keyLength(block, 0);
        if (BlockDescriptor.keyLength(there, 0) != length)
        {
            return false;
        }
        for (int i = BlockDescriptor.KEY_OFFSET; i < BlockDescriptor.KEY_OFFSET + length; i++)
        {
            if (there.getByte(i) != block.getByte(i))
            {
                return false;
            }
        }
        return true;
    }

    /** The block of a slot that is taken, until the next call. */
    private DirectBuffer recordOf(final long slot)
    {
        final Origin origin = displaced.get(slot);
        if (origin != null)
        {
            load(origin.part, origin.slot, origin.checksum, other);
            return other;
        }
        final long word = words.get(slot);
        return words.at(SlotWord.blockOffset(word), SizeClasses.lengthBytes(SlotWord.sizeClass(word)));
    }

    private final RestoredTable.Moves moves = new RestoredTable.Moves()
    {
        @Override
        public long hashHigh(final long slot)
        {
            return BlockDescriptor.keyHash(recordOf(slot), 0);
        }

        @Override
        public void onMoved(final long slot, final long newSlot, final long newWord)
        {
            final Origin origin = displaced.remove(slot);
            if (origin != null)
            {
                displaced.put(newSlot, origin);
            }
        }
    };

    /** A block as its word published it. @return the word. */
    private long load(final Part part, final long slot, final long checksum, final UnsafeBuffer target)
    {
        final byte[] record = part.store.record(slot, checksum);
        if (record == null || record.length < Long.BYTES + BlockDescriptor.HEADER_BYTES)
        {
            throw damaged(slot);
        }
        final long word = ByteBuffer.wrap(record).order(LITTLE_ENDIAN).getLong();
        final int length = record.length - Long.BYTES;
        final int blockLength = SizeClasses.lengthBytes(SlotWord.sizeClass(word));
        if (!SlotWord.isCommitted(word) || length > blockLength)
        {
            throw damaged(slot);
        }
        target.setMemory(length, blockLength - length, (byte)0);
        target.putBytes(0, record, Long.BYTES, length);
        if (!BlockDescriptor.isValid(target, 0, blockLength, word))
        {
            throw damaged(slot);
        }
        return word;
    }

    /** Puts the block that is loaded, under a word that names its place. */
    private void put(final long slot, final long oldWord, final long offset)
    {
        final int length = SizeClasses.lengthBytes(SlotWord.sizeClass(oldWord));
        final long word = SlotWord.committed(SlotWord.fingerprint(oldWord), SlotWord.window(oldWord),
            SlotWord.versionBits(oldWord), SlotWord.sizeClass(oldWord), offset);
        block.putLong(BlockDescriptor.PREDECESSOR_OFFSET, SlotWord.EMPTY, LITTLE_ENDIAN);
        BlockDescriptor.seal(block, 0, word);
        words.at(offset, length).putBytes(0, block, 0, length);
        words.put(slot, word);
    }

    private void takeAway(final long slot)
    {
        final long word = words.get(slot);
        if (displaced.remove(slot) == null)
        {
            places.free(SlotWord.blockOffset(word), SizeClasses.lengthBytes(SlotWord.sizeClass(word)));
        }
        words.put(slot, SlotWord.EMPTY);
    }

    /** The longest first: shorter ones fit what is left between them. */
    private void placeDisplaced()
    {
        final List<Long> slots = new ArrayList<>(displaced.keySet());
        slots.sort(Comparator.comparingInt((final Long slot) -> -SlotWord.sizeClass(words.get(slot)))
            .thenComparing(Comparator.naturalOrder()));
        forEachPart((part) ->
        {
            long missingBytes = 0;
            for (final long slot : slots)
            {
                missingBytes += displaced.get(slot).part == part ? placeDisplaced(slot) : 0;
            }
            if (missingBytes > 0)
            {
                throw doesNotFit(missingBytes);
            }
        });
    }

    /** How many bytes there is no place for. */
    private int placeDisplaced(final long slot)
    {
        final int length = SizeClasses.lengthBytes(SlotWord.sizeClass(words.get(slot)));
        final Origin origin = displaced.get(slot);
        final long offset = places.takeAny(length, origin.part.group);
        if (offset < 0)
        {
            return length;
        }
        load(origin.part, origin.slot, origin.checksum, block);
        put(slot, words.get(slot), offset);
        return 0;
    }

    /** Twice what is missing: it comes in blocks that do not fill their chunks. */
    private CheckpointException doesNotFit(final long missingBytes)
    {
        final long wantedMib = Math.ceilDiv(
            superblock.regionLengthBytes() + 2 * missingBytes + superblock.chunkLengthBytes(), 1L << 20);
        return new CheckpointException("the checkpoint does not fit this memory of " +
            superblock.regionLengthBytes() + " bytes, because it changed while it was written: " + missingBytes +
            " bytes have no place; nothing is lost, start the node with more (--memory " + wantedMib + ")", null);
    }

    private static CheckpointException damaged(final long slot)
    {
        return new DamagedCheckpointException(String.format("checkpoint is damaged: the record of slot 0x%x is not " +
            "whole; restore its folder from a copy. --accept-damage does not help: which key it had is not known, so " +
            "a lookup of that key would find no record", slot), null);
    }
}
