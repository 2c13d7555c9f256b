package io.verbena.rdma.conformance;

import io.verbena.rdma.verbs.Device;

/** What a path gives to the contracts: two devices, and a way to let the fabric work. Used by one thread. */
public interface VerbsRig extends AutoCloseable
{
    /** @return the requesting device; its clock is the one that waits are measured with. */
    Device requester();

    /** @return the responding device. */
    Device responder();

    /** Lets the fabric do some of its work; for providers that execute in steps. */
    void progress();

    /** Lets everything that is under way arrive, so that what has not happened then does not happen. */
    void settle();

    /** @param durationNs by which time moves on, at least. */
    void pass(long durationNs);

    /** @return time that a connection may take to be made, on a busy machine. */
    long connectTimeoutNs();

    /** Closes the devices and their fabric. */
    @Override
    void close();
}
