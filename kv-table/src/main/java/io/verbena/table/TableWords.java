package io.verbena.table;

import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SplitLink;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.TableDescriptor;
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
final class TableWords
{
    /** Groups in one READ. */
    static final int GROUPS_PER_READ = 320;
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
     */
    record Slot(Subtable home, int group, int bucket, long offset, boolean isOld)
    {
        int windowDepth()
        {
            return isOld ? home.depth() - 1 : home.depth();
        }

        /** @return what a word that stands there means. */
        long counting(final long word)
        {
            return isOld && word != SlotWord.UNINITIALISED ?
                SlotMoves.moved(SlotWord.frozen(word), home.depth(), home.side(), false, 0) : word;
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
            mayHave |= SplitLink.isLink(header(level, bucket)) || hasFrozen(level, bucket);
        }
        if (!mayHave)
        {
            return SplitLink.NONE;
        }
        reader.read(subtable.memoryNodeId(), subtable.offset() + SubtableDescriptor.SPLIT_OFFSET, word, Long.BYTES);
        final long link = word.getLong(0, LITTLE_ENDIAN);
        final long length = regionLengthBytes.applyAsLong(subtable.memoryNodeId());
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

    /** A line that was read while its bucket was frozen may have the frozen word and not the link before it. */
    private void settle(final Subtable subtable, final int level, final int bucket)
    {
        final UnsafeBuffer words = level(level);
        final UnsafeBuffer line =
            new UnsafeBuffer(words, bucket * BucketDescriptor.BUCKET_BYTES, BucketDescriptor.BUCKET_BYTES);
        for (int look = 0; look < MAX_LOOKS && !SplitLink.isLink(header(level, bucket)) && hasFrozen(level, bucket);
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
                wordAt(bucket, slot), isOld);
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

    private static int wordAt(final int bucket, final int slot)
    {
        return bucket * BucketDescriptor.BUCKET_BYTES + BucketDescriptor.SLOTS_OFFSET +
            slot * BucketDescriptor.SLOT_BYTES;
    }
}
