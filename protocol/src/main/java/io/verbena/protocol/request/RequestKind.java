package io.verbena.protocol.request;

import io.verbena.protocol.access.TableRight;

/** What an {@link OperationRequest} asks for. The codes are part of the message format. */
public enum RequestKind
{
    /** Value and version of a record. */
    GET(1, Operand.NONE, true),
    /** Whether there is a record. */
    EXISTS(2, Operand.NONE, true),
    /** Write, whatever was there. */
    PUT(3, Operand.NONE, false),
    /** Write if nothing was there. */
    PUT_IF_ABSENT(4, Operand.NONE, false),
    /** Write if the version is the expected one. */
    REPLACE(5, Operand.EXPECTED_VERSION, false),
    /** Delete, whatever was there. */
    DELETE(6, Operand.NONE, false),
    /** Delete if the version is the expected one. */
    DELETE_BY_VERSION(7, Operand.EXPECTED_VERSION, false),
    /** Write if there is a record, whatever its version. */
    PUT_IF_PRESENT(8, Operand.NONE, false),
    /** Put bytes behind the value there is, or write them alone. */
    APPEND(9, Operand.NONE, false),
    /** Add to a counter, a value of 8 bytes, little-endian, or of decimal digits; nothing there counts as 0. */
    INCREMENT(10, Operand.AMOUNT, false),
    /** A range of records, from a position of the table on: see {@link RecordPage}. Its key has no meaning. */
    SCAN(11, Operand.POSITION, true),
    /** Records and bytes in a range of the table: see {@link CountPage}. Its key has no meaning. */
    COUNT(12, Operand.POSITION, true),
    /** Give a record that is there another deadline, or none; its value stays. */
    EXPIRE(13, Operand.CONDITION, false);

    /** What the one number means that a request carries beside its key and value. */
    public enum Operand
    {
        /** Nothing; it is 0. */
        NONE,
        /** The version that the record must have. */
        EXPECTED_VERSION,
        /** What to add. */
        AMOUNT,
        /** Where in the table to begin. */
        POSITION,
        /** On which condition, see {@link RequestExpiry}. */
        CONDITION
    }

    private static final RequestKind[] BY_CODE = new RequestKind[values().length + 1];

    static
    {
        for (final RequestKind kind : values())
        {
            BY_CODE[kind.code] = kind;
        }
    }

    private final int code;
    private final Operand operand;
    private final boolean read;

    RequestKind(final int code, final Operand operand, final boolean read)
    {
        this.code = code;
        this.operand = operand;
        this.read = read;
    }

    /** @return number in messages. */
    public int code()
    {
        return code;
    }

    /**
     * @param code number in a message.
     * @return the kind, or null when there is none with this number.
     */
    public static RequestKind ofCode(final int code)
    {
        return code > 0 && code < BY_CODE.length ? BY_CODE[code] : null;
    }

    /** @return the rights that it needs, bits of {@link TableRight}: who gets what a counter is then reads it. */
    public int rights()
    {
        return read ? TableRight.READ.bit() :
            INCREMENT == this ? TableRight.READ.bit() | TableRight.WRITE.bit() : TableRight.WRITE.bit();
    }

    /** @return true if it asks for a range of the table. */
    public boolean isRange()
    {
        return Operand.POSITION == operand;
    }

    /** @return true if it says which deadline the record gets; other kinds keep the one there is. */
    public boolean takesExpiry()
    {
        return switch (this)
        {
            case PUT, PUT_IF_ABSENT, PUT_IF_PRESENT, REPLACE, EXPIRE -> true;
            default -> false;
        };
    }

    /** @return true if it changes nothing, so that it may be repeated whatever became of it. */
    public boolean isRead()
    {
        return read;
    }
}
