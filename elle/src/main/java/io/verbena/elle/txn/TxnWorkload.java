package io.verbena.elle.txn;

/**
 * What the operations within a transaction are.
 */
public enum TxnWorkload
{
    /** {@code [:append k v]} adds an element to the list of a key, {@code [:r k [...]]} reads the whole list. */
    LIST_APPEND("list-append"),
    /** {@code [:w k v]} overwrites the register of a key, {@code [:r k v]} reads it; at first every register is nil. */
    RW_REGISTER("rw-register");

    private final String word;

    TxnWorkload(final String word)
    {
        this.word = word;
    }

    /**
     * The name on the command line.
     *
     * @return as Elle spells it.
     */
    public String word()
    {
        return word;
    }

    /**
     * Finds a workload by its name.
     *
     * @param word as {@link #word()} gives it.
     * @return the workload.
     * @throws IllegalArgumentException if there is none; names those that exist.
     */
    public static TxnWorkload ofWord(final String word)
    {
        for (final TxnWorkload workload : values())
        {
            if (workload.word.equals(word))
            {
                return workload;
            }
        }
        throw new IllegalArgumentException("unknown workload '" + word + "': must be list-append or rw-register");
    }

    @Override
    public String toString()
    {
        return word;
    }
}
