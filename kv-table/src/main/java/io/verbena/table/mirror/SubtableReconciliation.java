package io.verbena.table.mirror;

import io.verbena.table.directory.Subtable;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.MergeLink;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SplitLink;
import io.verbena.table.format.SubtableDescriptor;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Makes the surviving copies of a table's subtables equal, word after word: of those that its descriptor names, and of
 * all that links of the source lead to. May be cut off behind any word, and begun again by another one with fewer
 * copies, of which any may be the source then.
 *
 * <p>So the order matters where one batch of a split or merge changes several words: the link of a bucket before its
 * frozen slots, the predecessors of the new subtables before the link of the old one that says that the split is
 * complete. What the source has is brought to the others in that order; what they have beyond it is taken back in the
 * reverse order, and first. Not thread-safe.
 */
public final class SubtableReconciliation
{
    private static final int WORDS_PER_BUCKET = BucketDescriptor.BUCKET_BYTES / Long.BYTES;

    private final SlotReconciliation words;
    private final int wordsPerSubtable;
    private final List<Subtable> subtables = new ArrayList<>();
    /** Offsets of predecessors and links, in the order in which they are changed; links are those of {@link #links}. */
    private final List<Long> ends = new ArrayList<>();
    private final Set<Long> links = new HashSet<>();
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
        wordsPerSubtable = groupCount * BucketDescriptor.BUCKETS_PER_GROUP * WORDS_PER_BUCKET;
        final Set<Long> seen = new HashSet<>();
        for (final Subtable subtable : named)
        {
            if (seen.add(subtable.offset()))
            {
                ends.add(subtable.offset() + SubtableDescriptor.PREDECESSOR_OFFSET);
                subtables.add(subtable);
            }
        }
        for (int i = 0; i < subtables.size(); i++)
        {
            follow(subtables.get(i), seen);
        }
        total = (long)subtables.size() * wordsPerSubtable + ends.size();
    }

    private void follow(final Subtable subtable, final Set<Long> seen)
    {
        final long at = subtable.offset() + SubtableDescriptor.SPLIT_OFFSET;
        final long link = MergeLink.linkOf(words.sourceWord(at));
        if (MergeLink.isLink(link))
        {
            find(subtable.merged(link), seen);
        }
        else if (link != SplitLink.NONE)
        {
            find(subtable.child(link, 1), seen);
            find(subtable.child(link, 0), seen);
        }
        links.add(at);
        ends.add(at);
    }

    private void find(final Subtable subtable, final Set<Long> seen)
    {
        if (seen.add(subtable.offset()))
        {
            ends.add(subtable.offset() + SubtableDescriptor.PREDECESSOR_OFFSET);
            subtables.add(subtable);
        }
    }

    /** Makes the next word equal. @return false: all are. */
    public boolean goOn()
    {
        while (next < 2 * total)
        {
            final boolean isTakingBack = next < total;
            final long number = isTakingBack ? total - 1 - next : next - total;
            next++;
            if (isTakingBack != isLast(number))
            {
                reconcile(number);
                return true;
            }
        }
        return false;
    }

    private boolean isEnd(final long number)
    {
        return number >= total - ends.size();
    }

    private boolean isSlot(final long number)
    {
        return !isEnd(number) && number % wordsPerSubtable % WORDS_PER_BUCKET != 0;
    }

    private long offset(final long number)
    {
        if (isEnd(number))
        {
            return ends.get((int)(number - total + ends.size()));
        }
        return subtables.get((int)(number / wordsPerSubtable)).offset() + SubtableDescriptor.GROUPS_OFFSET +
            number % wordsPerSubtable * Long.BYTES;
    }

    /** Whether a word of the source is what a split or a merge has made of it in the end. */
    private boolean isLast(final long number)
    {
        final long word = words.sourceWord(offset(number));
        if (isSlot(number))
        {
            return SlotWord.isFrozen(word);
        }
        if (!isEnd(number))
        {
            return SplitLink.isLink(word) || MergeLink.isLink(word);
        }
        return links.contains(offset(number)) ? SplitLink.isComplete(word) : word == 0;
    }

    private void reconcile(final long number)
    {
        if (isSlot(number))
        {
            words.reconcile(offset(number));
        }
        else
        {
            words.reconcileLink(offset(number));
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
        return "SubtableReconciliation{subtables=" + subtables.size() + " words=" + next + " of " + 2 * total + '}';
    }
}
