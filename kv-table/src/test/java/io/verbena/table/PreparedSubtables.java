package io.verbena.table;

import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.KeyHash;
import io.verbena.table.format.MergeLink;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SplitLink;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.moving.MergePlacement;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/** Subtables of one group, as they stand before a race with a split or a merge of them. */
final class PreparedSubtables
{
    private final UnsafeBuffer memory;
    private final long hashSeed;

    PreparedSubtables(final UnsafeBuffer memory, final long hashSeed)
    {
        this.memory = memory;
        this.hashSeed = hashSeed;
    }

    void format(final int at, final int suffix, final int depth, final long word)
    {
        SubtableDescriptor.write(memory, at, 7, suffix, depth, 1, hashSeed, 0);
        for (int bucket = 0; bucket < BucketDescriptor.BUCKETS_PER_GROUP; bucket++)
        {
            memory.putLong(at + SubtableDescriptor.GROUPS_OFFSET + bucket * BucketDescriptor.BUCKET_BYTES,
                BucketDescriptor.header(7, suffix, depth), LITTLE_ENDIAN);
        }
        for (int slot = 0; slot < BucketDescriptor.SLOTS_PER_GROUP; slot++)
        {
            memory.putLong(at + wordAt(slot), word, LITTLE_ENDIAN);
        }
    }

    private static int wordAt(final int slot)
    {
        return SubtableDescriptor.GROUPS_OFFSET +
            slot / BucketDescriptor.SLOTS_PER_BUCKET * BucketDescriptor.BUCKET_BYTES + BucketDescriptor.SLOTS_OFFSET +
            slot % BucketDescriptor.SLOTS_PER_BUCKET * BucketDescriptor.SLOT_BYTES;
    }

    /**
     * A key of a subtable whose choices are both the same combined bucket.
     *
     * @param suffix of the subtable.
     * @param number from 0, of those that are such keys.
     */
    MemorySegment keyOf(final int suffix, final int depth, final int number)
    {
        final KeyHash hash = new KeyHash();
        try (Arena arena = Arena.ofConfined())
        {
            final MemorySegment bytes = arena.allocate(Long.BYTES);
            int found = 0;
            for (long i = 0; ; i++)
            {
                bytes.set(ValueLayout.JAVA_LONG, 0, i);
                hash.compute(KeyHash.function(hashSeed), bytes);
                if (KeyHash.suffix(hash.high(), depth) == suffix && KeyHash.side1(hash.low()) == 0 &&
                    KeyHash.side2(hash.low()) == 0 && found++ == number)
                {
                    return MemorySegment.ofArray(bytes.toArray(ValueLayout.JAVA_BYTE));
                }
            }
        }
    }

    /** As an insert of the key leaves it, in a table that is not split, that died after its first step. */
    void leaveTentativeWord(final int tableAt, final MemorySegment key, final int blockAt)
    {
        final KeyHash hash = new KeyHash();
        try (Arena arena = Arena.ofConfined())
        {
            hash.compute(KeyHash.function(hashSeed), arena.allocate(key.byteSize()).copyFrom(key));
        }
        memory.putLong(tableAt + wordAt(BucketDescriptor.SLOTS_PER_BUCKET), SlotWord.withKind(
            SlotWord.committed(KeyHash.fingerprint(hash.high()), KeyHash.window(hash.high(), 0), 9, 1, blockAt),
            SlotWord.KIND_TENTATIVE), LITTLE_ENDIAN);
    }

    /** As one does that dies before he proposes a merge: of the slots that are to be reserved all but two are. */
    void reserveMostSlots(final int first, final int second)
    {
        final long[] words = new long[2 * MergePlacement.SLOTS];
        for (int i = 0; i < words.length; i++)
        {
            words[i] = memory.getLong(placeOf(first, second, i), LITTLE_ENDIAN);
        }
        final List<Integer> chosen = new ArrayList<>();
        for (int i = MergePlacement.toReserve(words); i >= 0; i = MergePlacement.toReserve(words))
        {
            words[i] = SlotWord.RESERVED;
            chosen.add(i);
        }
        chosen.subList(0, chosen.size() - 2)
            .forEach(i -> memory.putLong(placeOf(first, second, i), SlotWord.RESERVED, LITTLE_ENDIAN));
    }

    private static int placeOf(final int first, final int second, final int word)
    {
        return (word < MergePlacement.SLOTS ? first : second) + wordAt(word % MergePlacement.SLOTS);
    }

