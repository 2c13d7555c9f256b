package io.verbena.rdma.conformance;

import io.verbena.rdma.verbs.Device;

/** What a provider gives to the contract tests: two devices, and a way to let the fabric work. */
public interface VerbsRig extends AutoCloseable
{
    /** The requesting device. */
    Device requester();

    /** The responding device. */
    Device responder();

    /** Lets the fabric do some of its work; for providers that execute in steps. */
    void progress();

    /** Moves time on so far that waits and retries of the fabric run out. */
    void exhaustRetries();

    @Override
    void close();
}
