package io.verbena.table.format;

/**
 * The 8-byte word of a table slot, the only thing compare-and-swap works on.
 *
 * <pre>
 *   63 62 61          48 47   44 43        36 35    31 30                              0
 *  +-----+--------------+-------+------------+--------+---------------------------------+
 *  |kind | fingerprint  |window |  version   | class  |  block offset / 64              |
 *  +-----+--------------+-------+------------+--------+---------------------------------+
 *     2        14           4         8          5                  31
 * </pre>
 *
 * <p>Kinds: 0 special ({@link #EMPTY}, {@link #UNINITIALISED}, {@link #RESERVED}, {@link #emptied emptied words}), 1
 * committed, 2 tentative, 3 frozen.
 * Words of different states never coincide: a committed or tentative word has its kind, frozen(W) is W with the kind
 * replaced, and
 * frozen(0) has block offset 0, where no block ever lies. Fingerprint and window are bits of the key's hash, see {@link
 * KeyHash}; window holds 4 directory bits, from the last multiple of 4 at or below the subtable's depth, which tell a
 * split the side of a word without a look at its block; the word stays the same for up to four splits. Version is
 * {@link BlockVersion#slotBits}. The block lies on the memory node of the slot. Stateless.
 */
public final class SlotWord
{
    /** Version of this layout, which a superblock from version 3 on stands for. Version 2 knew no emptied words. */
    public static final int FORMAT_VERSION = 3;

    /** A free slot as formatting and moves leave it; see {@link #isEmpty}. */
    public static final long EMPTY = 0L;
    /** A slot of a new subtable whose content has not arrived: not zero, so no insert fits. */
    public static final long UNINITIALISED = 1L;
    /** A slot that stays empty until its subtable is merged or split: a merge has no room for more. */
    public static final long RESERVED = 2L;

    /** The low bits of an {@link #emptied emptied word}. */
    public static final int EMPTIED_TAG = 4;
    public static final int EMPTIED_TAG_BITS = 16;
    public static final int EMPTIED_WRITER_SHIFT = EMPTIED_TAG_BITS;
    public static final int EMPTIED_WRITER_BITS = BlockVersion.WRITER_BITS;
    public static final int EMPTIED_COUNT_SHIFT = EMPTIED_WRITER_SHIFT + EMPTIED_WRITER_BITS;
    public static final int EMPTIED_COUNT_BITS = 30;

    /** Kind of {@link #EMPTY}, {@link #UNINITIALISED}, {@link #RESERVED} and emptied words. */
    public static final int KIND_SPECIAL = 0;
    /** The key's value is the block named. */
    public static final int KIND_COMMITTED = 1;
    /** An insert that is not decided; the key is absent here. */
    public static final int KIND_TENTATIVE = 2;
    /** The content belongs to the next level of the directory; immutable for ever. */
    public static final int KIND_FROZEN = 3;

    public static final int OFFSET_BITS = 31;
    public static final int SIZE_CLASS_BITS = 5;
    public static final int VERSION_BITS = 8;
    public static final int WINDOW_BITS = 4;
    public static final int FINGERPRINT_BITS = 14;
    public static final int KIND_BITS = 2;

    public static final int OFFSET_SHIFT = 0;
    public static final int SIZE_CLASS_SHIFT = OFFSET_SHIFT + OFFSET_BITS;
    public static final int VERSION_SHIFT = SIZE_CLASS_SHIFT + SIZE_CLASS_BITS;
    public static final int WINDOW_SHIFT = VERSION_SHIFT + VERSION_BITS;
    public static final int FINGERPRINT_SHIFT = WINDOW_SHIFT + WINDOW_BITS;
    public static final int KIND_SHIFT = FINGERPRINT_SHIFT + FINGERPRINT_BITS;

    /** Blocks start at multiples of this. */
    public static final int BLOCK_ALIGNMENT_BYTES = 64;
    /** First byte past the last address a slot word can name: 128 GiB. */
    public static final long ADDRESSABLE_BYTES = (1L << OFFSET_BITS) * BLOCK_ALIGNMENT_BYTES;

