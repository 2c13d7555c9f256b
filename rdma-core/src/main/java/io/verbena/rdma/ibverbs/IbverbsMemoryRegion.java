package io.verbena.rdma.ibverbs;

import io.verbena.rdma.verbs.MemoryRegion;

import java.lang.foreign.MemorySegment;

/** {@code struct ibv_mr} over memory of its own, which it frees, or of the caller, which it keeps from being freed. */
final class IbverbsMemoryRegion implements MemoryRegion
{
    private final IbverbsProtectionDomain domain;
    private final MemorySegment segment;
    private final int accessFlags;
    private final Runnable release;
    private final long mr;
    private final int localKey;
    private final int remoteKey;
    private boolean isClosed;

    IbverbsMemoryRegion(
        final IbverbsProtectionDomain domain,
        final MemorySegment segment,
        final int accessFlags,
        final Runnable release)
    {
        this.domain = domain;
        this.segment = segment;
        this.accessFlags = accessFlags;
        this.release = release;
        mr = Libibverbs.registerMemory("cannot register " + segment.byteSize() + " bytes on " + domain.device().name(),
            domain.pointer(), segment.address(), segment.byteSize(), accessFlags);
        localKey = IbverbsDevice.field(mr, VerbsLayouts.offset(VerbsLayouts.IBV_MR, "lkey"));
        remoteKey = IbverbsDevice.field(mr, VerbsLayouts.offset(VerbsLayouts.IBV_MR, "rkey"));
    }

    /** The library would follow a pointer that is gone: 0 when it is closed, or of another domain. */
    synchronized long pointer(final IbverbsProtectionDomain of)
    {
        return isClosed || of != domain ? 0 : mr;
    }

    @Override
    public MemorySegment segment()
    {
        return segment;
    }

    @Override
    public long address()
    {
        return segment.address();
    }

    @Override
    public long lengthBytes()
    {
        return segment.byteSize();
    }

    @Override
    public int localKey()
    {
        return localKey;
    }

    @Override
    public int remoteKey()
    {
        return remoteKey;
    }

    @Override
    public int accessFlags()
    {
        return accessFlags;
    }

    @Override
    public synchronized void close()
    {
        if (isClosed)
        {
            return;
        }
        Libibverbs.Destroyer.DEREG_MR.destroy("a memory region of " + lengthBytes() + " bytes", mr);
        isClosed = true;
        release.run();
        domain.childClosed();
    }

    @Override
    public String toString()
    {
        return "IbverbsMemoryRegion{address=0x" + Long.toHexString(address()) + ", lengthBytes=" + lengthBytes() +
            ", localKey=0x" + Integer.toHexString(localKey) + ", remoteKey=0x" + Integer.toHexString(remoteKey) +
            ", accessFlags=0x" + Integer.toHexString(accessFlags) + ", isClosed=" + isClosed + '}';
    }
}
