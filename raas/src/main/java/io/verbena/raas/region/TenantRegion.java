package io.verbena.raas.region;

import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;

import java.lang.foreign.MemorySegment;

/** A region made from a {@link TenantProtectionDomain}, with what the checks before posting need at hand. */
public final class TenantRegion implements MemoryRegion
{
    public final ProtectionDomain domain;
    public final long address;
    public final long lengthBytes;
    public final int localKey;
    public final int accessFlags;
    private final MemoryRegion delegate;
    private final PinnedBytes pinned;
    private boolean isCounted = true;
    private volatile boolean isOpen = true;

    /** @param pinned has the bytes already; gets them back when this is closed. */
    TenantRegion(final ProtectionDomain domain, final PinnedBytes pinned, final MemoryRegion delegate)
    {
        this.domain = domain;
        this.pinned = pinned;
        this.delegate = delegate;
        address = delegate.address();
        lengthBytes = delegate.lengthBytes();
        localKey = delegate.localKey();
        accessFlags = delegate.accessFlags();
    }

    public boolean isOpen()
    {
        return isOpen;
    }

    @Override
    public MemorySegment segment()
    {
        return delegate.segment();
    }

    @Override
    public long address()
    {
        return address;
    }

    @Override
    public long lengthBytes()
    {
        return lengthBytes;
    }

    @Override
    public int localKey()
    {
        return localKey;
    }

    @Override
    public int remoteKey()
    {
        return delegate.remoteKey();
    }

    @Override
    public int accessFlags()
    {
        return accessFlags;
    }

    @Override
    public void close()
    {
        isOpen = false;
        delegate.close();
        giveBack();
    }

    private synchronized void giveBack()
    {
        if (isCounted)
        {
            isCounted = false;
            pinned.giveBack(lengthBytes);
        }
    }
}
