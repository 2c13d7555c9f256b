package io.verbena.rdma.verbs;

/** Transport service of a queue pair ({@code enum ibv_qp_type}; DC from {@code mlx5dv}). */
public enum QueuePairType
{
    /** Reliable connected: every operation, exactly once and in order, with one peer. */
    RC,
    /** Unreliable connected: SEND, WRITE, local operations; losses are silent. */
    UC,
    /** Unreliable datagram: SEND of up to the path MTU, to any UD queue pair. */
    UD,
    /** Dynamically connected initiator (DCI): sends reliably to any {@link DcTarget}, one at a time; no receives. */
    DC_INITIATOR
}
