package io.verbena.rdma.spi;

/**
 * Receives that requesters of other processes take, too: one at a time is claimed by a queue pair, and given back when
 * its completion has been polled. Any thread.
 */
public interface ReceiveClaims
{
    /**
     * Claims the oldest receive.
     *
     * @param queuePairNumber that gets it.
     * @param neededBytes     that it has to hold at least; 0 for any.
     * @return the claim; 0 when there is none, or the oldest is too short.
     */
    long claim(int queuePairNumber, int neededBytes);

    /** @return identifier of the receive. */
    long wrId(long claim);

    /** @return first byte of its buffer. */
    long address(long claim);

    /** @return length of its buffer. */
    int lengthBytes(long claim);

    /** @return key of its buffer. */
    int key(long claim);

    /**
     * Gives a receive back.
     *
     * @param claim           once.
     * @param queuePairNumber that claimed it.
     */
    void release(long claim, int queuePairNumber);
}
