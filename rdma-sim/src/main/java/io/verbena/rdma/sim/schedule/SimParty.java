package io.verbena.rdma.sim.schedule;

/** A device, as decisions, faults and steps know it. */
public interface SimParty
{
    /** @return its name, for faults and failures. */
    String name();

    /** @return its number on the fabric, from 1. */
    int index();

    /** @return whether it was killed. */
    boolean isKilled();
}