    private static final long KIND_MASK = mask(KIND_BITS) << KIND_SHIFT;
    private static final long WINDOW_MASK = mask(WINDOW_BITS) << WINDOW_SHIFT;
    private static final long FROZEN_EMPTY = (long)KIND_FROZEN << KIND_SHIFT;
    private static final long EMPTIED_MASK = KIND_MASK | mask(EMPTIED_TAG_BITS);

    static
    {
        if (KIND_SHIFT + KIND_BITS != Long.SIZE || EMPTIED_COUNT_SHIFT + EMPTIED_COUNT_BITS != KIND_SHIFT)
        {
            throw new IllegalStateException("slot word fields fill " + (KIND_SHIFT + KIND_BITS) + " bits, not 64");
        }
        if (SizeClasses.COUNT > 1 << SIZE_CLASS_BITS)
        {
            throw new IllegalStateException("size classes do not fit the slot word: " + SizeClasses.COUNT);
        }
    }

    private SlotWord()
    {
    }

    /**
     * Builds a committed word.
     *
     * @param fingerprint  see {@link KeyHash#fingerprint}.
     * @param window       see {@link KeyHash#window}.
     * @param versionBits  see {@link BlockVersion#slotBits}.
     * @param sizeClass    see {@link SizeClasses}.
     * @param blockOffset  bytes from the start of the memory node's region, a multiple of 64, not 0.
     * @return the word.
     */
    public static long committed(
        final int fingerprint, final int window, final int versionBits, final int sizeClass, final long blockOffset)
    {
        assert blockOffset > 0 && blockOffset < ADDRESSABLE_BYTES && blockOffset % BLOCK_ALIGNMENT_BYTES == 0 :
            "block offset " + blockOffset;
        return (long)KIND_COMMITTED << KIND_SHIFT | (long)fingerprint << FINGERPRINT_SHIFT |
            (long)window << WINDOW_SHIFT | (long)versionBits << VERSION_SHIFT | (long)sizeClass << SIZE_CLASS_SHIFT |
            blockOffset / BLOCK_ALIGNMENT_BYTES;
    }

    /**
     * Builds the word that a delete leaves: tentative, so that readers take the key as absent and anyone may kill it,
     * but no one will commit it. The writer number stands in the place of fingerprint and window; block, size class
     * and version are those of the word deleted.
     *
     * @param writerNumber of the deleter, 0 to {@link BlockVersion#MAX_WRITER_NUMBER}.
     * @param deletedWord  committed.
     * @return the word.
     */
    public static long tombstone(final int writerNumber, final long deletedWord)
    {
        final long hashBits = mask(FINGERPRINT_BITS + WINDOW_BITS) << WINDOW_SHIFT;
        return withKind(deletedWord & ~hashBits, KIND_TENTATIVE) | (long)writerNumber << WINDOW_SHIFT;
    }

    /**
     * Builds the word that whoever empties a slot leaves there. Each is another one, so that who expects a word that
     * was in the slot before never meets it again.
     *
     * @param writerNumber 0 to {@link BlockVersion#MAX_WRITER_NUMBER}.
     * @param count        of the writer's; its low {@link #EMPTIED_COUNT_BITS} bits count.
     * @return the word.
     */
    public static long emptied(final int writerNumber, final long count)
    {
        return (count & mask(EMPTIED_COUNT_BITS)) << EMPTIED_COUNT_SHIFT |
            (long)writerNumber << EMPTIED_WRITER_SHIFT | EMPTIED_TAG;
    }

    /** @return whether the slot is free, never used or emptied: anyone may claim it. */
    public static boolean isEmpty(final long word)
    {
        return EMPTY == word || EMPTIED_TAG == (word & EMPTIED_MASK);
    }

    /** @return the same word with another kind. */
    public static long withKind(final long word, final int kind)
    {
        return word & ~KIND_MASK | (long)kind << KIND_SHIFT;
    }

    /** @return the word that a split leaves in the place of another: a committed one stays readable, others do not. */
    public static long frozen(final long word)
    {
        return namesBlock(word) ? withKind(word, KIND_FROZEN) : FROZEN_EMPTY;
    }

