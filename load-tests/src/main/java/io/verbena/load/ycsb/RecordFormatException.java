package io.verbena.load.ycsb;

/**
 * A value in the table is not a YCSB record of a version this build reads; the message says where it departs.
 */
public final class RecordFormatException extends RuntimeException
{
    private static final long serialVersionUID = 1L;

    RecordFormatException(final String message)
    {
        this(message, null);
    }

    RecordFormatException(final String message, final Throwable cause)
    {
        super("not a YCSB record: " + message, cause);
    }
}
