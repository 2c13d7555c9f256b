package io.verbena.rdma.roce.interop;

import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;

/** Linux's Soft-RoCE, by libibverbs. */
final class SoftRoceSide extends InteropSide
{
    private static final int COMPLETIONS = 1024;

    private final Fabric fabric;
    final Device device;
    private final ProtectionDomain domain;
    private final CompletionQueue completions;
    private final MemoryRegion region;

    /** @param fabricName such as {@code ibverbs:rxe1,gid=1}. */
    SoftRoceSide(final String fabricName)
    {
        fabric = Fabrics.open(fabricName);
        device = fabric.openDevice("rxe");
        domain = device.allocateProtectionDomain();
        completions = device.createCompletionQueue(COMPLETIONS);
        region = domain.allocateRegistered(REGION_BYTES, AccessFlags.ALL_REMOTE | AccessFlags.MW_BIND);
    }

    @Override
    String name()
    {
        return "rxe";
    }

    /** Its packets come to port 4791; the service locator of an ibverbs device is another thing. */
    @Override
    DeviceAddress address()
    {
        return new DeviceAddress(device.address().gidHigh(), device.address().gidLow());
    }

    @Override
    ProtectionDomain domain()
    {
        return domain;
    }

    @Override
    CompletionQueue completions()
    {
        return completions;
    }

    @Override
    MemoryRegion region()
    {
        return region;
    }

    @Override
    boolean drive()
    {
        return false; // the kernel does
    }

    @Override
    public void close()
    {
        region.close();
        completions.close();
        domain.close();
        device.close();
        fabric.close();
    }
}
