package io.verbena.elle;

/**
 * What a checker says of a history. Never a boolean: a checker that ran out of time has not found the history good.
 */
public enum Validity
{
    /** The history is allowed. */
    VALID("valid"),
    /** The history is not allowed, and the checker can show why. */
    INVALID("invalid"),
    /** The checker could not decide; its verdict says what stood in the way. */
    UNKNOWN("unknown");

    private final String word;

    Validity(final String word)
    {
        this.word = word;
    }

    /**
     * The word used in reports.
     *
     * @return lower case.
     */
    public String word()
    {
        return word;
    }

    /**
     * The verdict on two histories or two parts of one: a violation anywhere decides, then ignorance.
     *
     * @param other verdict on the other part.
     * @return the verdict on both together.
     */
    public Validity and(final Validity other)
    {
        if (this == INVALID || other == INVALID)
        {
            return INVALID;
        }
        return this == UNKNOWN ? this : other;
    }
}
