package io.verbena.table.growth;

import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.moving.MergePlacement;

/**
 * Looks at groups of two subtables that are to be merged, some of both at a time, and reserves slots until what can
 * ever be in them fits. Owner thread of the engine only.
 */
public final class MergeRoom
{
    public static final int NONE = -1;
    /** Groups of each of the two that are looked at together. */
    private static final int PIECE = GrowthBatch.GROUPS_PER_WRITE / 2;
    private static final int WORDS = 2 * MergePlacement.SLOTS;

    private final GrowthBatch batch;
    private final int groupCount;
    private final long[] words = new long[WORDS];
    private final long[] offsets = new long[2];
    private int first;
    private int sides = 2;

    MergeRoom(final GrowthBatch batch, final int groupCount)
    {
        this.batch = batch;
        this.groupCount = groupCount;
    }

    /** Stages READs of the groups of both from one on. */
    void stageRead(final long[] subtables, final int group)
    {
        stageRead(subtables, group, 2);
    }

    /** As the other one, of the first of the two alone where that is the only one; then {@link #records} counts it. */
    void stageRead(final long[] subtables, final int group, final int count)
    {
        first = group;
        sides = count;
        for (int side = 0; side < sides; side++)
        {
            offsets[side] = subtables[side];
            batch.read(at(side), groups() * BucketDescriptor.GROUP_BYTES,
                SubtableDescriptor.groupOffset(offsets[side], first));
        }
    }

    /** @return the group behind those that were read. */
    int behind()
    {
        return first + groups();
    }

    private int groups()
    {
        return Math.min(PIECE, groupCount - first);
    }

    /** @return a group of which the records do not fit one, or {@link #NONE}. */
    int full()
    {
        for (int i = 0; i < groups(); i++)
        {
            load(i);
            if (!MergePlacement.fits(words))
            {
                return first + i;
            }
        }
        return NONE;
    }

    /** @return whether some group has not enough reserved slots; none of them is full. */
    boolean needsMore()
    {
        boolean needs = false;
        for (int i = 0; i < groups(); i++)
        {
            load(i);
            needs |= MergePlacement.toReserve(words) != NONE;
        }
        return needs;
    }

    /** @return whether all buckets read are those of two siblings, or of the one that was read. */
    boolean isOf(final int tableId, final int suffix, final int depth)
    {
        boolean is = true;
        for (int bucket = 0; bucket < groups() * BucketDescriptor.BUCKETS_PER_GROUP; bucket++)
        {
            for (int side = 0; side < sides; side++)
            {
                final int at = at(side) + bucket * BucketDescriptor.BUCKET_BYTES + BucketDescriptor.HEADER_OFFSET;
                is &= batch.word(at) == BucketDescriptor.header(tableId, suffix | side << depth - 1, depth);
            }
        }
        return is;
    }

    /** @return records in the groups read. */
    int records()
    {
        int records = 0;
        for (int i = 0; i < groups(); i++)
        {
            load(i);
            for (int word = 0; word < sides * MergePlacement.SLOTS; word++)
            {
                records += SlotWord.isCommitted(words[word]) ? 1 : 0;
            }
        }
        return records;
    }

    void stageReserve()
    {
        for (int i = 0; i < groups() && batch.hasRoom(); i++)
        {
            load(i);
            for (int word = MergePlacement.toReserve(words); word != NONE && batch.hasRoom();
                word = MergePlacement.toReserve(words))
            {
                final int side = word / MergePlacement.SLOTS;
                batch.swap(i * WORDS + word,
                    SubtableDescriptor.groupOffset(offsets[side], first) + wordAt(i, word) - at(side),
                    words[word], SlotWord.RESERVED);
                words[word] = SlotWord.RESERVED;
            }
        }
    }

    void onReserved()
    {
        for (int i = 0; i < batch.posted(); i++)
        {
            final int at = wordAt(batch.item(i) / WORDS, batch.item(i) % WORDS);
            final long found = batch.result(i);
            batch.word(at, found == batch.word(at) ? SlotWord.RESERVED : found);
        }
    }

    private static int at(final int side)
    {
        return GrowthBatch.FORMAT_AT + side * PIECE * BucketDescriptor.GROUP_BYTES;
    }

    private static int wordAt(final int inPiece, final int word)
    {
        final int slot = word % MergePlacement.SLOTS;
        return at(word / MergePlacement.SLOTS) + inPiece * BucketDescriptor.GROUP_BYTES +
            BucketDescriptor.slotPosition(slot);
    }

    private void load(final int inPiece)
    {
        for (int word = 0; word < WORDS; word++)
        {
            words[word] = batch.word(wordAt(inPiece, word));
        }
    }
}
