package io.verbena.table.format;

import java.lang.foreign.MemorySegment;
import net.openhft.hashing.LongTupleHashFunction;

/**
 * Where a key lives: one XXH3-128 of the key with the table's seed, cut into disjoint fields.
 *
 * <pre>
 *  low half                                       high half
 *   63          33   32   31           1    0      63             32 31         18 17        0
 *  +--------------+-----+--------------+-----+    +-----------------+-------------+-----------+
 *  |   group 1    |side1|   group 2    |side2|    |   directory     | fingerprint |  spare    |
 *  +--------------+-----+--------------+-----+    +-----------------+-------------+-----------+
 *         31         1         31         1               32              14           18
 * </pre>
 *
 * <p>The low {@code depth} directory bits are the subtable's suffix; the split window is four of them, see {@link
 * SlotWord}. All 128 bits together stand for the key in the location cache: the seed is random and secret to the
 * table's users, so that nobody can prepare two keys that coincide. A mutable holder, one for each operation slot; not
 * thread-safe.
 */
public final class KeyHash
{
    public static final int GROUP_BITS = 31;
    public static final int SIDE_BITS = 1;
    public static final int DIRECTORY_BITS = 32;
    public static final int SPARE_BITS = 18;

    public static final int SIDE_2_SHIFT = 0;
    public static final int GROUP_2_SHIFT = SIDE_2_SHIFT + SIDE_BITS;
    public static final int SIDE_1_SHIFT = GROUP_2_SHIFT + GROUP_BITS;
    public static final int GROUP_1_SHIFT = SIDE_1_SHIFT + SIDE_BITS;
    public static final int FINGERPRINT_SHIFT = SPARE_BITS;
    public static final int DIRECTORY_SHIFT = FINGERPRINT_SHIFT + SlotWord.FINGERPRINT_BITS;

    static
    {
        if (GROUP_1_SHIFT + GROUP_BITS != Long.SIZE || DIRECTORY_SHIFT + DIRECTORY_BITS != Long.SIZE)
        {
            throw new IllegalStateException("the fields of a key hash do not fill two 64-bit halves");
        }
    }

    private final long[] halves = new long[2];

    /** @return the hash function of a table. */
    public static LongTupleHashFunction function(final long seed)
    {
        return LongTupleHashFunction.xx128(seed);
    }

    /**
     * Hashes a key in native memory.
     *
     * @param function    of the table, see {@link #function}.
     * @param address     of the first byte.
     * @param lengthBytes of the key.
     */
    public void compute(final LongTupleHashFunction function, final long address, final int lengthBytes)
    {
        function.hashMemory(address, lengthBytes, halves);
    }

    /**
     * Hashes a key in native memory; checked by the segment, for tools and tests.
     *
     * @param function of the table.
     * @param key      a native segment, all of it the key.
     */
    public void compute(final LongTupleHashFunction function, final MemorySegment key)
    {
        if (!key.isNative())
        {
            throw new IllegalArgumentException("a key is hashed in native memory; copy it there first");
        }
        function.hashMemory(key.address(), key.byteSize(), halves);
    }

    /** @return the half that chooses groups. */
    public long low()
    {
        return halves[0];
    }

    /** @return the half that chooses subtable and fingerprint. */
    public long high()
    {
        return halves[1];
    }

    /** @return group of the first choice. */
    public static int group1(final long low, final int groupCount)
    {
        return (int)((low >>> GROUP_1_SHIFT) * groupCount >>> GROUP_BITS);
    }

    /** @return side of the first choice, 0 or 1. */
    public static int side1(final long low)
    {
        return (int)(low >>> SIDE_1_SHIFT) & 1;
    }

    /** @return group of the second choice. */
    public static int group2(final long low, final int groupCount)
    {
        return (int)((low >>> GROUP_2_SHIFT & (1L << GROUP_BITS) - 1) * groupCount >>> GROUP_BITS);
    }

    /** @return side of the second choice, 0 or 1. */
    public static int side2(final long low)
    {
        return (int)(low >>> SIDE_2_SHIFT) & 1;
    }

    /** @return the low {@code depth} directory bits: number of the subtable in a directory of this depth. */
    public static int suffix(final long high, final int depth)
    {
        return (int)(high >>> DIRECTORY_SHIFT & (1L << depth) - 1);
    }

    /** @return the four directory bits from the last multiple of four at or below {@code depth} upwards. */
    public static int window(final long high, final int depth)
    {
        final int first = depth / SlotWord.WINDOW_BITS * SlotWord.WINDOW_BITS;
        return (int)(high >>> DIRECTORY_SHIFT + first) & (1 << SlotWord.WINDOW_BITS) - 1;
    }

    /** @return the bits in another order: fingerprint, spare ones, directory; by that scans walk a group. */
    public static long order(final long high)
    {
        return Long.rotateLeft(high, DIRECTORY_BITS);
    }

    /** @return fingerprint for the slot word. */
    public static int fingerprint(final long high)
    {
        return (int)(high >>> FINGERPRINT_SHIFT) & (1 << SlotWord.FINGERPRINT_BITS) - 1;
    }
}
