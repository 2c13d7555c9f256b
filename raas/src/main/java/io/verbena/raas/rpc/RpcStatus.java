package io.verbena.raas.rpc;

/** How a call ended. */
public enum RpcStatus
{
    /** The reply is there. */
    OK,
    /** The server refused it; the text says why. It was not executed, or the handler says how far. */
    REFUSED,
    /** No reply within the time; whether it was executed is unknown. */
    TIMED_OUT,
    /** The connection failed; whether it was executed is unknown. */
    PEER_FAILED
}
