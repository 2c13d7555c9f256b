package io.verbena.rdma.verbs;

/**
 * A device's address on its fabric: the 128-bit GID of its port.
 *
 * @param gidHigh upper 64 bits (subnet prefix).
 * @param gidLow  lower 64 bits (interface id).
 */
public record DeviceAddress(long gidHigh, long gidLow)
{
    @Override
    public String toString()
    {
        return String.format("%016x:%016x", gidHigh, gidLow);
    }
}
