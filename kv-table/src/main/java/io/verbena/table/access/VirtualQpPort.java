package io.verbena.table.access;

import io.verbena.raas.RemoteRegion;
import io.verbena.raas.VirtualQp;
import io.verbena.rdma.verbs.MemoryRegion;

/**
 * A port over a virtual queue pair. Does not own it: whoever connected it closes it, after {@code TableEngine.detach}.
 */
public final class VirtualQpPort implements OneSidedPort
{
    private final VirtualQp virtualQp;
    private final RemoteRegion region;

    /**
     * @param virtualQp to the memory node; its batch listener passes completions on to the engine.
     * @param region    of the memory node, from its first byte.
     */
    public VirtualQpPort(final VirtualQp virtualQp, final RemoteRegion region)
    {
        this.virtualQp = virtualQp;
        this.region = region;
    }

    @Override
    public boolean isReady()
    {
        return virtualQp.state() == VirtualQp.State.READY;
    }

    @Override
    public boolean isFailed()
    {
        final VirtualQp.State state = virtualQp.state();
        return state == VirtualQp.State.FAILED || state == VirtualQp.State.CLOSED;
    }

    @Override
    public int space()
    {
        return virtualQp.space();
    }

    @Override
    public long regionLengthBytes()
    {
        return region.lengthBytes();
    }

    @Override
    public void preload(final long remoteOffset, final int lengthBytes)
    {
        virtualQp.preload(region, remoteOffset, lengthBytes);
    }

    @Override
    public void abort()
    {
        virtualQp.abort();
    }

    @Override
    public void begin()
    {
        virtualQp.begin();
    }

    @Override
    public void read(final MemoryRegion local, final long localOffset, final int lengthBytes, final long remoteOffset)
    {
        virtualQp.read(local, localOffset, lengthBytes, region, remoteOffset);
    }

    @Override
    public void write(final MemoryRegion local, final long localOffset, final int lengthBytes, final long remoteOffset)
    {
        virtualQp.write(local, localOffset, lengthBytes, region, remoteOffset);
    }

    @Override
    public void compareSwap(
        final MemoryRegion local,
        final long localOffset,
        final long remoteOffset,
        final long expected,
        final long desired)
    {
        virtualQp.compareSwap(local, localOffset, region, remoteOffset, expected, desired);
    }

    @Override
    public void fenceNext()
    {
        virtualQp.fenceNext();
    }

    @Override
    public int complete(final int cookie)
    {
        return virtualQp.complete(cookie);
    }
}
