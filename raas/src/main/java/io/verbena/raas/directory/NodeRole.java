package io.verbena.raas.directory;

/** What a node does. The codes are part of formats. */
public enum NodeRole
{
    /** Membership and table names. */
    META_SERVER(1),
    /** Registered memory. */
    MEMORY_NODE(2),
    /** Operations on tables. */
    COMPUTE_NODE(3);

    private static final NodeRole[] BY_CODE = {null, META_SERVER, MEMORY_NODE, COMPUTE_NODE};

    private final int code;

    NodeRole(final int code)
    {
        this.code = code;
    }

    /** @return number in formats. */
    public int code()
    {
        return code;
    }

    /**
     * @param code number in formats.
     * @return the role, or null when there is none with this number.
     */
    public static NodeRole ofCode(final int code)
    {
        return code > 0 && code < BY_CODE.length ? BY_CODE[code] : null;
    }
}
