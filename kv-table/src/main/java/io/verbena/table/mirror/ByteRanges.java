package io.verbena.table.mirror;

import java.util.Arrays;

/**
 * Parts of a memory node's memory, none of which overlap, by ascending offset; those that follow each other at once are
 * one. Immutable.
 */
public final class ByteRanges
{
    /** No bytes. */
    public static final ByteRanges NONE = new ByteRanges(new long[0], new long[0]);

    private final long[] offsets;
    private final long[] lengthsBytes;

    private ByteRanges(final long[] offsets, final long[] lengthsBytes)
    {
        this.offsets = offsets;
        this.lengthsBytes = lengthsBytes;
    }

    /**
     * @param offsets     where parts of one length begin, in any order; not kept.
     * @param lengthBytes of each, 1 or more.
     * @return the parts.
     * @throws IllegalArgumentException when two of them overlap, or one begins below 0.
     */
    public static ByteRanges of(final long[] offsets, final long lengthBytes)
    {
        final long[] lengthsBytes = new long[offsets.length];
        Arrays.fill(lengthsBytes, lengthBytes);
        return of(offsets, lengthsBytes);
    }

    /**
     * @param offsets      where parts begin, in any order; not kept.
     * @param lengthsBytes of the part at the same place, 1 or more; not kept.
     * @return the parts.
     * @throws IllegalArgumentException when two of them overlap, one begins below 0, or there are not as many lengths.
     */
    public static ByteRanges of(final long[] offsets, final long[] lengthsBytes)
    {
        if (offsets.length != lengthsBytes.length)
        {
            throw new IllegalArgumentException(offsets.length + " offsets and " + lengthsBytes.length + " lengths");
        }
        final Integer[] order = new Integer[offsets.length];
        Arrays.setAll(order, i -> i);
        Arrays.sort(order, (one, other) -> Long.compare(offsets[one], offsets[other]));
        final long[] begins = new long[offsets.length];
        final long[] lengths = new long[offsets.length];
        int count = 0;
        long end = -1;
        for (final int i : order)
        {
            check(offsets[i], lengthsBytes[i], end);
            if (offsets[i] == end)
            {
                lengths[count - 1] += lengthsBytes[i];
            }
            else
            {
                begins[count] = offsets[i];
                lengths[count++] = lengthsBytes[i];
            }
            end = offsets[i] + lengthsBytes[i];
        }
        return new ByteRanges(Arrays.copyOf(begins, count), Arrays.copyOf(lengths, count));
    }

    private static void check(final long offset, final long lengthBytes, final long end)
    {
        if (lengthBytes < 1 || offset < 0 || offset > Long.MAX_VALUE - lengthBytes)
        {
            throw new IllegalArgumentException("a length must be 1 or more, and an offset 0 or more: offset=" + offset +
                " lengthBytes=" + lengthBytes);
        }
        if (offset < end)
        {
            throw new IllegalArgumentException("what begins at " + offset + " is in what ends at " + end);
        }
    }

    /** @return how many there are, 0 or more. */
    public int count()
    {
        return offsets.length;
    }

    /**
     * @param index 0 to {@link #count()} - 1.
     * @return where it begins, 0 or more.
     */
    public long offset(final int index)
    {
        return offsets[index];
    }

    /**
     * @param index 0 to {@link #count()} - 1.
     * @return its length, 1 or more.
     */
    public long lengthBytes(final int index)
    {
        return lengthsBytes[index];
    }

    /** @return bytes of all of them. */
    public long totalBytes()
    {
        return Arrays.stream(lengthsBytes).sum();
    }

    @Override
    public boolean equals(final Object other)
    {
        return other instanceof final ByteRanges ranges && Arrays.equals(offsets, ranges.offsets) &&
            Arrays.equals(lengthsBytes, ranges.lengthsBytes);
    }

    @Override
    public int hashCode()
    {
        return 31 * Arrays.hashCode(offsets) + Arrays.hashCode(lengthsBytes);
    }

    @Override
    public String toString()
    {
        return totalBytes() + " bytes in " + count() + " ranges";
    }
}
