package io.verbena.rdma.sim.device;

import io.verbena.rdma.sim.schedule.StateWords;
import io.verbena.rdma.spi.WorkRequest;

/** How the requests of one queue pair reach whoever executes them. */
interface SimRoute
{
    /** The queue pair whose requests travel. */
    interface Owner extends SimRequest.Requester
    {
        SimNetwork network();

        SimLink link();

        /** The queue pair that it is connected to, as far as it is there; null otherwise. */
        SimLink.Peer peer();

        /** Whether what has not arrived is held back. */
        boolean isHeld();

        /** Of UD. */
        int queueKey();

        int pathMtuBytes();

        /** A request that waits for its peer to leave INIT waits no longer than the retry time. */
        void expireInInit(SimRequest request);
    }

    /** Whether a request cannot set out while others are under way. */
    boolean mustWait(WorkRequest posted, boolean isIdle);

    /** Sets a request out. */
    void send(SimRequest request);

    /** See {@link SimRequest.Requester#scheduleArrival}. */
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
    void cut(SimHost peer);

    /** Adds what it keeps between requests. */
    void describe(StateWords words);
}
