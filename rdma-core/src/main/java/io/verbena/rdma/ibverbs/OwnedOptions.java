package io.verbena.rdma.ibverbs;

import io.verbena.rdma.ibverbs.library.Libibverbs;
import io.verbena.rdma.ibverbs.library.Mlx5Library;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.QueuePairOptions;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.RdmaException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** What a queue pair shall be made of, once everything has turned out to be of its device and domain. */
record OwnedOptions(
    OpenDomain domain,
    QueuePairType type,
    QueuePairCapabilities capabilities,
    IbverbsCompletionQueue sendCompletions,
    IbverbsCompletionQueue receiveCompletions,
    IbverbsSharedReceiveQueue shared)
{
    /**
     * Checks options.
     *
     * @param domain  where the queue pair shall be.
     * @param options of the caller.
     * @return the same, as this provider's.
     */
    static OwnedOptions of(final OpenDomain domain, final QueuePairOptions options)
    {
        final DeviceContext device = domain.device();
        final OwnedOptions owned = new OwnedOptions(domain, options.type(), options.capabilities(),
            own(device, options.sendCompletions()), own(device, options.receiveCompletions()), own(domain, options));
        check(device, options.capabilities());
        return owned;
    }

    private static IbverbsCompletionQueue own(final DeviceContext device, final Object queue)
    {
        if (queue instanceof final IbverbsCompletionQueue own && own.device() == device)
        {
            return own;
        }
        throw new RdmaException("the completion queue is not of this device: device=" + device.name());
    }

    private static IbverbsSharedReceiveQueue own(final OpenDomain domain, final QueuePairOptions options)
    {
        final Object queue = options.sharedReceiveQueue();
        if (queue == null)
        {
            return null;
        }
        final String device = domain.device().name();
        if (options.type() == QueuePairType.UC || options.type() == QueuePairType.DC_INITIATOR)
        {
            throw new RdmaException(
                "a " + options.type() + " queue pair takes no shared receive queue: device=" + device);
        }
        if (queue instanceof final IbverbsSharedReceiveQueue own && own.domain() == domain)
        {
            return own;
        }
        throw new RdmaException("the shared receive queue is not of this protection domain: device=" + device);
    }

    private static void check(final DeviceContext device, final QueuePairCapabilities wanted)
    {
        final int most = device.attributes().maxQueuePairRequests();
        DeviceContext.checkRange("maxSendRequests", wanted.maxSendRequests(), 1, most);
        DeviceContext.checkRange("maxReceiveRequests", wanted.maxReceiveRequests(), 0, most);
        DeviceContext.checkRange("maxInlineBytes", wanted.maxInlineBytes(), 0, device.attributes().maxInlineBytes());
        DeviceContext.checkRange("maxReadAtomic", wanted.maxReadAtomic(), 0, device.attributes().maxReadAtomic());
        DeviceContext.checkRange("maxSendSegments", wanted.maxSendSegments(), 1, device.attributes().maxSendSegments());
    }

    /** @return a new {@code struct ibv_qp *} in RESET. */
    long create(final DynamicConnections dynamicConnections)
    {
        final DeviceContext device = domain.device();
        final String what = "cannot create a queue pair on " + device.name() + ", " + capabilities;
        final int nativeType = switch (type)
        {
            case RC -> 2;
            case UC -> 3;
            case UD -> 4;
            case DC_INITIATOR -> Mlx5Library.IBV_QPT_DRIVER;
        };
        if (nativeType == Mlx5Library.IBV_QPT_DRIVER)
        {
            return dynamicConnections.createInitiator(what, domain.pointer(), sendCompletions.pointer(),
                receiveCompletions.pointer(), capabilities);
        }
        try (Arena arena = Arena.ofConfined())
        {
            final MemorySegment attributes = QueuePairStructures.initAttributes(
                arena, nativeType, sendCompletions.pointer(), receiveCompletions.pointer(),
                shared == null ? 0 : shared.pointer(), capabilities);
            return Libibverbs.Maker.CREATE_QP.make(what, domain.pointer(), attributes.address());
        }
    }
}
