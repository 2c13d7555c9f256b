package io.verbena.rdma.roce.engine;

import io.verbena.rdma.spi.ReceiveQueue;
import io.verbena.rdma.spi.WorkRequest;
import io.verbena.rdma.verbs.AsyncEventType;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;

/** What requester and responder need of their queue pair. */
abstract class QueuePairPort extends RoceCompletionQueue.Owner
{
    abstract EngineContext engine();

    abstract ProtectionDomain domain();

    abstract QueuePairType type();

    abstract QueuePairState state();

    abstract void query(QueuePairAttributes target);

    abstract int accessFlags();

    abstract int qkey();

    /** READs and atomics of the peer that it answers at once. */
    abstract int readAtomicDepth();

    /** How long a peer is asked to wait when there is no receive, as a code. */
    abstract int rnrCode();

    abstract Route route();

    /** Whom receives complete for. */
    RoceCompletionQueue.Owner receiver()
    {
        return this;
    }

    abstract RoceCompletionQueue sendCompletions();

    abstract RoceCompletionQueue receiveCompletions();

    abstract ReceiveQueue receives();

    /** A receive was taken. */
    abstract void onReceiveTaken();

    /** Position after the last posted request. */
    abstract long sendEnd();

    abstract WorkRequest sendRequest(long position);

    /** There is something to send. */
    abstract void wake();

    /** Sets when the requester's timer is due. */
    abstract void deadline(long timeNs);

    /**
     * Takes the binding of a window away, for LOCAL_INV or the peer's SEND_WITH_INV.
     *
     * @param key of the window.
     * @return whether it was bound under this key through this queue pair.
     */
    abstract boolean invalidate(int key);

    /** The oldest request is to complete with a status that is no success, and the rest is to be flushed. */
    abstract void onSendFailure(int status);

    /** Something that was begun has been finished. */
    abstract void onSendsDrained();

    /** A request was refused, and the peer knows; the event is null when a completion says it. */
    abstract void onRequestRefused(AsyncEventType event);

    /** A packet of the peer took effect. */
    abstract void onMessage();

    abstract void moveToError();
}
