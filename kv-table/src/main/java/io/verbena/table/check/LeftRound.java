package io.verbena.table.check;

import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.format.MergeLink;
import io.verbena.table.format.SizeClasses;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SplitLink;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Whether a word that one copy has and the primary has not can be what a round proposed on that of the primary, and
 * nobody finished. Section "Rounds as a port" of decision 0019. Stateless.
 */
final class LeftRound
{
    /** Reads a block of a copy. */
    @FunctionalInterface
    interface Blocks
    {
        /** @return whether the region has it, and then it is in the buffer. */
        boolean read(int copy, long word, UnsafeBuffer target);
    }

    private LeftRound()
    {
    }

    /** Of the word in the place of the link of a header line. */
    static boolean explainsLink(final long word, final long atPrimary)
    {
        final boolean isFirst = MergeLink.linkOf(atPrimary) == SplitLink.NONE;
        final boolean isSplit = SplitLink.isLink(word) && leads(word) &&
            (isFirst || SplitLink.isLink(atPrimary) && word == SplitLink.complete(atPrimary));
        final boolean isProposal = MergeLink.isLink(word) && leads(word) && isFirst;
        // A proposal is taken back, or refused before it was decided.
        final boolean isRefusal = MergeLink.isWithdrawn(word) && !SplitLink.isLink(atPrimary);
        return isSplit || isProposal || isRefusal;
    }

    /** A split link and a merge link have their offsets in the same bits. */
    private static boolean leads(final long link)
    {
        return SplitLink.offset(link, 0) != 0 && SplitLink.offset(link, 1) != 0 &&
            SplitLink.offset(link, 0) != SplitLink.offset(link, 1);
    }

    /** Of the header of a bucket that is frozen. */
    static boolean explainsHeader(final long word, final long atPrimary)
    {
        return (SplitLink.isLink(word) || MergeLink.isLink(word)) && leads(word) && !SplitLink.isLink(atPrimary) &&
            !MergeLink.isLink(atPrimary);
    }

    /** Of a predecessor: a subtable became whole. */
    static boolean explainsPredecessor(final long word, final long atPrimary)
    {
        return word == 0 && atPrimary != 0;
    }

    /** Of a slot. */
    static boolean explainsSlot(
        final int copy, final long word, final long atPrimary, final int primary, final Blocks blocks,
        final UnsafeBuffer buffer)
    {
        if (word == SlotWord.UNINITIALISED || SlotWord.isFrozen(atPrimary) && !SlotWord.isRestructuring(word))
        {
            return false;
        }
        if (SlotWord.isFrozen(word))
        {
            return word == SlotWord.frozen(atPrimary);
        }
        if (SlotWord.isTentative(word))
        {
            // A claim stands at the head only, the mark of a delete on its record.
            return SlotWord.isCommitted(atPrimary) ?
                SlotWord.blockOffset(word) == SlotWord.blockOffset(atPrimary) :
                copy == 0 && SlotWord.isEmpty(atPrimary);
        }
        if (SlotWord.isCommitted(word))
        {
            return isLater(copy, word, atPrimary, primary, blocks, buffer);
        }
        return (SlotWord.isEmpty(word) || word == SlotWord.RESERVED) && !SlotWord.isCommitted(atPrimary);
    }

    /** Whether a record was put on another one, or where none was: each one's version is larger than the last. */
    private static boolean isLater(
        final int copy, final long word, final long atPrimary, final int primary, final Blocks blocks,
        final UnsafeBuffer buffer)
    {
        if (!blocks.read(copy, word, buffer) || !isWhole(buffer, word))
        {
            return false;
        }
        final long version = BlockDescriptor.version(buffer, 0);
        return !SlotWord.isCommitted(atPrimary) || !blocks.read(primary, atPrimary, buffer) ||
            !isWhole(buffer, atPrimary) || BlockDescriptor.version(buffer, 0) < version;
    }

    /** @return whether a block is the one that a word published. */
    static boolean isWhole(final UnsafeBuffer block, final long word)
    {
        return BlockDescriptor.isValid(block, 0, SizeClasses.lengthBytes(SlotWord.sizeClass(word)),
            SlotWord.withKind(word, SlotWord.KIND_COMMITTED));
    }
}
