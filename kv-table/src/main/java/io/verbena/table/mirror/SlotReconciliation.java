package io.verbena.table.mirror;

import io.verbena.table.access.EmptiedWords;
import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.format.SizeClasses;
import io.verbena.table.format.SlotWord;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.agrona.ExpandableDirectByteBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * Makes the surviving copies of slots equal, when the view that they were in is over and nothing of it lands any more.
 * Whatever was acknowledged, or seen, is on all of them; what one has beyond that was proposed by an operation that was
 * answered nothing. So any one of them may be the source of a slot, and it may be another one for each slot, when the
 * work is cut off and begun again with fewer.
 *
 * <p>Nobody else has access meanwhile. Not thread-safe.
 */
public final class SlotReconciliation
{
    /** The memory of a survivor. */
    public interface Copy
    {
        /** Reads. */
        void read(long offset, MutableDirectBuffer target, int lengthBytes);

        /** Writes. */
        void write(long offset, MutableDirectBuffer source, int lengthBytes);

        /** @return a word of it. */
        long word(long offset);

        /** Sets a word of it. */
        void word(long offset, long word);
    }

    private final Copy source;
    /** Whether every tentative word of the source counts, as the mark of a delete. */
    private final boolean hasMarksOnly;
    private final List<Copy> others;
    private final ExpandableDirectByteBuffer block = new ExpandableDirectByteBuffer(SizeClasses.MAX_BLOCK_BYTES);
    private final ExpandableDirectByteBuffer present = new ExpandableDirectByteBuffer(SizeClasses.MAX_BLOCK_BYTES);
    private long wordsChanged;
    private long blocksCopied;

    /**
     * @param members   of the view that is over, in its order: head first, primary last.
     * @param survivors by member: those that have closed the view, and were in sync.
     */
    public SlotReconciliation(final List<Copy> members, final boolean[] survivors)
    {
        this(members, survivors, List.of());
    }

    /**
     * As the other one, before memory nodes come in that were no members: they are made equal too, and none is a
     * source. Claims stand beside the words that count where the view has one member, and the next view begins with all
     * its words on each: so those of an only member are emptied, as those of a head are.
     *
     * @param entering the memory of those who come in.
     */
    public SlotReconciliation(final List<Copy> members, final boolean[] survivors, final List<Copy> entering)
    {
        final int from = sourceOf(survivors);
        source = members.get(from);
        hasMarksOnly = from == survivors.length - 1 && !(isOnlyMember(survivors) && !entering.isEmpty());
        // By place: copies whose memory is equal may be equal objects.
        others = Stream.concat(IntStream.range(0, survivors.length)
            .filter(member -> member != from && survivors[member]).<Copy>mapToObj(members::get),
            entering.stream()).toList();
    }

    private static boolean isOnlyMember(final boolean[] survivors)
    {
        return survivors.length == 1;
    }

    /**
     * The primary, where nothing stands that was not committed; else the head, else a middle.
     *
     * @throws IllegalArgumentException when no member survives.
     */
    static int sourceOf(final boolean[] survivors)
    {
        if (survivors[survivors.length - 1])
        {
            return survivors.length - 1;
        }
        for (int member = 0; member < survivors.length; member++)
        {
            if (survivors[member])
            {
                return member;
            }
        }
        throw new IllegalArgumentException("no member of the view is left: its records are in the last checkpoints");
    }

    /** @return a word of the copy that is the source. */
    public long sourceWord(final long offset)
    {
        return source.word(offset);
    }

    /**
     * Where the blocks have to be looked at before a slot is made equal: at the source, and at each copy that has
     * another word there.
     *
     * @return the word of the source; 0 where no block is to be looked at.
     */
    long blockToProve(final long offset)
    {
        final long word = source.word(offset);
        if (SlotWord.namesBlock(word))
        {
            for (final Copy copy : others)
            {
                if (copy.word(offset) != word)
                {
                    return word;
                }
            }
        }
        return 0;
    }

    /** Makes a bucket header, a link or a predecessor equal: nothing there is a claim, or names a block. */
    public void reconcileLink(final long offset)
    {
        final long word = source.word(offset);
        for (final Copy copy : others)
        {
            copyWord(copy, offset, word);
        }
    }

    /** Makes a slot equal. May be done again. */
    public void reconcile(final long offset)
    {
        long word = source.word(offset);
        if (SlotWord.isTentative(word) && !hasMarksOnly)
        {
            // A claim, or a delete that nobody was answered: absent in either case, and never what was there before.
            word = EmptiedWords.byTool(word);
            source.word(offset, word);
            wordsChanged++;
        }
        for (final Copy copy : others)
        {
            reconcile(copy, offset, word);
        }
    }

    private void reconcile(final Copy copy, final long offset, final long word)
    {
        // A copy gets the word in a step behind the one that writes the block to all.
        if (SlotWord.namesBlock(word) && copy.word(offset) != word)
        {
            final int lengthBytes = SizeClasses.lengthBytes(SlotWord.sizeClass(word));
            copy.read(SlotWord.blockOffset(word), present, lengthBytes);
            if (!BlockDescriptor.isValid(
                present, 0, lengthBytes, SlotWord.withKind(word, SlotWord.KIND_COMMITTED)))
            {
                source.read(SlotWord.blockOffset(word), block, lengthBytes);
                copy.write(SlotWord.blockOffset(word), block, lengthBytes);
                blocksCopied++;
            }
        }
        copyWord(copy, offset, word);
    }

    private void copyWord(final Copy copy, final long offset, final long word)
    {
        if (copy.word(offset) != word)
        {
            copy.word(offset, word);
            wordsChanged++;
        }
    }

    /** @return words of copies that were not those of the source, with those of the source that were emptied. */
    public long wordsChanged()
    {
        return wordsChanged;
    }

    /** @return blocks that did not prove themselves. */
    public long blocksCopied()
    {
        return blocksCopied;
    }
}
