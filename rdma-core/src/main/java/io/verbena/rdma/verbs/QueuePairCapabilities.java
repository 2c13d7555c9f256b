package io.verbena.rdma.verbs;

/**
 * Sizes of a queue pair ({@code struct ibv_qp_cap}).
 *
 * @param maxSendRequests    send queue depth, 1 or more.
 * @param maxReceiveRequests receive queue depth, 0 or more.
 * @param maxInlineBytes     longest INLINE payload, 0 or more.
 * @param maxReadAtomic      READs and atomics outstanding at once as requester, and answered at once as responder, as
 *                           far as the connection service agrees with the peer; the next one stalls the send queue.
 */
public record QueuePairCapabilities(
    int maxSendRequests, int maxReceiveRequests, int maxInlineBytes, int maxReadAtomic)
{
}
