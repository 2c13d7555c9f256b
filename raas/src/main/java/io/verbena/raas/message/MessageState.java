package io.verbena.raas.message;

/** Where an endpoint is between being opened and closed. */
public enum MessageState
{
    /** The other end has not answered yet. */
    OPENING,
    /** Messages can be sent, and arrive. */
    OPEN,
    /** Could not be opened, or is over. Still to be closed. */
    ENDED,
    /** Closed here. */
    CLOSED
}
