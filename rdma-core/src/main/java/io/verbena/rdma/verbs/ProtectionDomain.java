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
     * Registers memory that outlives this process, however it ends, but not the host: the same bytes are found again
     * under their name. At most one process has it registered. Keys and addresses are new each time; peers of an
     * earlier registration are cut off when this returns, and what they did before is there.
     *
     * @param name        1 to 64 characters of a-z, 0-9 and dashes.
     * @param lengthBytes of the memory, the same each time; zeroed when it is new.
     * @param accessFlags as for {@link #allocateRegistered}.
     * @return the region, closed by the caller, which leaves the memory for the next; {@link Fabric#discardNamed} frees
     *     it.
     * @throws RdmaException when another process has it, it has another length, or the memory cannot be had.
     */
    default MemoryRegion allocateNamed(final String name, final long lengthBytes, final int accessFlags)
    {
        throw new UnsupportedVerbException("named memory", toString());
    }

    /**
     * Registers memory the caller owns ({@code ibv_reg_mr}), or a part of a region's once more; asked before use with
     * {@link DeviceCapability#REGISTER_ANY_MEMORY} or {@link DeviceCapability#REGISTER_WHOLE_PAGES}.
     *
     * @param segment     native memory of an arena that is not confined. It is kept: until the region is closed closing
     *                    its arena throws {@link IllegalStateException} (memory of no arena must not be freed before).
     * @param accessFlags see {@link AccessFlags}.
     * @return the region, closed by the caller, which leaves the memory alone.
     * @throws RdmaException when the segment is no native memory, is closed, or cannot be reached by the device.
     */
    MemoryRegion register(MemorySegment segment, int accessFlags);

    /**
     * Creates a queue pair in state RESET.
     *
     * @param options type, completion queues, receive queue, depths; all of this device and domain.
     * @return the queue pair, closed by the caller.
     */
    QueuePair createQueuePair(QueuePairOptions options);

    /**
     * Creates a shared receive queue.
     *
     * @param maxReceiveRequests most receives outstanding, 1 or more.
     * @return the queue, closed by the caller.
     */
    default SharedReceiveQueue createSharedReceiveQueue(final int maxReceiveRequests)
    {
        throw new UnsupportedVerbException("shared receive queue", toString());
    }

    /** @return a new memory window, not bound to anything. */
    default MemoryWindow allocateMemoryWindow()
    {
        throw new UnsupportedVerbException("memory window", toString());
    }

    /**
     * Creates a way to a device for UD and DC requests.
     *
     * @param target the device.
     * @return the handle, closed by the caller.
     */
    default AddressHandle createAddressHandle(final DeviceAddress target)
    {
        throw new UnsupportedVerbException("address handle", toString());
    }

    /**
     * Creates a target for dynamically connected initiators, ready to receive.
     *
     * @param options queues, key and rights.
     * @return the target, closed by the caller.
     */
    default DcTarget createDcTarget(final DcTargetOptions options)
    {
        throw new UnsupportedVerbException("DC target", toString());
    }

    /**
     * Creates an RC queue pair in state RESET, with a receive queue of its own.
     *
     * @param sendCompletions    where sends complete.
     * @param receiveCompletions where receives complete; may be the same queue.
     * @param capabilities       queue depths.
     * @return the queue pair, closed by the caller.
     */
    default QueuePair createQueuePair(
        final CompletionQueue sendCompletions,
        final CompletionQueue receiveCompletions,
        final QueuePairCapabilities capabilities)
    {
        return createQueuePair(
            new QueuePairOptions().completions(sendCompletions, receiveCompletions).capabilities(capabilities));
    }

    @Override
    void close();
}
