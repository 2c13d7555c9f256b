package io.verbena.raas;

import io.verbena.raas.limit.RaasMisuseException;
import io.verbena.rdma.verbs.MemoryRegion;

import java.util.List;

/**
 * Answer to a peer that wants to connect.
 *
 * @param isAccepted  whether it may.
 * @param accessFlags rights of its queue pair, see {@link io.verbena.rdma.verbs.AccessFlags}; 0: calls only.
 * @param regions     what it may reach; sent to it, and its requests are checked against that before they are posted.
 *                    Stay registered for as long as the peer can be connected.
 * @param privateData shown to it.
 * @param reason      why not, for people; empty when accepted.
 */
public record Admission(
    boolean isAccepted, int accessFlags, List<MemoryRegion> regions, byte[] privateData, String reason)
{
    /** Most regions granted to one connection. */
    public static final int MAX_REGIONS = 4;
    /** Longest private data. */
    public static final int MAX_PRIVATE_DATA_BYTES = 64;
    private static final byte[] NOTHING = new byte[0];

    /** Checks the limits. */
    public Admission
    {
        if (regions.size() > MAX_REGIONS || privateData.length > MAX_PRIVATE_DATA_BYTES)
        {
            throw new RaasMisuseException("an admission takes " + MAX_REGIONS + " regions and " +
                MAX_PRIVATE_DATA_BYTES + " bytes of private data, not " + regions.size() + " and " +
                privateData.length);
        }
        regions = List.copyOf(regions);
    }

    /** @return leave to call, without access to memory. */
    public static Admission callsOnly()
    {
        return new Admission(true, 0, List.of(), NOTHING, "");
    }

    /**
     * @param accessFlags see {@link io.verbena.rdma.verbs.AccessFlags}.
     * @param privateData up to {@link #MAX_PRIVATE_DATA_BYTES}.
     * @param regions     up to {@link #MAX_REGIONS}.
     * @return leave to call and to reach regions.
     */
    public static Admission accept(final int accessFlags, final byte[] privateData, final MemoryRegion... regions)
    {
        return new Admission(true, accessFlags, List.of(regions), privateData, "");
    }

    /**
     * @param reason for people at the other end, who see up to 180 bytes of it.
     * @return refusal.
     */
    public static Admission refuse(final String reason)
    {
        return new Admission(false, 0, List.of(), NOTHING, reason);
    }
}
