package io.verbena.protocol.request;

/** How a node answers an {@link OperationRequest}. */
public enum OperationAnswer
{
    /** The record was there; read kinds carry its value and version. */
    FOUND,
    /** There was no record. */
    NOT_FOUND,
    /** Written; the version is the new one. */
    STORED,
    /** Not written, because there was a record; the version is its version. */
    EXISTS,
    /** Deleted. */
    DELETED,
    /** Not changed, because the record has another version, which is the one carried. */
    VERSION_MISMATCH,
    /** Not written: no free slot for this key. */
    TABLE_FULL,
    /** Not written: no memory for the value. */
    NO_MEMORY,
    /** Not applied before the deadline, and never will be. */
    TIMED_OUT,
    /** A write that was applied, or not, or is about to be. */
    OUTCOME_UNKNOWN,
    /** The table is not there any more; not applied. */
    NO_SUCH_TABLE,
    /** A memory node or the meta server could not be reached; not applied. */
    UNREACHABLE,
    /** The record's bytes fail their checksum; not applied. */
    CORRUPT,
    /** This node does not serve now (it joins, leaves, or lost its lease); not begun, another node may take it. */
    NOT_SERVING,
    /** Not changed, because the value has not the 8 bytes of a counter. */
    NOT_A_COUNTER,
    /** Not changed, because the sum does not fit 64 bits. */
    COUNTER_OVERFLOW,
    /** Not changed, because the value would become too long. */
    VALUE_TOO_LONG
}
