package io.verbena.rdma.verbs;

/** What an asynchronous event reports ({@code enum ibv_event_type}, the part that concerns this contract). */
public enum AsyncEventType
{
    /** A completion queue overran: it is dead, its queue pairs go to ERR. */
    CQ_ERR,
    /** A queue pair failed for a reason of its own side that no completion reports. */
    QP_FATAL,
    /** An inbound request was invalid; the queue pair is in ERR. */
    QP_REQ_ERR,
    /** An inbound request had no right to what it named; the queue pair is in ERR. */
    QP_ACCESS_ERR,
    /** The first message arrived at a queue pair in RTR. */
    COMM_EST,
    /** A queue pair in SQD has nothing in flight any more; always asked for. */
    SQ_DRAINED,
    /** A queue pair on a shared receive queue is in ERR and consumes no receive any more. */
    QP_LAST_WQE_REACHED,
    /** Fewer receives than the armed limit are left. */
    SRQ_LIMIT_REACHED,
    /** A shared receive queue failed. */
    SRQ_ERR,
    /** The device failed or was taken away: close everything. */
    DEVICE_FATAL,
    /** The port became usable. */
    PORT_ACTIVE,
    /** The port became unusable. */
    PORT_ERR
}
