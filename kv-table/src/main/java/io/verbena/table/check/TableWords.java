package io.verbena.table.check;

import io.verbena.table.directory.Subtable;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.MergeLink;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SplitLink;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.TableDescriptor;
import io.verbena.table.moving.MergePlacement;
import io.verbena.table.moving.SlotMove;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntToLongFunction;
import org.agrona.concurrent.UnsafeBuffer;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * Reads the groups of subtables in bulk, for checks, and follows splits on the way: of each slot the word that counts
 * is given, wherever the slot has got to. A bucket is read before those that take its place, so that no word is missed
 * that is moved meanwhile. Used by one thread.
 */
public final class TableWords
{
    /** Groups in one READ. */
    public static final int GROUPS_PER_READ = 320;
    private static final int BUFFER_BYTES = GROUPS_PER_READ * BucketDescriptor.GROUP_BYTES;
    private static final int MAX_LOOKS = 16;
    private static final int SLOTS_PER_BUCKET = BucketDescriptor.SLOTS_PER_BUCKET;

    private final RegionReader reader;
    private final Arena arena;
    private final IntToLongFunction regionLengthBytes;
    /** One for each level of splits, the first for the subtable asked for. */
    private final List<UnsafeBuffer> levels = new ArrayList<>();
    private final UnsafeBuffer word;
    private TableDescriptor table;
    private Sink sink;
    private int firstGroup;
    private int buckets;

    /** Takes words. */
    interface Sink
    {
        /** Takes the word of a slot. */
        void onWord(Slot slot, long word);

        /** Takes a bucket whose header is neither that of its subtable nor a link, or has a word that needs one. */
        void onWrongBucket(Subtable subtable, int group, int bucket);
    }

    /**
     * Where a word was found that counts.
     *
     * @param home   subtable that the word belongs to.
     * @param group  in it.
     * @param bucket in the group.
     * @param offset of the slot; that of the same slot of the old subtable as long as that one counts.
     * @param isOld  whether it is that one.
     * @param isLeft whether the subtable is merged with its sibling, and the word counts still.
     */
    record Slot(Subtable home, int group, int bucket, long offset, boolean isOld, boolean isLeft)
    {
        int windowDepth()
        {
            return isOld ? home.depth() - 1 : home.depth();
        }

        /** @return what a word that stands there means. */
        long counting(final long word)
        {
            if (isLeft)
            {
                return SlotWord.isFrozen(word) ? SlotMove.asCommitted(word) : word;
            }
            return isOld && word != SlotWord.UNINITIALISED ?
                SlotMove.moved(SlotWord.frozen(word), home.depth(), home.side(), false, 0) : word;
        }

        @Override
        public String toString()
        {
            return String.format("slot 0x%x of subtable %d", offset, home.suffix()) +
                (isOld ? " before it is moved" : "");
        }
    }

    /**
     * @param reader            of the memory.
     * @param arena             for buffers.
     * @param regionLengthBytes by id of the memory node: what lies behind is not read.
     */
    TableWords(final RegionReader reader, final Arena arena, final IntToLongFunction regionLengthBytes)
    {
        this.reader = reader;
        this.regionLengthBytes = regionLengthBytes;
        this.arena = arena;
        word = new UnsafeBuffer(arena.allocate(Long.BYTES, Long.BYTES).address(), Long.BYTES);
    }

    /** @return how many groups the piece has that begins with a group. */
    static int pieceLength(final TableDescriptor table, final int group)
    {
        return Math.min(GROUPS_PER_READ, table.groupCount() - group);
    }

    /** Gives the words of a piece of a subtable, or of what has taken its place. */
    void forEach(final TableDescriptor of, final Subtable subtable, final int group, final Sink words)
    {
        table = of;
        sink = words;
        firstGroup = group;
        buckets = pieceLength(of, group) * BucketDescriptor.BUCKETS_PER_GROUP;
        walk(subtable, null, SplitLink.NONE, 0);
    }

