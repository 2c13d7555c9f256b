package io.verbena.rdma.ibverbs;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.DeviceAttributes;
import io.verbena.rdma.verbs.DeviceCapability;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

/**
 * Whether a READ behind an atomic has to be fenced. The specification orders them; devices that execute atomics over
 * PCIe, so that they exclude the processor too, are known not to, and take the fence unasked. The others are tried,
 * once a process: a READ that does not see the FETCH_ADD before it convicts, none in some rounds does not acquit
 * for ever. A device that cannot be tried takes the fence, and is tried again when it is opened next.
 */
final class OrderProbe
{
    private static final int ROUNDS = 64;
    private static final Map<String, Boolean> KNOWN = new ConcurrentHashMap<>();

    private OrderProbe()
    {
    }

    /**
     * Finds out.
     *
     * @param device     open.
     * @param domains    makes protection domains on it.
     * @param attributes of it so far.
     * @return the attributes with what was found out.
     */
    static DeviceAttributes addTo(
        final DeviceContext device,
        final Supplier<IbverbsProtectionDomain> domains,
        final DeviceAttributes attributes)
    {
        final boolean needsFence = attributes.supports(DeviceCapability.GLOBAL_ATOMICS) ||
            needsFence(device, domains);
        return new DeviceAttributes(attributes.provider(), attributes.capabilities(), needsFence,
            attributes.maxQueuePairRequests(), attributes.maxCompletions(), attributes.maxMessageBytes(),
            attributes.maxInlineBytes(), attributes.maxSendSegments(), attributes.maxReadAtomic(),
            attributes.maxSharedReceiveRequests(), attributes.maxMemoryWindows(), attributes.maxDcContexts());
    }

    private static boolean needsFence(
        final DeviceContext device, final Supplier<IbverbsProtectionDomain> domains)
    {
        try
        {
            return KNOWN.computeIfAbsent(device.rnic(), rnic -> overtakes(device, domains));
        }
        catch (final RdmaException ex)
        {
            return true;
        }
    }

    private static boolean overtakes(
        final DeviceContext device, final Supplier<IbverbsProtectionDomain> domains)
    {
        try (IbverbsProtectionDomain domain = domains.get();
            MemoryRegion local = domain.allocateRegistered(2 * Long.BYTES, AccessFlags.LOCAL_WRITE);
            MemoryRegion remote = domain.allocateRegistered(Long.BYTES, AccessFlags.ALL_REMOTE);
            SelfConnection connection = new SelfConnection(device, domain, AccessFlags.ALL_REMOTE))
        {
            final QueuePair requester = connection.requester();
            for (long round = 1; round <= ROUNDS; round++)
            {
                requester.begin();
                requester.fetchAdd(
                    0, 0, local.address(), local.localKey(), remote.address(), remote.remoteKey(), 1);
                requester.read(0, SendFlags.SIGNALED, local.address() + Long.BYTES, Long.BYTES, local.localKey(),
                    remote.address(), remote.remoteKey());
                final int status = connection.complete(requester);
                if (status != WorkCompletionStatus.SUCCESS)
                {
                    throw new RdmaException("order of " + device.rnic() + " could not be tried: " +
                        WorkCompletionStatus.text(status));
                }
                if (local.segment().get(JAVA_LONG, Long.BYTES) != round)
                {
                    return true;
                }
            }
            return false;
        }
    }
}
