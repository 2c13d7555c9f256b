package io.verbena.rdma.ibverbs;

import io.verbena.rdma.ibverbs.library.HeldPointer;
import io.verbena.rdma.ibverbs.library.Libibverbs;
import io.verbena.rdma.ibverbs.library.SendRing;
import io.verbena.rdma.ibverbs.library.VerbsLayouts;
import io.verbena.rdma.verbs.MemoryWindow;

import java.lang.foreign.MemorySegment;

import static java.lang.foreign.ValueLayout.JAVA_INT;

/**
 * {@code struct ibv_mw} of type 2. Whether it is bound the device knows; here is the key that the last posted bind
 * gave it. Bound by the owner thread of a queue pair.
 */
@SuppressWarnings("restricted")
final class IbverbsMemoryWindow implements MemoryWindow, SendRing.Window
{
    private static final int USER_BITS = 0xFF;
    private static final long KEY = VerbsLayouts.offset(VerbsLayouts.IBV_MW, "rkey");

    private final OpenDomain domain;
    private final HeldPointer mw;
    private volatile int key;

    IbverbsMemoryWindow(final OpenDomain domain)
    {
        this.domain = domain;
        mw = new HeldPointer(Libibverbs.allocateWindow("cannot allocate a memory window on " + domain.device().name(),
            domain.device().operation("alloc_mw"), domain.pointer()));
        key = VerbsLayouts.intAt(mw.address(), KEY);
    }

    /** The library would follow a pointer that is gone: null when it is closed, or of another domain. */
    HeldPointer pointer(final OpenDomain of)
    {
        return mw.isClosed() || of != domain ? null : mw;
    }

    /**
     * A bind to this key was posted, and the window is still held for that. The library names the old key in the next
     * one and leaves it to us to note it.
     */
    @Override
    public void bound(final int newKey)
    {
        MemorySegment.ofAddress(mw.address()).reinterpret(KEY + Integer.BYTES).set(JAVA_INT, KEY, newKey);
        key = newKey;
    }

    @Override
    public int remoteKey()
    {
        return key;
    }

    @Override
    public int nextRemoteKey()
    {
        final int current = key;
        return current & ~USER_BITS | current + 1 & USER_BITS;
    }

    @Override
    public synchronized void close()
    {
        final DeviceContext device = domain.device();
        if (mw.close(() -> Libibverbs.freeWindow(
            "a memory window of " + device.name(), device.operation("dealloc_mw"), mw.address())))
        {
            domain.childClosed();
        }
    }

    @Override
    public String toString()
    {
        return "IbverbsMemoryWindow{key=0x" + Integer.toHexString(key) + ", isClosed=" + mw.isClosed() + '}';
    }
}
