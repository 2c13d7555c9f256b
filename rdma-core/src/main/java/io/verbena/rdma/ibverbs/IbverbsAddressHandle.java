package io.verbena.rdma.ibverbs;

import io.verbena.rdma.ibverbs.library.HeldPointer;
import io.verbena.rdma.ibverbs.library.Libibverbs;
import io.verbena.rdma.ibverbs.library.VerbsLayouts;
import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.RdmaException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** {@code struct ibv_ah}. */
final class IbverbsAddressHandle implements AddressHandle
{
    private final OpenDomain domain;
    private final DeviceAddress target;
    private final HeldPointer ah;

    IbverbsAddressHandle(final OpenDomain domain, final DeviceAddress target)
    {
        this.domain = domain;
        this.target = target;
        try (Arena arena = Arena.ofConfined())
        {
            final MemorySegment attributes = arena.allocate(VerbsLayouts.IBV_AH_ATTR);
            QueuePairStructures.putAddress(domain.device().localPort(), target, attributes);
            ah = new HeldPointer(Libibverbs.Maker.CREATE_AH.make(
                "cannot make a way to " + target, domain.pointer(), attributes.address()));
        }
    }

    HeldPointer pointer()
    {
        if (ah.isClosed())
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
        if (ah.close(() -> Libibverbs.Destroyer.DESTROY_AH.destroy("an address handle", ah.address())))
        {
            domain.childClosed();
        }
    }
}
