package io.verbena.rdma.spi;

/** The provider's part of closing a region. */
public interface RegionOwner
{
    /**
     * Called first of all when a region is to be closed: unbinds the windows on it that peers have invalidated, if the
     * provider learns of that only by looking.
     *
     * @param region to be closed.
     */
    default void collectInvalidated(final RegisteredRegion region)
    {
    }

    /**
     * Takes the region out of use, waits until no access through it can land, and frees what the provider allocated.
     *
     * @param region being closed; again when an earlier call threw.
     */
    void release(RegisteredRegion region);
}
