package io.verbena.rdma.sim;

/** An object of a device that decides what the device does next. */
interface SimStateful
{
    /** Adds all of that, as far as it is not time. */
    void describe(StateWords words);
}
