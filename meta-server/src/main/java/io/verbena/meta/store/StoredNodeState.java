package io.verbena.meta.store;

/** Where a registration stands; the numbers are part of the record format. */
public enum StoredNodeState
{
    /** Has a lease. */
    LIVE(1),
    /** A compute node that left or whose lease ended; memory nodes may still let it in until each was notified. */
    FENCING(2),
    /** A memory node whose lease ended; nobody knows whether its memory can still be reached. */
    LOST(3),
    /** A memory node that left in good order: it closed its memory before it said so. Its id stays taken. */
    LEFT(4),
    /** A memory node that an operator gave up for good: it is never admitted again, and nobody else gets its id. */
    FORGOTTEN(5),
    /**
     * The identity of a compute node that may come: assigned without a write, so who reads this after a restart has to
     * take it as assigned.
     */
    SPARE(6),
    /** A compute node that has a lease, and to which clients are not sent before it is activated. */
    STANDBY(7);

    private final int code;

    StoredNodeState(final int code)
    {
        this.code = code;
    }

    /** @return the number in records. */
    public int code()
    {
        return code;
    }

    /**
     * @param code from a record.
     * @return the state, or null when no state has this number.
     */
    public static StoredNodeState of(final int code)
    {
        for (final StoredNodeState state : values())
        {
            if (state.code == code)
            {
                return state;
            }
        }

        return null;
    }
}
