package io.verbena.rdma.ibverbs;

import io.verbena.rdma.ibverbs.library.HeldPointer;
import io.verbena.rdma.ibverbs.library.Libibverbs;
import io.verbena.rdma.ibverbs.library.VerbsLayouts;
import io.verbena.rdma.verbs.MemoryRegion;

import java.lang.foreign.MemorySegment;

/** {@code struct ibv_mr} over memory of its own, which it frees, or of the caller, which it keeps from being freed. */
final class IbverbsMemoryRegion implements MemoryRegion
{
    private final OpenDomain domain;
    private final MemorySegment segment;
    private final int accessFlags;
    private final Runnable release;
    private final HeldPointer mr;
    private final int localKey;
    private final int remoteKey;

    IbverbsMemoryRegion(
        final OpenDomain domain,
        final MemorySegment segment,
        final int accessFlags,
        final Runnable release)
    {
        this.domain = domain;
        this.segment = segment;
        this.accessFlags = accessFlags;
        this.release = release;
        mr = new HeldPointer(Libibverbs.registerMemory(
            "cannot register " + segment.byteSize() + " bytes on " + domain.device().name(),
            domain.pointer(), segment.address(), segment.byteSize(), accessFlags));
        localKey = VerbsLayouts.intAt(mr.address(), VerbsLayouts.offset(VerbsLayouts.IBV_MR, "lkey"));
        remoteKey = VerbsLayouts.intAt(mr.address(), VerbsLayouts.offset(VerbsLayouts.IBV_MR, "rkey"));
    }

    /** The library would follow a pointer that is gone: null when it is closed, or of another domain. */
    HeldPointer pointer(final OpenDomain of)
    {
        return mr.isClosed() || of != domain ? null : mr;
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
        final String what = "a memory region of " + lengthBytes() + " bytes";
        if (mr.close(() -> Libibverbs.Destroyer.DEREG_MR.destroy(what, mr.address())))
        {
            release.run();
            domain.childClosed();
        }
    }

    @Override
    public String toString()
    {
        return "IbverbsMemoryRegion{address=0x" + Long.toHexString(address()) + ", lengthBytes=" + lengthBytes() +
            ", localKey=0x" + Integer.toHexString(localKey) + ", remoteKey=0x" + Integer.toHexString(remoteKey) +
            ", accessFlags=0x" + Integer.toHexString(accessFlags) + ", isClosed=" + mr.isClosed() + '}';
    }
}
