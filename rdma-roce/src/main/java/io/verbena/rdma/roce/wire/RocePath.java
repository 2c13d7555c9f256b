package io.verbena.rdma.roce.wire;

/**
 * The addresses of the IP and UDP headers that packets in one direction travel under. An IPv4 address a.b.c.d is the
 * IPv6 address ::ffff:a.b.c.d, as in a GID.
 *
 * @param sourceHigh      upper 64 bits of the sender's address.
 * @param sourceLow       lower 64 bits.
 * @param sourcePort      UDP port, 0 to 65535.
 * @param destinationHigh upper 64 bits of the receiver's address.
 * @param destinationLow  lower 64 bits.
 * @param destinationPort UDP port, 0 to 65535; {@link #ROCE_PORT} except between engines that agreed on another one.
 */
public record RocePath(
    long sourceHigh,
    long sourceLow,
    int sourcePort,
    long destinationHigh,
    long destinationLow,
    int destinationPort)
{
    /** The UDP port of RoCEv2. */
    public static final int ROCE_PORT = 4791;

    private static final long MAPPED = 0xFFFFL;

    /**
     * Whether two addresses are carried by IPv4.
     *
     * @param high upper 64 bits of either address.
     * @param low  its lower 64 bits.
     * @return whether it is ::ffff:a.b.c.d.
     */
    public static boolean isIpv4(final long high, final long low)
    {
        return high == 0 && low >>> Integer.SIZE == MAPPED;
    }
}
