package io.verbena.raas.region;

import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairOptions;
import io.verbena.rdma.verbs.RdmaException;

import java.lang.foreign.MemorySegment;

/** The context's protection domain as its users see it: remembers which regions were made here and are still open. */
public final class TenantProtectionDomain implements ProtectionDomain
{
    private final ProtectionDomain delegate;

    public TenantProtectionDomain(final ProtectionDomain delegate)
    {
        this.delegate = delegate;
    }

    @Override
    public MemoryRegion allocateRegistered(final long lengthBytes, final int accessFlags)
    {
        return new TenantRegion(this, delegate.allocateRegistered(lengthBytes, accessFlags));
    }

    @Override
    public MemoryRegion allocateNamed(final String name, final long lengthBytes, final int accessFlags)
    {
        return new TenantRegion(this, delegate.allocateNamed(name, lengthBytes, accessFlags));
    }

    @Override
    public MemoryRegion register(final MemorySegment segment, final int accessFlags)
    {
        return new TenantRegion(this, delegate.register(segment, accessFlags));
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
