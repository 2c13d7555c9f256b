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
    /** The link and the predecessor are swapped; the others are the same on survivors, and not on who comes in. */
    private static final int HEADER_WORDS = SubtableDescriptor.HEADER_BYTES / Long.BYTES;
    private static final int LINK_WORD = SubtableDescriptor.SPLIT_OFFSET / Long.BYTES;
    private static final int WORDS_PER_BUCKET = BucketDescriptor.BUCKET_BYTES / Long.BYTES;

    private final SlotReconciliation words;
    private final int wordsPerSubtable;
    private final List<Subtable> subtables = new ArrayList<>();
    private final Set<Long> seen = new HashSet<>();
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
        named.forEach(this::find);
    }

    private void follow(final Subtable subtable)
    {
        final long link =
            MergeLink.linkOf(words.sourceWord(subtable.offset() + SubtableDescriptor.SPLIT_OFFSET));
        if (MergeLink.isLink(link))
        {
            find(subtable.merged(link));
        }
        else if (link != SplitLink.NONE)
        {
            find(subtable.child(link, 0));
            find(subtable.child(link, 1));
        }
    }

    private void find(final Subtable subtable)
    {
        if (seen.add(subtable.offset()))
        {
            subtables.add(subtable);
        }
    }

    /** @return where the next word is; -1: all are equal. */
    long nextOffset()
    {
        if (next == (long)subtables.size() * wordsPerSubtable)
        {
            return -1;
        }
        final long offset = subtables.get((int)(next / wordsPerSubtable)).offset();
        final long word = next % wordsPerSubtable;
        return offset + word * Long.BYTES;
    }

    /** @return whether the next word is a slot, and no link or bucket header. */
    boolean isSlotNext()
    {
        final long word = next % wordsPerSubtable - HEADER_WORDS;
        return word >= 0 && word % WORDS_PER_BUCKET * Long.BYTES != BucketDescriptor.HEADER_OFFSET;
    }

    /** Makes the next word equal. @return false: all are. */
    public boolean goOn()
    {
        final long offset = nextOffset();
        if (offset < 0)
        {
            return false;
        }
        if (next % wordsPerSubtable == LINK_WORD)
        {
            follow(subtables.get((int)(next / wordsPerSubtable)));
        }
        if (isSlotNext())
        {
            words.reconcile(offset);
        }
        else
        {
            words.reconcileLink(offset);
        }
        next++;
        return true;
    }

    /** @return subtables that were found. */
    public int subtables()
    {
        return subtables.size();
    }

    @Override
    public String toString()
    {
        return "SubtableReconciliation{subtables=" + subtables.size() + " words=" + next + " of " +
            (long)subtables.size() * wordsPerSubtable + '}';
    }
}
