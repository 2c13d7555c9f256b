package io.verbena.rdma.sim.device;

import io.verbena.rdma.sim.schedule.StateWords;

/** An object of a device that decides what the device does next. */
interface SimStateful
{
    /** Adds all of that, as far as it is not time. */
    void describe(StateWords words);
}
