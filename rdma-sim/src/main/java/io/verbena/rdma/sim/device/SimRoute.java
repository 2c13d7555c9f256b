package io.verbena.rdma.sim.device;

import io.verbena.rdma.sim.schedule.StateWords;
import io.verbena.rdma.spi.WorkRequest;

/** How the requests of one queue pair reach whoever executes them. */
interface SimRoute
{
    /** Whether a request cannot set out while others are under way. */
    boolean mustWait(WorkRequest posted, boolean isIdle);

    /** Sets a request out. */
    void send(SimRequest request);

    /** A NIC tells when a request arrives; where order is kept, one sent before comes first all the same. */
    void scheduleArrival(SimRequest request, long timeNs);

    /** What a pause has held back sets out again. */
    void sendHeld();

    /** Nothing is outstanding any more. */
    void idle();

    /** The queue pair failed, was reset or closed. */
    void end();

    /** The device was killed. */
    void killed();

    /** Connections to a device break. */
    void cut(SimDevice peer);

    /** Adds what it keeps between requests. */
    void describe(StateWords words);
}
