package io.verbena.rdma.verbs;

/**
 * Sizes of a queue pair ({@code struct ibv_qp_cap}).
 *
 * @param maxSendRequests    send queue depth, 1 or more.
 * @param maxReceiveRequests receive queue depth, 0 or more.
 * @param maxInlineBytes     longest INLINE payload, 0 or more.
 * @param maxReadAtomic      READs and atomics outstanding at once as requester, and answered at once as responder, as
 *                           far as the connection service agrees with the peer; the next one stalls the send queue.
 * @param maxSendSegments    most places that the payload of one SEND, WRITE or READ lies in, 1 or more.
 */
public record QueuePairCapabilities(
    int maxSendRequests, int maxReceiveRequests, int maxInlineBytes, int maxReadAtomic, int maxSendSegments)
{
    /**
     * Each request has one place.
     *
     * @param maxSendRequests    as above.
     * @param maxReceiveRequests as above.
     * @param maxInlineBytes     as above.
     * @param maxReadAtomic      as above.
     */
    public QueuePairCapabilities(
        final int maxSendRequests, final int maxReceiveRequests, final int maxInlineBytes, final int maxReadAtomic)
    {
        this(maxSendRequests, maxReceiveRequests, maxInlineBytes, maxReadAtomic, 1);
    }
}
