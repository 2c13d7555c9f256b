package io.verbena.rdma.verbs;

/**
 * A way to a device ({@code struct ibv_ah}), for UD and DC requests. Thread-safe. Closed by its creator, which is after
 * {@link QueuePair#complete()} of each batch that names it: a request keeps nothing of it once it is posted. Where it
 * is closed between, that {@code complete()} either posts as if it were open, or throws {@link RdmaException} and
 * posts nothing.
 */
public interface AddressHandle extends AutoCloseable
{
    /** @return the device it leads to. */
    DeviceAddress target();

    @Override
    void close();
}
