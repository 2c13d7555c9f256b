package io.verbena.raas;

import io.verbena.rdma.verbs.MemoryRegion;

/**
 * Memory of a peer, or a part of it, in the peer's terms.
 *
 * @param address     first byte.
 * @param lengthBytes bytes reachable from there.
 * @param remoteKey   key that the peer gave out.
 */
public record RemoteRegion(long address, long lengthBytes, int remoteKey)
{
    /** Nothing: no request fits in. */
    public static final RemoteRegion NONE = new RemoteRegion(0, 0, 0);

    /**
     * @param region registered here.
     * @return what peers need to reach all of it.
     */
    public static RemoteRegion of(final MemoryRegion region)
    {
        return new RemoteRegion(region.address(), region.lengthBytes(), region.remoteKey());
    }
}
