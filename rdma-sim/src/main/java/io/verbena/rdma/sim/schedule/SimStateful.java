package io.verbena.rdma.sim.schedule;

/** An object of a device that decides what the device does next. */
public interface SimStateful
{
    /** Adds all of that, as far as it is not time. */
    void describe(StateWords words);
}
