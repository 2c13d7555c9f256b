package io.verbena.compute.request;

/**
 * Places to wait at a node, of all users: for a turn, for a table, for a scan. Nobody has more than three for each that
 * is left, so that one is left however many are greedy. One thread.
 */
final class WaitingPlaces
{
    /** All of them. */
    static final int COUNT = 4096;
    /** What one may have, at most, for each place that is left. */
    static final int TAKEN_TO_LEFT = 3;

    private int taken;

    void take()
    {
        taken++;
    }

    void release()
    {
        taken--;
    }

    /** @return how many one may have now: who has as many gets no other one. One place is nobody's. */
    int mostOfOne()
    {
        return TAKEN_TO_LEFT * (COUNT - 1 - taken);
    }

    @Override
    public String toString()
    {
        return "WaitingPlaces{taken=" + taken + '}';
    }
}
