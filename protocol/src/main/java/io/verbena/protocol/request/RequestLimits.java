package io.verbena.protocol.request;

/** What a request may carry; checked by clients before they send, and by nodes for requests from other processes. */
public final class RequestLimits
{
    /** Longest key; the shortest has one byte. */
    public static final int MAX_KEY_BYTES = 64 * 1024;

    /** Longest value; the shortest is empty. */
    public static final int MAX_VALUE_BYTES = 16 * 1024;

    /** Longest name of a table, in bytes of UTF-8. */
    public static final int MAX_TABLE_NAME_BYTES = 128;

    /** Most copies of a table; the fewest are 1. */
    public static final int MAX_COPIES = 3;

    private RequestLimits()
    {
    }
}
