package io.verbena.rdma.verbs;

/**
 * Sizes of a queue pair ({@code struct ibv_qp_cap}).
 *
 * @param maxSendRequests    send queue depth, 1 or more.
 * @param maxReceiveRequests receive queue depth, 0 or more.
 * @param maxInlineBytes     longest INLINE payload.
 * @param maxReadAtomic      READs and atomics outstanding at once; the next one stalls the send queue.
 */
public record QueuePairCapabilities(
    int maxSendRequests, int maxReceiveRequests, int maxInlineBytes, int maxReadAtomic)
{
}
