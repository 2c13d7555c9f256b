package io.verbena.rdma.verbs;

/**
 * A shared receive queue ({@code struct ibv_srq}): receives that any of its queue pairs may consume, in posting order.
 * Which queue pair consumed one is reported by {@link WorkCompletions#queuePairNumber}; until then it belongs to none.
 *
 * <p>Posted by one thread at a time. Closed by its creator, after its queue pairs. When a queue pair on it goes to ERR
 * its receives are not flushed, except one that a message was arriving into; {@link AsyncEventType#QP_LAST_WQE_REACHED}
 * reports that the queue pair consumes none any more.
 */
public interface SharedReceiveQueue extends AutoCloseable
{
    /**
     * Posts a receive; parameters and result as {@link QueuePair#postReceive}. A slot is free again when the completion
     * of its receive has been polled.
     */
    int postReceive(long wrId, long localAddress, int lengthBytes, int localKey);

    /**
     * Arms the limit ({@code ibv_modify_srq} with {@code IBV_SRQ_LIMIT}): when fewer receives than this are left,
     * {@link AsyncEventType#SRQ_LIMIT_REACHED} is raised once and the limit disarms itself.
     *
     * @param receiveCount up to {@link #capacity()}; 0 disarms.
     */
    void armLimit(int receiveCount);

    /** @return the limit armed now; 0 when there is none. */
    int armedLimit();

    /** @return most receives outstanding. */
    int capacity();

    @Override
    void close();
}
