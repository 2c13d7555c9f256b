package io.verbena.rdma.verbs;

/** A way to a device ({@code struct ibv_ah}), for UD and DC requests. Thread-safe. Closed by its creator. */
public interface AddressHandle extends AutoCloseable
{
    /** @return the device it leads to. */
    DeviceAddress target();

    @Override
    void close();
}
