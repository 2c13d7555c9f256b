package io.verbena.rdma.sim.device;

import io.verbena.rdma.sim.schedule.SimDecision;
import io.verbena.rdma.spi.ReceiveQueue;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;

/** What requests of peers are executed for: a queue pair, or a DC target. */
interface SimTarget extends SimCompletionQueue.Receiver
{
    SimHost host();

    ProtectionDomain protectionDomain();

    /** The transport; a DC target has that of its initiators. */
    QueuePairType type();

    QueuePairState state();

    /** Rights of peers. */
    int accessFlags();

    /** READs and atomics answered at once. */
    int readAtomicDepth();

    /** Wait sent to a requester that met no receive. */
    long rnrWaitNs();

    /** Whether this request is of the peer that it is connected to. */
    boolean accepts(SimRequest request);

    /** A request is about to be executed. */
    void serving();

    ReceiveQueue receives();

    SimCompletionQueue receiveCompletions();

    /** A receive was taken by a message. */
    void receiveTaken();

    long decide(SimDecision what, long bound);
}