    /** As one does that dies then: all slots are frozen but the key's and the first ones, or most are initialised. */
    void mergeMostSlots(
        final int first, final int second, final int merged, final boolean isPlacing, final boolean leavesFew)
    {
        final int[] subtables = {first, second};
        format(merged, 0, 0, SlotWord.UNINITIALISED);
        SubtableDescriptor.write(memory, merged, 7, 0, 0, 1, hashSeed, first, second, 0);
        final long[] old = new long[2 * MergePlacement.SLOTS];
        for (int side = 0; side < 2; side++)
        {
            final int at = subtables[side];
            final long link = MergeLink.of(merged, subtables[1 - side]);
            memory.putLong(at + SubtableDescriptor.SPLIT_OFFSET, link, LITTLE_ENDIAN);
            for (int slot = 0; slot < MergePlacement.SLOTS; slot++)
            {
                memory.putLong(at + SubtableDescriptor.GROUPS_OFFSET +
                    slot / BucketDescriptor.SLOTS_PER_BUCKET * BucketDescriptor.BUCKET_BYTES, link, LITTLE_ENDIAN);
                final long word = memory.getLong(at + wordAt(slot), LITTLE_ENDIAN);
                final boolean stays = !isPlacing && side == 1 && isLeft(slot, leavesFew, 1);
                memory.putLong(at + wordAt(slot), stays ? word : SlotWord.frozen(word), LITTLE_ENDIAN);
                old[side * MergePlacement.SLOTS + slot] = SlotWord.frozen(word);
            }
        }
        final long[] placed = new long[MergePlacement.SLOTS];
        MergePlacement.place(old, 0, 0, placed);
        for (int slot = 0; isPlacing && slot < MergePlacement.SLOTS; slot++)
        {
            if (!isLeft(slot, leavesFew, 2))
            {
                memory.putLong(merged + wordAt(slot), placed[slot], LITTLE_ENDIAN);
            }
        }
    }

    /** The first slots of each bucket, or of the first one only. */
    private static boolean isLeft(final int slot, final boolean leavesFew, final int slots)
    {
        return (leavesFew ? slot : slot % BucketDescriptor.SLOTS_PER_BUCKET) < slots;
    }

    /** As a splitter does that dies then: all slots but the key's, and the first of each bucket. */
    void moveMostSlots(
        final int tableAt, final int offset0, final int offset1, final int depth, final boolean leavesFew)
    {
        final long link = SplitLink.of(offset0, offset1);
        for (int side = 0; side < 2; side++)
        {
            final int at = (int)SplitLink.offset(link, side);
            final int suffix = side << depth;
            SubtableDescriptor.write(memory, at, 7, suffix, depth + 1, 1, hashSeed, tableAt);
            for (int bucket = 0; bucket < BucketDescriptor.BUCKETS_PER_GROUP; bucket++)
            {
                memory.putLong(at + SubtableDescriptor.GROUPS_OFFSET + bucket * BucketDescriptor.BUCKET_BYTES,
                    BucketDescriptor.header(7, suffix, depth + 1), LITTLE_ENDIAN);
            }
        }
        memory.putLong(tableAt + SubtableDescriptor.SPLIT_OFFSET, link, LITTLE_ENDIAN);
        for (int slot = 0; slot < BucketDescriptor.SLOTS_PER_GROUP; slot++)
        {
            final int at = SubtableDescriptor.GROUPS_OFFSET +
                slot / BucketDescriptor.SLOTS_PER_BUCKET * BucketDescriptor.BUCKET_BYTES;
            final int wordAt = at + BucketDescriptor.SLOTS_OFFSET +
                slot % BucketDescriptor.SLOTS_PER_BUCKET * BucketDescriptor.SLOT_BYTES;
            memory.putLong(tableAt + at, link, LITTLE_ENDIAN);
            final long word = memory.getLong(tableAt + wordAt, LITTLE_ENDIAN);
            final boolean stays = word != SlotWord.EMPTY || isLeft(slot, leavesFew, 1);
            memory.putLong(offset0 + wordAt, stays ? SlotWord.UNINITIALISED : SlotWord.EMPTY, LITTLE_ENDIAN);
            memory.putLong(offset1 + wordAt, stays ? SlotWord.UNINITIALISED : SlotWord.EMPTY, LITTLE_ENDIAN);
            memory.putLong(tableAt + wordAt, stays ? word : SlotWord.frozen(word), LITTLE_ENDIAN);
        }
    }

    /** @return committed words in the first group of a subtable. */
    int committedWords(final int subtableAt)
    {
        int committed = 0;
        for (int slot = 0; slot < BucketDescriptor.SLOTS_PER_GROUP; slot++)
        {
            final int at = subtableAt + SubtableDescriptor.GROUPS_OFFSET + slot / 7 * BucketDescriptor.BUCKET_BYTES +
                BucketDescriptor.SLOTS_OFFSET + slot % 7 * BucketDescriptor.SLOT_BYTES;
            committed += SlotWord.isCommitted(memory.getLong(at, LITTLE_ENDIAN)) ? 1 : 0;
        }
        return committed;
    }
}
