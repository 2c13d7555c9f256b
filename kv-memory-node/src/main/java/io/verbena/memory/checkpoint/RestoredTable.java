package io.verbena.memory.checkpoint;

import io.verbena.table.directory.Subtable;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.DirectoryEntry;
import io.verbena.table.format.KeyHash;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SplitLink;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.TableDescriptor;

import org.agrona.collections.LongArrayList;

import java.util.Arrays;
import java.util.List;
import java.util.function.IntFunction;

/**
 * The subtables of a table in a region that is being restored: those that its descriptor names, and what they are split
 * into where more records come than they have slots for, which is when splits were not published yet that the lost
 * memory knew. A subtable that is split here is left as a split leaves it that was complete before the first insert.
 * One thread.
 */
final class RestoredTable
{
    /** Hears what becomes of slots in a split. */
    interface Moves
    {
        /** High half of the hash of the key of a slot that is taken. */
        long hashHigh(long slot);

        /** The slot's word goes to another slot, as another word. */
        void onMoved(long slot, long newSlot, long newWord);
    }

    private static final int SLOT_BYTES = BucketDescriptor.SLOT_BYTES;

    private final RegionWords words;
    private final FreePlaces places;
    private final TableDescriptor table;
    /** Memory node or group, as directory entries name it. */
    private final int homeId;
    private final int owner;
    private final boolean isPartHere;
    private Subtable[] directory;
    /** The slots of two groups in which a key may be, in the order in which they are filled. */
    private final LongArrayList candidates = new LongArrayList();

    /**
     * @param homeId memory node or group whose part of the table it is, as directory entries name it.
     * @param owner  of its chunks: the group, or 0.
     */
    RestoredTable(
        final RegionWords words, final FreePlaces places, final TableDescriptor table, final int homeId,
        final int owner)
    {
        this.words = words;
        this.places = places;
        this.table = table;
        this.homeId = homeId;
        this.owner = owner;
        directory = new Subtable[table.subtableCount()];
        final List<Subtable> subtables = Subtable.of(table);
        subtables.forEach(this::put);
        isPartHere = subtables.stream().anyMatch((subtable) -> subtable.memoryNodeId() == homeId);
    }

    private void put(final Subtable subtable)
    {
        for (int i = subtable.suffix(); i < directory.length; i += 1 << subtable.depth())
        {
            directory[i] = subtable;
        }
    }

    /** Whether the chunks in which the descriptor names subtables are free. */
    boolean fits()
    {
        return Subtable.of(table).stream().allMatch((subtable) ->
            subtable.memoryNodeId() != homeId || places.isFreeForIndex(subtable.offset()));
    }

    /** Formats what the descriptor names here. */
    void format()
    {
        for (final Subtable subtable : Subtable.of(table))
        {
            if (subtable.memoryNodeId() == homeId)
            {
                if (!places.takeIndex(subtable.offset(), owner))
                {
                    throw new CheckpointException("table " + table.name() + " does not fit this memory: " + subtable +
                        " at " + subtable.offset(), null);
                }
                format(subtable);
            }
        }
    }

    private void format(final Subtable subtable)
    {
        final int length = (int)SubtableDescriptor.lengthBytes(table.groupCount());
        words.clear(subtable.offset(), length);
        putHeaders(subtable, BucketDescriptor.header(table.tableId(), subtable.suffix(), subtable.depth()));
        SubtableDescriptor.write(words.at(subtable.offset(), SubtableDescriptor.HEADER_BYTES), 0, table.tableId(),
            subtable.suffix(), subtable.depth(), table.groupCount(), table.hashSeed(), 0);
    }

    private void putHeaders(final Subtable subtable, final long header)
    {
        final long end = subtable.offset() + SubtableDescriptor.lengthBytes(table.groupCount());
        for (long at = subtable.offset() + SubtableDescriptor.GROUPS_OFFSET; at < end;
            at += BucketDescriptor.BUCKET_BYTES)
        {
            words.put(at + BucketDescriptor.HEADER_OFFSET, header);
        }
    }

    TableDescriptor table()
    {
        return table;
    }

    Subtable subtable(final KeyHash hash)
    {
        return directory[KeyHash.suffix(hash.high(), Integer.numberOfTrailingZeros(directory.length))];
    }

    /** The slots that are taken and may be those of a key, by their fingerprints; valid until the next call. */
    LongArrayList takenLike(final KeyHash hash)
    {
        collect(hash);
        final int fingerprint = KeyHash.fingerprint(hash.high());
        candidates.removeIfLong((slot) -> words.get(slot) == SlotWord.EMPTY ||
            SlotWord.fingerprint(words.get(slot)) != fingerprint);
        return candidates;
    }