    /** The header line has the link before any bucket has it. @return the link, if some bucket may have it. */
    private long linkOf(final Subtable subtable, final int level)
    {
        boolean mayHave = false;
        for (int bucket = 0; bucket < buckets; bucket++)
        {
            mayHave |= isLink(header(level, bucket)) || hasFrozen(level, bucket);
        }
        if (!mayHave)
        {
            return SplitLink.NONE;
        }
        reader.read(subtable.memoryNodeId(), subtable.offset() + SubtableDescriptor.SPLIT_OFFSET, word, Long.BYTES);
        final long link = MergeLink.linkOf(word.getLong(0, LITTLE_ENDIAN));
        final long length = regionLengthBytes.applyAsLong(subtable.memoryNodeId());
        if (MergeLink.isLink(link))
        {
            return subtable.depth() > 0 && subtable.sibling(link).isWithin(length, table.groupCount()) &&
                subtable.merged(link).isWithin(length, table.groupCount()) ? link : SplitLink.NONE;
        }
        final boolean leadsWithin = link != SplitLink.NONE &&
            subtable.child(link, 0).isWithin(length, table.groupCount()) &&
            subtable.child(link, 1).isWithin(length, table.groupCount());
        return leadsWithin ? SplitLink.underWay(link) : SplitLink.NONE;
    }

    private UnsafeBuffer level(final int level)
    {
        while (levels.size() <= level)
        {
            levels.add(new UnsafeBuffer(arena.allocate(BUFFER_BYTES, 64).address(), BUFFER_BYTES));
        }
        return levels.get(level);
    }

    /** Buckets whose parent has a link only, if there is a parent. */
    private void walk(final Subtable subtable, final Subtable parent, final long parentLink, final int level)
    {
        final UnsafeBuffer words = level(level);
        reader.read(subtable.memoryNodeId(), subtable.groupOffset(firstGroup), words,
            buckets * BucketDescriptor.BUCKET_BYTES);
        final long link = linkOf(subtable, level);
        if (MergeLink.isLink(link))
        {
            walkMerged(subtable, link, level);
            return;
        }
        for (int bucket = 0; bucket < buckets; bucket++)
        {
            if (parent == null || header(level - 1, bucket) == parentLink)
            {
                settle(subtable, level, bucket);
                if (link == SplitLink.NONE || header(level, bucket) != link)
                {
                    give(subtable, parent, level, bucket);
                }
            }
            else
            {
                // Not asked for here, nor further down.
                words.putLong(bucket * BucketDescriptor.BUCKET_BYTES, 0);
            }
        }
        for (int side = 0; side < 2 && link != SplitLink.NONE; side++)
        {
            walk(subtable.child(link, side), subtable, link, level + 1);
        }
    }

    /**
     * The words of a group that is merged are given once, with those of the subtable with split bit 0; until a slot of
     * it is initialised, those of either are its own. The new subtable is read first: when a slot of a group is
     * initialised there, then all old ones are frozen, and say where each word goes.
     */
    private void walkMerged(final Subtable subtable, final long link, final int level)
    {
        final Subtable to = subtable.merged(link);
        final Subtable sibling = subtable.sibling(link);
        final boolean isFirst = subtable.side() == 0;
        read(to, level + 1);
        if (isSuperseded(to, level + 1))
        {
            if (isFirst)
            {
                walk(to, null, SplitLink.NONE, level + 1);
            }
            return;
        }
        read(isFirst ? subtable : sibling, level + 2);
        read(isFirst ? sibling : subtable, level + 3);
        final long[] old = new long[2 * MergePlacement.SLOTS];
        final long[] placed = new long[MergePlacement.SLOTS];
        for (int first = 0; first < buckets; first += BucketDescriptor.BUCKETS_PER_GROUP)
        {
            if (isUntouched(level + 1, first))
            {
                giveLeft(subtable, isFirst ? level + 2 : level + 3, first);
            }
            else if (isFirst)
            {
                for (int slot = 0; slot < old.length; slot++)
                {
                    old[slot] = word(level + 2 + slot / MergePlacement.SLOTS, first, slot % MergePlacement.SLOTS);
                }
                MergePlacement.place(old, to.depth(), to.suffix(), placed);
                giveMerged(to, level + 1, first, placed);
            }
        }
    }

    private void read(final Subtable subtable, final int level)
    {
        reader.read(subtable.memoryNodeId(), subtable.groupOffset(firstGroup), level(level),
            buckets * BucketDescriptor.BUCKET_BYTES);
    }

    private boolean isSuperseded(final Subtable subtable, final int level)
    {
        boolean is = false;
        for (int bucket = 0; bucket < buckets; bucket++)
        {
            is |= header(level, bucket) != subtable.header(table.tableId()) || hasFrozen(level, bucket);
        }
        return is;
    }

