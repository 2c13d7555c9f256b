package io.verbena.rdma.verbs;

import java.util.Set;

/**
 * What a device can do ({@code struct ibv_device_attr}); asked before use, never assumed.
 *
 * @param provider                  {@code soft}, {@code sim} or {@code ibverbs}.
 * @param capabilities              what it supports.
 * @param readAfterAtomicNeedsFence whether a READ posted after an atomic on the same queue pair needs
 *                                  {@link SendFlags#FENCE} to be executed after it.
 * @param maxQueuePairRequests      deepest send or receive queue.
 * @param maxCompletions            deepest completion queue.
 * @param maxMessageBytes           longest message of RC, UC and DC.
 * @param maxInlineBytes            longest INLINE payload.
 * @param maxSendSegments           most places that the payload of one SEND, WRITE or READ lies in; 1 where there is
 *                                  but one.
 * @param maxReadAtomic             most READs and atomics outstanding on a queue pair.
 * @param maxSharedReceiveRequests  deepest shared receive queue; 0 without.
 * @param maxMemoryWindows          most memory windows; 0 without.
 * @param maxDcContexts             DC connections that its targets serve at once (responder contexts); initiators
 *                                  beyond wait, within their retry time. 0 without DC, or when it is not known.
 */
public record DeviceAttributes(
    String provider,
    Set<DeviceCapability> capabilities,
    boolean readAfterAtomicNeedsFence,
    int maxQueuePairRequests,
    int maxCompletions,
    int maxMessageBytes,
    int maxInlineBytes,
    int maxSendSegments,
    int maxReadAtomic,
    int maxSharedReceiveRequests,
    int maxMemoryWindows,
    int maxDcContexts)
{
    /** Copies the set. */
    public DeviceAttributes
    {
        capabilities = Set.copyOf(capabilities);
    }

    /**
     * @param capability asked for.
     * @return whether the device has it.
     */
    public boolean supports(final DeviceCapability capability)
    {
        return capabilities.contains(capability);
    }
}
