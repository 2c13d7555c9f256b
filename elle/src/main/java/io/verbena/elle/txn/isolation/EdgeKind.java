package io.verbena.elle.txn.isolation;

/**
 * Why one transaction comes before another. The first three follow from the data and are Adya's dependencies.
 */
public enum EdgeKind
{
    /** The second overwrote or extended a version that the first wrote. */
    WW("ww"),
    /** The second read what the first wrote. */
    WR("wr"),
    /** The second wrote the version that follows the one the first read (an anti-dependency). */
    RW("rw"),
    /** The same process called the second after the first was over. */
    PROCESS("process"),
    /** The first was over before the second was called. */
    REALTIME("realtime");

    private final String word;

    EdgeKind(final String word)
    {
        this.word = word;
    }

    /**
     * The label of the edge.
     *
     * @return lower case.
     */
    public String word()
    {
        return word;
    }

    /**
     * The kind as one bit of a set of kinds.
     *
     * @return a power of two, at most 16.
     */
    public int bit()
    {
        return 1 << ordinal();
    }

    @Override
    public String toString()
    {
        return word;
    }
}
