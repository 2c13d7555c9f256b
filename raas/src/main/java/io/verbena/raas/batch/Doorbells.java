package io.verbena.raas.batch;

import java.util.ArrayList;

/**
 * Doorbells of queue pairs that are rung a little later, so that what several virtual queue pairs post in one duty
 * cycle costs one for each queue pair. One thread.
 */
public final class Doorbells
{
    /** A queue pair on which requests are staged. */
    public interface Doorbell
    {
        /** Posts what is staged, if anything is. */
        void ring();
    }

    private final ArrayList<Doorbell> due = new ArrayList<>();
    private boolean isGathering;

    /** Whether what is staged now is posted by {@link #ring}, instead of at once. */
    public boolean isGathering()
    {
        return isGathering;
    }

    /** From now on, until {@link #ring}, doorbells are gathered. */
    public void gather()
    {
        isGathering = true;
    }

    /** A doorbell is to be rung. */
    public void add(final Doorbell doorbell)
    {
        due.add(doorbell);
    }

    /** Rings all that are due. Those called back because of it post at once, so that none is added meanwhile. */
    public void ring()
    {
        isGathering = false;
        for (int i = 0; i < due.size(); i++)
        {
            due.get(i).ring();
        }
        due.clear();
    }
}
