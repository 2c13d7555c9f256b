package io.verbena.protocol.request;

/** What an {@link OperationRequest} asks for. */
public enum RequestKind
{
    /** Value and version of a record. */
    GET(true),
    /** Whether there is a record. */
    EXISTS(true),
    /** Write, whatever was there. */
    PUT(false),
    /** Write if nothing was there. */
    PUT_IF_ABSENT(false),
    /** Write if the version is the expected one. */
    REPLACE(false),
    /** Delete, whatever was there. */
    DELETE(false),
    /** Delete if the version is the expected one. */
    DELETE_BY_VERSION(false),
    /** Write if there is a record, whatever its version. */
    PUT_IF_PRESENT(false),
    /** Put bytes behind the value there is, or write them alone. */
    APPEND(false),
    /** Add to a counter, a value of 8 bytes, little-endian; nothing there counts as 0. */
    INCREMENT(false),
    /** A stretch of records, from a position of the table on: see {@link RecordPage}. Its key says nothing. */
    SCAN(true),
    /** Records and bytes in a stretch of the table: see {@link CountPage}. Its key says nothing. */
    COUNT(true);

    private final boolean read;

    RequestKind(final boolean read)
    {
        this.read = read;
    }

    /** @return true if it asks for a stretch of the table; then the expected version is the position to begin at. */
    public boolean isStretch()
    {
        return SCAN == this || COUNT == this;
    }

    /** @return true if it changes nothing, so that it may be repeated whatever became of it. */
    public boolean isRead()
    {
        return read;
    }
}