    private boolean isUntouched(final int level, final int firstBucket)
    {
        boolean is = true;
        for (int slot = 0; slot < MergePlacement.SLOTS; slot++)
        {
            is &= word(level, firstBucket, slot) == SlotWord.UNINITIALISED;
        }
        return is;
    }

    private void giveLeft(final Subtable subtable, final int level, final int firstBucket)
    {
        for (int slot = 0; slot < MergePlacement.SLOTS; slot++)
        {
            final Slot where = slot(subtable, firstBucket, slot, true);
            sink.onWord(where, where.counting(word(level, firstBucket, slot)));
        }
    }

    private void giveMerged(final Subtable to, final int level, final int firstBucket, final long[] placed)
    {
        for (int slot = 0; slot < MergePlacement.SLOTS; slot++)
        {
            final long word = word(level, firstBucket, slot);
            sink.onWord(slot(to, firstBucket, slot, false), word == SlotWord.UNINITIALISED ? placed[slot] : word);
        }
    }

    private Slot slot(final Subtable subtable, final int firstBucket, final int slot, final boolean isLeft)
    {
        return new Slot(subtable, firstGroup + firstBucket / BucketDescriptor.BUCKETS_PER_GROUP,
            slot / SLOTS_PER_BUCKET, subtable.groupOffset(firstGroup) + wordAt(firstBucket, slot), false, isLeft);
    }

    private static boolean isLink(final long header)
    {
        return SplitLink.isLink(header) || MergeLink.isLink(header);
    }

    /** A line that was read while its bucket was frozen may have the frozen word and not the link before it. */
    private void settle(final Subtable subtable, final int level, final int bucket)
    {
        final UnsafeBuffer words = level(level);
        final UnsafeBuffer line =
            new UnsafeBuffer(words, bucket * BucketDescriptor.BUCKET_BYTES, BucketDescriptor.BUCKET_BYTES);
        for (int look = 0; look < MAX_LOOKS && !isLink(header(level, bucket)) && hasFrozen(level, bucket);
            look++)
        {
            reader.read(subtable.memoryNodeId(), subtable.groupOffset(firstGroup) +
                (long)bucket * BucketDescriptor.BUCKET_BYTES, line, BucketDescriptor.BUCKET_BYTES);
        }
    }

    private boolean hasFrozen(final int level, final int bucket)
    {
        boolean has = false;
        for (int slot = 0; slot < SLOTS_PER_BUCKET; slot++)
        {
            has |= SlotWord.isFrozen(word(level, bucket, slot));
        }
        return has;
    }

    private void give(final Subtable subtable, final Subtable parent, final int level, final int bucket)
    {
        final int group = firstGroup + bucket / BucketDescriptor.BUCKETS_PER_GROUP;
        final int inGroup = bucket % BucketDescriptor.BUCKETS_PER_GROUP;
        if (header(level, bucket) != subtable.header(table.tableId()) || hasFrozen(level, bucket))
        {
            sink.onWrongBucket(subtable, group, inGroup);
        }
        for (int slot = 0; slot < SLOTS_PER_BUCKET; slot++)
        {
            final long word = word(level, bucket, slot);
            final boolean isOld = word == SlotWord.UNINITIALISED && parent != null;
            final Slot where = new Slot(subtable, group, inGroup, (isOld ? parent : subtable).groupOffset(firstGroup) +
                wordAt(bucket, slot), isOld, false);
            sink.onWord(where, isOld ? where.counting(word(level - 1, bucket, slot)) : word);
        }
    }

    private long header(final int level, final int bucket)
    {
        return level(level).getLong(
            bucket * BucketDescriptor.BUCKET_BYTES + BucketDescriptor.HEADER_OFFSET, LITTLE_ENDIAN);
    }

    private long word(final int level, final int bucket, final int slot)
    {
        return level(level).getLong(wordAt(bucket, slot), LITTLE_ENDIAN);
    }

    /** Slots are counted from the first one of a bucket on, through those behind it. */
    private static int wordAt(final int bucket, final int slot)
    {
        return (bucket + slot / SLOTS_PER_BUCKET) * BucketDescriptor.BUCKET_BYTES + BucketDescriptor.SLOTS_OFFSET +
            slot % SLOTS_PER_BUCKET * BucketDescriptor.SLOT_BYTES;
    }
}
