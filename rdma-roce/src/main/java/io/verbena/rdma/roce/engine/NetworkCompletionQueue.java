package io.verbena.rdma.roce.engine;

import io.verbena.rdma.verbs.CompletionQueue;

/** A completion queue of one engine, or of several. */
public interface NetworkCompletionQueue extends CompletionQueue
{
    /** @return whether a poll would find something, or an overrun, without driving. By the polling thread. */
    boolean hasCompletion();
}
