package io.verbena.protocol.message;

/**
 * Operations of one kind that a compute node has denied to somebody, since it reported the last ones. Of records it
 * says nothing.
 *
 * @param who   such as {@code user ann}.
 * @param what  such as {@code GET in table orders}.
 * @param times how often, 1 or more.
 */
public record DeniedOperations(String who, String what, long times)
{
    /** Who it was where a connection was refused before the peer proved anything. */
    public static final String UNPROVED = "peer that proved nothing";
    /** Most of them in one report. */
    public static final int MAX_REPORTED = 12;
    /** Longest text of one. */
    public static final int MAX_TEXT_BYTES = 150;
}
