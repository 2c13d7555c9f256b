package io.verbena.rdma.verbs;

/** States of {@code enum ibv_qp_state}. RC queue pairs leave {@link #ERR} only to {@link #RESET}. */
public enum QueuePairState
{
    /** Created; posting is refused. */
    RESET,
    /** Receives may be posted, nothing is processed. */
    INIT,
    /** Ready to receive: inbound requests are processed. */
    RTR,
    /** Ready to send: everything is processed. */
    RTS,
    /** Send queue draining or drained. */
    SQD,
    /** Send queue error (UC, UD). */
    SQE,
    /** Everything posted is flushed with WR_FLUSH_ERR. */
    ERR
}