    /** @return whether a split took this slot over; {@link #namesBlock} says whether there was a record in it. */
    public static boolean isFrozen(final long word)
    {
        return kind(word) == KIND_FROZEN;
    }

    /** @return whether the word is committed, or was when it was frozen. */
    public static boolean namesBlock(final long word)
    {
        return isCommitted(word) || isFrozen(word) && word != FROZEN_EMPTY;
    }

    /** @return the same word with the window of another depth, see {@link KeyHash#window}. */
    public static long withWindow(final long word, final int window)
    {
        return word & ~WINDOW_MASK | (long)window << WINDOW_SHIFT;
    }

    /** @return the word without its window: a split may change that, so a block is bound to the rest. */
    public static long withoutWindow(final long word)
    {
        return word & ~WINDOW_MASK;
    }

    /** @return the side, 0 or 1, to which a split of a subtable of this depth takes the word. */
    public static int side(final long word, final int depth)
    {
        return window(word) >>> depth % WINDOW_BITS & 1;
    }

    /** @return whether words of a subtable of this depth have the first bit of a window that others have not. */
    public static boolean beginsWindow(final int depth)
    {
        return depth % WINDOW_BITS == 0;
    }

    /** @return the kind, 0 to 3. */
    public static int kind(final long word)
    {
        return (int)(word >>> KIND_SHIFT);
    }

    /** @return whether the word commits a block. */
    public static boolean isCommitted(final long word)
    {
        return kind(word) == KIND_COMMITTED;
    }

    /** @return whether the word is an undecided insert. */
    public static boolean isTentative(final long word)
    {
        return kind(word) == KIND_TENTATIVE;
    }

    /** @return whether the slot has moved to the next level, or its content has not arrived yet. */
    public static boolean isRestructuring(final long word)
    {
        return kind(word) == KIND_FROZEN || word == UNINITIALISED;
    }

    /** @return fingerprint bits. */
    public static int fingerprint(final long word)
    {
        return (int)(word >>> FINGERPRINT_SHIFT & mask(FINGERPRINT_BITS));
    }

    /** @return kind and fingerprint, as {@link #committed(int)} makes them. */
    public static long kindAndFingerprint(final long word)
    {
        return word >>> FINGERPRINT_SHIFT;
    }

    /** @return {@link #kindAndFingerprint} of a committed word with this fingerprint. */
    public static long committed(final int fingerprint)
    {
        return (long)KIND_COMMITTED << FINGERPRINT_BITS | fingerprint;
    }

    /** @return split window bits. */
    public static int window(final long word)
    {
        return (int)(word >>> WINDOW_SHIFT & mask(WINDOW_BITS));
    }

    /** @return version bits. */
    public static int versionBits(final long word)
    {
        return (int)(word >>> VERSION_SHIFT & mask(VERSION_BITS));
    }

    /** @return size class of the block. */
    public static int sizeClass(final long word)
    {
        return (int)(word >>> SIZE_CLASS_SHIFT & mask(SIZE_CLASS_BITS));
    }

    /** @return offset of the block in its memory node's region, bytes. */
    public static long blockOffset(final long word)
    {
        return (word & mask(OFFSET_BITS)) * BLOCK_ALIGNMENT_BYTES;
    }

    /** @return the word in words, for messages and tools. */
    public static String toString(final long word)
    {
        if (word == EMPTY)
        {
            return "empty";
        }
        if (word == UNINITIALISED)
        {
            return "uninitialised";
        }
        if (word == RESERVED)
        {
            return "reserved";
        }
        if (isEmpty(word))
        {
            return String.format("emptied{writer=%d count=%d}",
                word >>> EMPTIED_WRITER_SHIFT & mask(EMPTIED_WRITER_BITS), word >>> EMPTIED_COUNT_SHIFT);
        }
        final String[] names = {"special", "committed", "tentative", "frozen"};
        return String.format("%s{fingerprint=%04x window=%x version=%02x class=%d block=0x%x}", names[kind(word)],
            fingerprint(word), window(word), versionBits(word), sizeClass(word), blockOffset(word));
    }

    private static long mask(final int bits)
    {
        return (1L << bits) - 1;
    }
}
