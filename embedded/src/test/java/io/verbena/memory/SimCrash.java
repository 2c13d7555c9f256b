package io.verbena.memory;

/** A simulated process ends here: whatever it would have done next is not done. */
public final class SimCrash extends RuntimeException
{
    private static final long serialVersionUID = 1L;

    SimCrash(final String where)
    {
        super(where);
    }
}
