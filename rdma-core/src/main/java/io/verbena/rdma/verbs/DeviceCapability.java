package io.verbena.rdma.verbs;

/**
 * What a device may or may not be able to do; asked with {@link DeviceAttributes#supports} before use. Calling what is
 * not there throws {@link UnsupportedVerbException}.
 */
public enum DeviceCapability
{
    /** {@link QueuePairType#RC}. */
    RC,
    /** {@link QueuePairType#UC}. */
    UC,
    /** {@link QueuePairType#UD}. */
    UD,
    /** {@link QueuePairType#DC_INITIATOR} and {@link DcTarget}. */
    DC,
    /** {@link SharedReceiveQueue}. */
    SHARED_RECEIVE_QUEUE,
    /** Type 2 {@link MemoryWindow}s: BIND_MW, LOCAL_INV, SEND_WITH_INV. */
    MEMORY_WINDOW,
    /** {@link CompletionChannel}. */
    COMPLETION_CHANNEL,
    /** {@link Device#pollAsyncEvent()}. */
    ASYNC_EVENT,
    /** {@link QueuePair#modify} by the caller, beside the connection service. */
    QUEUE_PAIR_STATES,
    /** {@link ProtectionDomain#register}: memory that the caller owns. */
    REGISTER_ANY_MEMORY,
    /**
     * {@link ProtectionDomain#register}: memory that the caller owns and that begins and ends at a page, of this
     * process alone, which nobody writes while it is being registered and while the region is being closed. Goes along
     * with {@link #REGISTER_ANY_MEMORY}, which asks for none of this.
     */
    REGISTER_WHOLE_PAGES,
    /** RDMA atomics are atomic with CPU atomics too ({@code IBV_ATOMIC_GLOB}). */
    GLOBAL_ATOMICS
}
