package io.verbena.rdma.roce.engine;

import io.verbena.rdma.spi.BoundWindow;
import io.verbena.rdma.spi.RandomKeyTable;
import io.verbena.rdma.spi.RandomWindowTable;
import io.verbena.rdma.spi.RegisteredRegion;
import io.verbena.rdma.spi.WindowBinding;
import io.verbena.rdma.spi.WindowTable;
import io.verbena.rdma.verbs.ProtectionDomain;

import java.util.function.IntSupplier;

/**
 * The memory of an engine: its keys, and the check that turns a key and an address into an address to access. Asked
 * anew for each packet, so that nothing lands in a region once its key is gone.
 */
final class RemoteAccess
{
    /** No access. */
    static final long REFUSED = 0;

    final RandomKeyTable regions;
    final RandomWindowTable windows;

    /** @param random where keys come from, unpredictable unless in a test. */
    RemoteAccess(final IntSupplier random)
    {
        regions = new RandomKeyTable(random);
        windows = new RandomWindowTable(random);
    }

    /**
     * Resolves a remote access.
     *
     * @param key             of a region or window.
     * @param domain          of the responder's queue pair.
     * @param queuePairNumber of the responder's queue pair.
     * @param right           it needs, one of the access flags.
     * @param address         first byte, as the peer names it.
     * @param lengthBytes     1 or more.
     * @return address in the terms of raw memory, or {@link #REFUSED}.
     */
    long remote(
        final int key,
        final ProtectionDomain domain,
        final int queuePairNumber,
        final int right,
        final long address,
        final long lengthBytes)
    {
        if (!WindowTable.isWindowKey(key))
        {
            return local(key, domain, right, address, lengthBytes);
        }
        final BoundWindow window = windows.find(key);
        final WindowBinding binding = window == null || lengthBytes > Integer.MAX_VALUE ? null :
            window.bindingFor(key, domain, queuePairNumber, right, address, (int)lengthBytes);
        return binding == null ? REFUSED : binding.region().rawAddress(binding.regionAddress(address));
    }

    /** As {@link #remote}, of this side's own requests and receives, which name regions only. */
    long local(
        final int key, final ProtectionDomain domain, final int right, final long address, final long lengthBytes)
    {
        final RegisteredRegion region = regions.find(key);
        return region != null && region.allows(domain, right, address, lengthBytes) ?
            region.rawAddress(address) : REFUSED;
    }
}
