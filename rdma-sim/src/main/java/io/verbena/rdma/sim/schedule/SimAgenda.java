package io.verbena.rdma.sim.schedule;

/** What is to be done, and what of it comes next. */
public interface SimAgenda
{
    void add(SimStep step);

    /** Takes the next step, null when there is none. */
    SimStep poll();

    /** The next step, null when there is none. */
    SimStep peek();

    void clear();
}
