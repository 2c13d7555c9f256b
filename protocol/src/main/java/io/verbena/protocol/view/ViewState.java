package io.verbena.protocol.view;

/** Where a view of a group stands. The codes are part of the record's format; later states have larger ones. */
public enum ViewState
{
    /** Compute nodes read and write under it. */
    ACTIVE(1),
    /** Survivors close their keys, compute nodes leave. */
    CLOSING(2),
    /** One compute node makes the survivors equal. */
    RECONCILING(3);

    private final int code;

    ViewState(final int code)
    {
        this.code = code;
    }

    /** @return number in records. */
    public int code()
    {
        return code;
    }

    /**
     * @param code number in a record.
     * @return the state, or null when none has this number.
     */
    public static ViewState ofCode(final int code)
    {
        for (final ViewState state : values())
        {
            if (state.code == code)
            {
                return state;
            }
        }
        return null;
    }
}
