package io.verbena.raas.region;

import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairOptions;
import io.verbena.rdma.verbs.RdmaException;

import java.lang.foreign.MemorySegment;
import java.util.function.Supplier;

/**
 * The context's protection domain as a tenant sees it: remembers which regions were made here and are still open, and
 * how long they are together.
 */
public final class TenantProtectionDomain implements ProtectionDomain
{
    private final ProtectionDomain delegate;
    private final PinnedBytes pinned;

    public TenantProtectionDomain(final ProtectionDomain delegate, final PinnedBytes pinned)
    {
        this.delegate = delegate;
        this.pinned = pinned;
    }

    @Override
    public MemoryRegion allocateRegistered(final long lengthBytes, final int accessFlags)
    {
        return pin(lengthBytes, () -> delegate.allocateRegistered(lengthBytes, accessFlags));
    }

    @Override
    public MemoryRegion allocateNamed(final String name, final long lengthBytes, final int accessFlags)
    {
        return pin(lengthBytes, () -> delegate.allocateNamed(name, lengthBytes, accessFlags));
    }

    @Override
    public MemoryRegion register(final MemorySegment segment, final int accessFlags)
    {
        return pin(segment.byteSize(), () -> delegate.register(segment, accessFlags));
    }

    private MemoryRegion pin(final long lengthBytes, final Supplier<MemoryRegion> registration)
    {
        // A length that no region can have is refused below, in its own words.
        final long bytes = Math.max(0, lengthBytes);
        pinned.take(bytes);
        MemoryRegion region = null;
        try
        {
            region = registration.get();
        }
        finally
        {
            pinned.giveBack(region == null ? bytes : bytes - region.lengthBytes());
        }
        return new TenantRegion(this, pinned, region);
    }

    @Override
    public QueuePair createQueuePair(final QueuePairOptions options)
    {
        return delegate.createQueuePair(options);
    }

    @Override
    public void close()
    {
        throw new RdmaException("this protection domain belongs to its RaasContext: close the context");
    }
}
