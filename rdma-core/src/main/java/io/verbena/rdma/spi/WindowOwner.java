package io.verbena.rdma.spi;

/** The provider's part of closing a memory window. */
public interface WindowOwner
{
    /**
     * Takes the window out of its table and waits until no access through it can land.
     *
     * @param window being closed.
     */
    void release(BoundWindow window);
}