    /**
     * A free slot for a key.
     *
     * @param place that it had in its subtable, taken where that may be.
     * @return offset in the region; -1 when there is none.
     */
    long freeSlot(final KeyHash hash, final long place)
    {
        collect(hash);
        final long former = subtable(hash).offset() + place;
        if (candidates.containsLong(former) && words.get(former) == SlotWord.EMPTY)
        {
            return former;
        }
        for (int i = 0; i < candidates.size(); i++)
        {
            if (words.get(candidates.getLong(i)) == SlotWord.EMPTY)
            {
                return candidates.getLong(i);
            }
        }
        return -1;
    }

    /** The less loaded pair first, as an insert does, and main buckets before the overflow. */
    private void collect(final KeyHash hash)
    {
        final long low = hash.low();
        final Subtable home = subtable(hash);
        final long group1 = group(home, KeyHash.group1(low, table.groupCount()));
        final long group2 = group(home, KeyHash.group2(low, table.groupCount()));
        candidates.clear();
        collectPair(group1, KeyHash.side1(low));
        final int first = candidates.size();
        collectPair(group2, KeyHash.side2(low));
        if (taken(first, candidates.size()) < taken(0, first))
        {
            candidates.clear();
            collectPair(group2, KeyHash.side2(low));
            collectPair(group1, KeyHash.side1(low));
        }
    }

    private int taken(final int from, final int to)
    {
        int taken = 0;
        for (int i = from; i < to; i++)
        {
            taken += words.get(candidates.getLong(i)) == SlotWord.EMPTY ? 0 : 1;
        }
        return taken;
    }

    private static long group(final Subtable subtable, final int group)
    {
        return subtable.offset() + SubtableDescriptor.GROUPS_OFFSET + (long)group * BucketDescriptor.GROUP_BYTES;
    }

    private void collectPair(final long group, final int side)
    {
        final int main = side == 0 ? BucketDescriptor.MAIN_0_OFFSET : BucketDescriptor.MAIN_1_OFFSET;
        collectBucket(group + main);
        collectBucket(group + BucketDescriptor.OVERFLOW_OFFSET);
    }

    private void collectBucket(final long bucket)
    {
        for (int slot = 0; slot < BucketDescriptor.SLOTS_PER_BUCKET; slot++)
        {
            candidates.addLong(bucket + BucketDescriptor.SLOTS_OFFSET + (long)slot * SLOT_BYTES);
        }
    }

    /**
     * Splits the subtable of a key.
     *
     * @param moves      hears where its words go.
     * @param noMemory   makes the exception when there is no chunk, of how many chunks are missing.
     */
    void split(final KeyHash hash, final Moves moves, final IntFunction<CheckpointException> noMemory)
    {
        final Subtable old = subtable(hash);
        if (old.depth() == BucketDescriptor.MAX_DEPTH)
        {
            throw new CheckpointException("table " + table.name() + " has more records than fit it: " + old, null);
        }
        final long offset0 = places.takeAnyIndex(owner);
        final long offset1 = places.takeAnyIndex(owner);
        if (offset0 < 0 || offset1 < 0)
        {
            throw noMemory.apply(offset0 < 0 ? 2 : 1);
        }
        final long link = SplitLink.of(offset0, offset1);
        if (1 << old.depth() == directory.length)
        {
            directory = Arrays.copyOf(directory, 2 * directory.length);
            System.arraycopy(directory, 0, directory, directory.length / 2, directory.length / 2);
        }
        for (int side = 0; side < 2; side++)
        {
            format(old.child(link, side));
            put(old.child(link, side));
        }
        move(old, link, moves);
        putHeaders(old, link);
        words.put(old.offset() + SubtableDescriptor.SPLIT_OFFSET, SplitLink.complete(link));
    }

    private void move(final Subtable old, final long link, final Moves moves)
    {
        final long end = old.offset() + SubtableDescriptor.lengthBytes(table.groupCount());
        for (long bucket = old.offset() + SubtableDescriptor.GROUPS_OFFSET; bucket < end;
            bucket += BucketDescriptor.BUCKET_BYTES)
        {
            for (long slot = bucket + BucketDescriptor.SLOTS_OFFSET; slot < bucket + BucketDescriptor.BUCKET_BYTES;
                slot += SLOT_BYTES)
            {
                final long word = words.get(slot);
                if (word != SlotWord.EMPTY)
                {
                    final Subtable child = old.child(link, SlotWord.side(word, old.depth()));
                    final long newWord = SlotWord.beginsWindow(child.depth()) ?
                        SlotWord.withWindow(word, KeyHash.window(moves.hashHigh(slot), child.depth())) : word;
                    final long newSlot = child.offset() + slot - old.offset();
                    words.put(newSlot, newWord);
                    moves.onMoved(slot, newSlot, newWord);
                }
                words.put(slot, SlotWord.frozen(SlotWord.EMPTY));
            }
        }
    }

    /** Whether a part of the table is kept at this memory node, or by this group. */
    boolean isPartHere()
    {
        return isPartHere;
    }

    /** Memory node or group at which a key is kept, as directory entries name it. */
    int home(final KeyHash hash)
    {
        return DirectoryEntry.memoryNodeId(table.entry(KeyHash.suffix(hash.high(), table.depth())));
    }
}
