package io.verbena.rdma.verbs;

/**
 * A device's address on its fabric: the 128-bit GID of its port, and where its connection service is reached.
 *
 * @param gidHigh        upper 64 bits (subnet prefix).
 * @param gidLow         lower 64 bits (interface id).
 * @param serviceLocator what else the provider needs to reach the connection service of this device, in its own terms;
 *                       0 where the GID is enough. With {@code ibverbs} several open devices share a GID.
 */
public record DeviceAddress(long gidHigh, long gidLow, long serviceLocator)
{
    /**
     * An address whose GID is enough.
     *
     * @param gidHigh upper 64 bits (subnet prefix).
     * @param gidLow  lower 64 bits (interface id).
     */
    public DeviceAddress(final long gidHigh, final long gidLow)
    {
        this(gidHigh, gidLow, 0);
    }

    @Override
    public String toString()
    {
        return String.format("%016x:%016x", gidHigh, gidLow) +
            (serviceLocator == 0 ? "" : String.format("@%x", serviceLocator));
    }
}
