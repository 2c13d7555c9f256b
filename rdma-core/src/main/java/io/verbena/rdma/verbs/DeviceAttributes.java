package io.verbena.rdma.verbs;

/**
 * What a device can do ({@code struct ibv_device_attr}); asked before use, never assumed.
 *
 * @param provider              {@code soft}, {@code sim} or {@code ibverbs}.
 * @param canRegisterAnyMemory  whether {@link ProtectionDomain#register} works.
 * @param cpuAtomicsAreGlobal   whether RDMA atomics are atomic with CPU atomics too ({@code IBV_ATOMIC_GLOB}).
 * @param readAfterAtomicNeedsFence whether a READ posted after an atomic on the same queue pair needs
 *                              {@link SendFlags#FENCE} to be executed after it.
 * @param maxQueuePairRequests  deepest send or receive queue.
 * @param maxCompletions        deepest completion queue.
 * @param maxMessageBytes       longest message.
 * @param maxReadAtomic         most READs and atomics outstanding on a queue pair.
 */
public record DeviceAttributes(
    String provider,
    boolean canRegisterAnyMemory,
    boolean cpuAtomicsAreGlobal,
    boolean readAfterAtomicNeedsFence,
    int maxQueuePairRequests,
    int maxCompletions,
    int maxMessageBytes,
    int maxReadAtomic)
{
}
