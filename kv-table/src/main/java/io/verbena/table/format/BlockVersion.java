package io.verbena.table.format;

/**
 * A record's version: 64 bits, unique for its key for ever, through delete and re-insert.
 *
 * <pre>
 *   63                                              16 15            0
 *  +--------------------------------------------------+---------------+
 *  |  max(last issued + 1, clock, replaced + 1)       | writer number |
 *  +--------------------------------------------------+---------------+
 *                          48                                16
 * </pre>
 *
 * <p>The upper part counts ticks of 2^16 ns since 1970 (about 65 µs) and is pushed forward where the clock lags; two
 * writers never share a number, and one writer never issues an upper part twice: that makes it unique whatever the
 * clocks do. Versions of a key ascend within one life of the key; across a delete they ascend as far as the clocks
 * agree.
 */
public final class BlockVersion
{
    /** No version: no record has it. */
    public static final long NONE = 0L;
    public static final int WRITER_BITS = 16;
    /** Largest writer number. */
    public static final int MAX_WRITER_NUMBER = (1 << WRITER_BITS) - 1;

    private static final long WRITER_MASK = (1L << WRITER_BITS) - 1;

    private BlockVersion()
    {
    }

    /**
     * Makes the next version.
     *
     * @param lastIssued   what this writer issued last, or {@link #NONE}.
     * @param clockNs      nanoseconds since 1970.
     * @param replaced     version of the record to be replaced if known, or {@link #NONE}.
     * @param writerNumber 0 to {@link #MAX_WRITER_NUMBER}, held by one writer only.
     * @return the version, greater than both {@code lastIssued} and {@code replaced}.
     */
    public static long next(final long lastIssued, final long clockNs, final long replaced, final int writerNumber)
    {
        final long after = Math.max(lastIssued >>> WRITER_BITS, replaced >>> WRITER_BITS) + 1;
        return Math.max(after, clockNs >>> WRITER_BITS) << WRITER_BITS | writerNumber & WRITER_MASK;
    }

    /** @return the 8 bits that a slot word carries: the low ones of the counting part. */
    public static int slotBits(final long version)
    {
        return (int)(version >>> WRITER_BITS) & (1 << SlotWord.VERSION_BITS) - 1;
    }

    /** @return number of the writer. */
    public static int writerNumber(final long version)
    {
        return (int)(version & WRITER_MASK);
    }
}
