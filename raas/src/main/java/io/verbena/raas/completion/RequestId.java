package io.verbena.raas.completion;

/**
 * The 64-bit identifier of a request on a physical queue pair: the number of the virtual queue pair that posted it, and
 * the cookie that the poster gave.
 */
public final class RequestId
{
    /** The number that stands for calls; no virtual queue pair has it. */
    public static final int CALLS = 0;
    /** The lower bits of the number of a virtual queue pair: its index. The upper ones are its generation. */
    public static final int INDEX_BITS = 16;

    private RequestId()
    {
    }

    public static long encode(final int number, final int cookie)
    {
        return (long)number << Integer.SIZE | cookie & 0xFFFF_FFFFL;
    }

    public static int number(final long wrId)
    {
        return (int)(wrId >>> Integer.SIZE);
    }

    public static int cookie(final long wrId)
    {
        return (int)wrId;
    }
}
