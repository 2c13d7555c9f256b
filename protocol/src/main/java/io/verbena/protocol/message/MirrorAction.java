package io.verbena.protocol.message;

/** What a member of a group is asked to do with a chunk. The codes are part of the message format. */
public enum MirrorAction
{
    /** Name the first free chunk from an index on, and the next count of it; nothing changes. */
    CHOOSE(1),
    /** Record the lease for the caller. */
    RECORD(2),
    /** Never record the lease, if it is not recorded. */
    REFUSE(3),
    /** Free the chunk, if the lease stands; else never record it. */
    RETURN(4),
    /** Close the chunk for the caller, who finds out what in it is in use. */
    CLAIM(5),
    /** Give a claimed chunk to the caller, as if it had leased it. */
    ADOPT(6);

    private static final MirrorAction[] BY_CODE = {null, CHOOSE, RECORD, REFUSE, RETURN, CLAIM, ADOPT};

    private final int code;

    MirrorAction(final int code)
    {
        this.code = code;
    }

    /** @return number in messages. */
    public int code()
    {
        return code;
    }

    /** @return the action with a number in a message, or null when there is none. */
    public static MirrorAction ofCode(final int code)
    {
        return code > 0 && code < BY_CODE.length ? BY_CODE[code] : null;
    }
}
