package io.verbena.table.mirror;

import io.verbena.table.directory.Subtable;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.MergeLink;
import io.verbena.table.format.SplitLink;
import io.verbena.table.format.SubtableDescriptor;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Makes the surviving copies of a table's subtables equal, word after word: of those that its descriptor names, and of
 * all that links of the source lead to. May be cut off behind any word, and begun again by another one with fewer
 * copies, of which any may be the source then. No order matters: what a split or a merge changes next it proposes when
 * what comes before is committed, and so is the same on all copies. Not thread-safe.
 */
public final class SubtableReconciliation
{
    /** Of the header line those that are swapped: the link and the predecessor behind it. */
    private static final int HEADER_WORDS = 2;
    private static final int WORDS_PER_BUCKET = BucketDescriptor.BUCKET_BYTES / Long.BYTES;

    private final SlotReconciliation words;
    private final int wordsPerSubtable;
    private final List<Subtable> subtables = new ArrayList<>();
    private final long total;
    private long next;

    /**
     * @param words      of the survivors, which nobody else has access to until this is done.
     * @param named      subtables that the table's newest descriptor names in this group.
     * @param groupCount of each subtable.
     */
    public SubtableReconciliation(
        final SlotReconciliation words, final List<Subtable> named, final int groupCount)
    {
        this.words = words;
        wordsPerSubtable = HEADER_WORDS + groupCount * BucketDescriptor.BUCKETS_PER_GROUP * WORDS_PER_BUCKET;
        final Set<Long> seen = new HashSet<>();
        for (final Subtable subtable : named)
        {
            if (seen.add(subtable.offset()))
            {
                subtables.add(subtable);
            }
        }
        for (int i = 0; i < subtables.size(); i++)
        {
            follow(subtables.get(i), seen);
        }
        total = (long)subtables.size() * wordsPerSubtable;
    }

    private void follow(final Subtable subtable, final Set<Long> seen)
    {
        final long link =
            MergeLink.linkOf(words.sourceWord(subtable.offset() + SubtableDescriptor.SPLIT_OFFSET));
        if (MergeLink.isLink(link))
        {
            find(subtable.merged(link), seen);
        }
        else if (link != SplitLink.NONE)
        {
            find(subtable.child(link, 0), seen);
            find(subtable.child(link, 1), seen);
        }
    }

    private void find(final Subtable subtable, final Set<Long> seen)
    {
        if (seen.add(subtable.offset()))
        {
            subtables.add(subtable);
        }
    }

    /** Makes the next word equal. @return false: all are. */
    public boolean goOn()
    {
        if (next == total)
        {
            return false;
        }
        final long offset = subtables.get((int)(next / wordsPerSubtable)).offset() + SubtableDescriptor.SPLIT_OFFSET;
        final int word = (int)(next++ % wordsPerSubtable) - HEADER_WORDS;
        if (word < 0)
        {
            words.reconcileLink(offset + (long)(word + HEADER_WORDS) * Long.BYTES);
        }
        else
        {
            reconcileInBucket(offset - SubtableDescriptor.SPLIT_OFFSET + SubtableDescriptor.GROUPS_OFFSET +
                (long)word * Long.BYTES, word % WORDS_PER_BUCKET * Long.BYTES);
        }
        return true;
    }

    private void reconcileInBucket(final long offset, final int inBucket)
    {
        if (inBucket == BucketDescriptor.HEADER_OFFSET)
        {
            words.reconcileLink(offset);
        }
        else
        {
            words.reconcile(offset);
        }
    }

    /** @return subtables that were found. */
    public int subtables()
    {
        return subtables.size();
    }

    @Override
    public String toString()
    {
        return "SubtableReconciliation{subtables=" + subtables.size() + " words=" + next + " of " + total + '}';
    }
}
