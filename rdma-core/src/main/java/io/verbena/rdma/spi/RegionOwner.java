package io.verbena.rdma.spi;

/** The provider's part of closing a region. */
public interface RegionOwner
{
    /**
     * Takes the region out of use, waits until no access through it can land, and frees what the provider allocated.
     *
     * @param region being closed; again when an earlier call threw.
     */
    void release(RegisteredRegion region);
}
