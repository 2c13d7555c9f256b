package io.verbena.raas;

import io.verbena.raas.limit.RaasMisuseException;
import io.verbena.rdma.verbs.MemoryRegion;

/**
 * An ordered connection to the registered region of one memory node: what reads and changes a node's memory needs of a
 * {@link VirtualQp}. Requests execute at the node in posting order; each posted batch is answered by exactly one
 * completion, with the batch's cookie. One owner thread.
 */
public interface OneSidedPort
{
    /** Requests of a batch for which there is room always; {@link #space()} may be more. */
    int LEAST_SPACE = 9;

    /** @return whether requests can be posted now, as far as the connection is concerned. */
    boolean isReady();

    /** @return whether the connection is lost for good; another one is needed. */
    boolean isFailed();

    /** @return how many requests fit now. */
    int space();

    /** @return length of the region in bytes; requests that reach beyond it are refused. */
    long regionLengthBytes();

    /** Tells that a request to this part of the node's region will likely be staged soon; it may be brought near. */
    default void preload(final long remoteOffset, final int lengthBytes)
    {
        // only where it helps
    }

    /** Opens a batch. */
    void begin();

    /** Drops the batch that is open, if one is. */
    void abort();

    /**
     * Stages READ of {@code lengthBytes} at {@code remoteOffset} of the node's region. As all that stage, it throws
     * {@link RaasMisuseException} when the region has no such memory; the whole batch is dropped then.
     */
    void read(MemoryRegion local, long localOffset, int lengthBytes, long remoteOffset);

    /** Stages WRITE. */
    void write(MemoryRegion local, long localOffset, int lengthBytes, long remoteOffset);

    /** Stages CMP_SWAP; the word found lands at {@code localOffset}. */
    void compareSwap(MemoryRegion local, long localOffset, long remoteOffset, long expected, long desired);

    /** Makes the next request wait for earlier READs and atomics. */
    void fenceNext();

    /**
     * Rings the doorbell.
     *
     * @param cookie comes back with the completion.
     * @return one of {@link io.verbena.rdma.verbs.PostStatus}; negative: nothing was posted, no completion comes.
     */
    int complete(int cookie);
}
