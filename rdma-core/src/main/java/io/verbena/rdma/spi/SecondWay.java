package io.verbena.rdma.spi;

/**
 * Another way to the memory of a device's domain, beside its own: the same regions and windows, under the same keys.
 * Called by whoever makes or closes them, any thread.
 */
public interface SecondWay
{
    /** There is none. */
    SecondWay NONE = new SecondWay()
    {
        @Override
        public void regionAdded(final RegisteredRegion region)
        {
            // nothing to do
        }

        @Override
        public void regionWithdrawn(final RegisteredRegion region)
        {
            // nothing to do
        }

        @Override
        public void windowAdded(final BoundWindow window)
        {
            // nothing to do
        }

        @Override
        public void windowRemoved(final BoundWindow window)
        {
            // nothing to do
        }
    };

    /** A region is there. When this throws, the region is closed, with {@link #regionWithdrawn} being called. */
    void regionAdded(RegisteredRegion region);

    /**
     * A region is being closed: returns when no access by this way can land any more. Called again when a close that
     * has thrown is repeated.
     */
    void regionWithdrawn(RegisteredRegion region);

    /** A window is there, not bound. When this throws it is closed, with {@link #windowRemoved} being called. */
    void windowAdded(BoundWindow window);

    /** A window is closed and has no binding: returns when no access through it can land any more. */
    void windowRemoved(BoundWindow window);
}
