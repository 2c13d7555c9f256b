package io.verbena.rdma.ibverbs;

/** What receives complete for, by the number in the completion: a queue pair, or a DC target. */
interface ReceiveConsumer
{
    int number();

    /** @return where its receives come from, or null for a queue of its own. */
    IbverbsSharedReceiveQueue shared();

    /** @return whether a routing header lies in front of what it receives. */
    boolean receivesDatagrams();

    /** Its completion queue is lost, or its user asks: see {@link io.verbena.rdma.verbs.QueuePair#moveToError}. */
    void moveToError();
}
