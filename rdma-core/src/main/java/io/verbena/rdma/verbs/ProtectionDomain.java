package io.verbena.rdma.verbs;

import java.lang.foreign.MemorySegment;

/** A protection domain ({@code struct ibv_pd}): regions and queue pairs work together only within one. Thread-safe. */
public interface ProtectionDomain extends AutoCloseable
{
    /**
     * Allocates zeroed, page-aligned memory that peers on this host can reach too, and registers it.
     *
     * @param lengthBytes 1 or more.
     * @param accessFlags see {@link AccessFlags}; remote write or atomic rights need LOCAL_WRITE.
     * @return the region, closed by the caller, which frees the memory.
     * @throws RdmaException when the memory cannot be had; the message says how much is missing and where.
     */
    MemoryRegion allocateRegistered(long lengthBytes, int accessFlags);

    /**
     * Registers memory the caller owns ({@code ibv_reg_mr}); asked before use with
     * {@link DeviceAttributes#canRegisterAnyMemory()}.
     *
     * @param segment     native memory, kept reachable until the region is closed; the caller must not free it before.
     * @param accessFlags see {@link AccessFlags}.
     * @return the region, closed by the caller, which leaves the memory alone.
     */
    MemoryRegion register(MemorySegment segment, int accessFlags);

    /**
     * Creates an RC queue pair in state RESET.
     *
     * @param sendCompletions    where sends complete.
     * @param receiveCompletions where receives complete; may be the same queue.
     * @param capabilities       queue depths.
     * @return the queue pair, closed by the caller.
     */
    QueuePair createQueuePair(
        CompletionQueue sendCompletions, CompletionQueue receiveCompletions, QueuePairCapabilities capabilities);

    @Override
    void close();
}
