package io.verbena.rdma.ibverbs;

import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.RdmaException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** {@code struct ibv_ah}. */
final class IbverbsAddressHandle implements AddressHandle
{
    private final IbverbsProtectionDomain domain;
    private final DeviceAddress target;
    private final long ah;
    private volatile boolean isClosed;

    IbverbsAddressHandle(final IbverbsProtectionDomain domain, final DeviceAddress target)
    {
        this.domain = domain;
        this.target = target;
        try (Arena arena = Arena.ofConfined())
        {
            final MemorySegment attributes = arena.allocate(VerbsLayouts.IBV_AH_ATTR);
            QueuePairStructures.putAddress(domain.device(), target, attributes);
            ah = Libibverbs.Maker.CREATE_AH.make(
                "cannot make a way to " + target, domain.pointer(), attributes.address());
        }
    }

    long pointer()
    {
        if (isClosed)
        {
            throw new RdmaException("address handle is closed: target=" + target);
        }
        return ah;
    }

    @Override
    public DeviceAddress target()
    {
        return target;
    }

    @Override
    public synchronized void close()
    {
        if (isClosed)
        {
            return;
        }
        Libibverbs.Destroyer.DESTROY_AH.destroy("an address handle", ah);
        isClosed = true;
        domain.childClosed();
    }
}
