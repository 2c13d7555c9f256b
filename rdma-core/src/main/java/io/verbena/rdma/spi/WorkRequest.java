package io.verbena.rdma.spi;

/** One slot of a send queue; filled when staged, valid until its completion. Owned by the queue pair's owner thread. */
public final class WorkRequest
{
    /** SEND and SEND_WITH_IMM. */
    public static final int SEND = 0;
    /** WRITE and WRITE_WITH_IMM. */
    public static final int WRITE = 1;
    /** READ. */
    public static final int READ = 2;
    /** CMP_SWAP. */
    public static final int COMPARE_SWAP = 3;
    /** FETCH_ADD. */
    public static final int FETCH_ADD = 4;

    /** One of the constants above; equal to the completion's opcode. */
    public int operation;
    /** {@link io.verbena.rdma.verbs.SendFlags}. */
    public int flags;
    /** Comes back in the completion. */
    public long wrId;
    /** First byte at the requester. */
    public long localAddress;
    /** Bytes, 8 for atomics. */
    public int lengthBytes;
    /** Key at the requester. */
    public int localKey;
    /** First byte at the responder. */
    public long remoteAddress;
    /** Key at the responder. */
    public int remoteKey;
    /** Whether {@link #immediate} goes along. */
    public boolean hasImmediate;
    /** For the peer's completion. */
    public int immediate;
    /** CMP_SWAP: value expected; FETCH_ADD: addend. */
    public long operand;
    /** CMP_SWAP: value to store. */
    public long desired;

    /** @return whether it consumes a receive of the peer. */
    public boolean consumesReceive()
    {
        return operation == SEND || hasImmediate;
    }
}
