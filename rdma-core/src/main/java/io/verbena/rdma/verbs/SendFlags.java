package io.verbena.rdma.verbs;

/** Flags of a posted work request; bit values of {@code enum ibv_send_flags}. */
public final class SendFlags
{
    /** RC and DC: start only after earlier READs and atomics of this queue pair have completed. */
    public static final int FENCE = 1;
    /** Produce a completion also on success; a failed request produces one in any case. */
    public static final int SIGNALED = 1 << 1;
    /** Every SEND, and WRITE_WITH_IMM: wake a peer that waits for solicited events only. */
    public static final int SOLICITED = 1 << 2;
    /**
     * SEND and WRITE, with immediates or not: copy the payload at post time; the buffer is free on return and its key
     * is not looked at.
     */
    public static final int INLINE = 1 << 3;

    private SendFlags()
    {
    }
}
