package io.verbena.table.moving;

import io.verbena.table.format.KeyHash;
import io.verbena.table.format.SlotWord;

/**
 * What a slot's word becomes when its subtable is split or merged: the rules, for everybody who moves slots, reads them
 * while they move, or checks them. Section "Split" of {@code docs/protocol/growth.md}. Stateless.
 */
public final class SlotMove
{
    /** Of the half of a key's hash that a block holds, where the bits that choose subtables begin. */
    public static final int DIRECTORY_BITS_AT = KeyHash.DIRECTORY_SHIFT / Byte.SIZE;

    private SlotMove()
    {
    }

    /** @return word to which a split turns another one. */
    public static long frozen(final long word)
    {
        return SlotWord.frozen(word);
    }

    /** @return whether there is nothing to freeze any more. */
    public static boolean isFrozen(final long word)
    {
        return SlotWord.isFrozen(word);
    }

    /**
     * @param frozen    word of the old slot.
     * @param depth     of the new subtables.
     * @param side      of one of them.
     * @param renews    whether the window begins anew with this depth.
     * @param newWindow then: the window, if the word goes to this side.
     * @return what the slot of that side becomes.
     */
    public static long moved(
        final long frozen, final int depth, final int side, final boolean renews, final int newWindow)
    {
        if (!SlotWord.namesBlock(frozen) || SlotWord.side(frozen, depth - 1) != side)
        {
            return SlotWord.EMPTY;
        }
        final long word = SlotWord.withKind(frozen, SlotWord.KIND_COMMITTED);
        return renews ? SlotWord.withWindow(word, newWindow) : word;
    }

    /** @return the word of a slot of a subtable that is merged as it counts until its group is. */
    public static long asCommitted(final long old)
    {
        return SlotWord.namesBlock(old) ? SlotWord.withKind(old, SlotWord.KIND_COMMITTED) : SlotWord.EMPTY;
    }
}
