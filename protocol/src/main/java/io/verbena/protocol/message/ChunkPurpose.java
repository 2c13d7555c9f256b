package io.verbena.protocol.message;

/** What chunks are leased for. The codes are part of the message format. */
public enum ChunkPurpose
{
    /** Blocks of the compute node that leases them. */
    BLOCKS(1),
    /** A table's index: belongs to the table, outlives the node that leased it. */
    INDEX(2);

    private static final ChunkPurpose[] BY_CODE = {null, BLOCKS, INDEX};

    private final int code;

    ChunkPurpose(final int code)
    {
        this.code = code;
    }

    /** @return number in messages. */
    public int code()
    {
        return code;
    }

    /**
     * @param code number in a message.
     * @return the purpose, or null when there is none with this number.
     */
    public static ChunkPurpose ofCode(final int code)
    {
        return code > 0 && code < BY_CODE.length ? BY_CODE[code] : null;
    }
}
