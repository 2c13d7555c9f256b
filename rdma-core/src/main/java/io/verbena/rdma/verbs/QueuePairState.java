package io.verbena.rdma.verbs;

/** States of {@code enum ibv_qp_state}. Each can be left to {@link #RESET}, and all but that one to {@link #ERR}. */
public enum QueuePairState
{
    /** Created; posting is refused, inbound requests are dropped. Entering it drops what is outstanding, silently. */
    RESET,
    /** Receives may be posted; nothing is processed, inbound requests are dropped. */
    INIT,
    /** Ready to receive: inbound requests are processed. */
    RTR,
    /** Ready to send: everything is processed. */
    RTS,
    /** Send queue draining or drained: sends are kept back, receives and inbound requests are processed. */
    SQD,
    /** Send queue error (UC, UD): sends are flushed, receives are processed; left by modify to {@link #RTS}. */
    SQE,
    /** Everything posted is flushed with WR_FLUSH_ERR; left to {@link #RESET} only. */
    ERR
}
