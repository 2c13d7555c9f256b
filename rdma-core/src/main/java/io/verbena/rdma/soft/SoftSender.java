package io.verbena.rdma.soft;

import io.verbena.rdma.spi.StagedQueuePair;
import io.verbena.rdma.spi.WorkRequest;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.WorkCompletions;

/** A queue pair as its send queue, its receives and the queues that it completes in know it. */
abstract class SoftSender extends StagedQueuePair implements SoftResponder
{
    SoftSender(final QueuePairType type, final QueuePairCapabilities capabilities, final int maxMessageBytes)
    {
        super(type, capabilities, maxMessageBytes, true);
    }

    abstract SoftHost host();

    /** Address of its entry in the device file. */
    abstract long entry();

    /** Any thread. */
    abstract boolean isInError();

    final WorkRequest posted(final long position)
    {
        return request(position);
    }

    final long tail()
    {
        return sendTail();
    }

    /** In SQD, and nothing is in flight any more. */
    abstract void drained();

    /** A request waits for the peer: it is tried again at each poll. */
    abstract void beginWaiting();

    /** Nothing waits any more. */
    abstract void endWaiting();

    /** Polling thread: tries again what waits for the peer. */
    abstract void retry();

    /** Polling thread: hands out completions that lie in slots, from an index on; returns the index after the last. */
    abstract int drainDirect(WorkCompletions completions, int index);

    /** Whether its receives complete in this queue, and could in their slots. */
    abstract boolean mayBeDirectIn(CompletionQueue queue);
}
