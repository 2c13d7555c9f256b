package io.verbena.memory;

import static io.verbena.test.Mutation.field;

import io.verbena.rdma.verbs.MemoryRegion;
import java.util.Map;

/**
 * Where requests land in a memory node's region: there is a registration for each identity, and in a simulated fabric
 * each has addresses of its own.
 */
public final class KeyedRegions
{
    /** Of an address that no registration has. */
    public static final long OUTSIDE = -1;

    private final MemoryRegion region;
    private final Map<?, ?> registrations;

    /** @param node whose region it is, and which has not been closed. */
    public KeyedRegions(final MemoryNode node)
    {
        region = field(node, "region", MemoryRegion.class);
        final IdentityKeys keys = field(field(node, "gate", MemoryGate.class), "keys", IdentityKeys.class);
        registrations = field(keys, "registrations", Map.class);
    }

    /**
     * @param address of a request.
     * @return bytes from the beginning of the region, or {@link #OUTSIDE}.
     */
    public long offset(final long address)
    {
        final long offset = offset(region, address);
        if (OUTSIDE != offset)
        {
            return offset;
        }
        for (final Object registration : registrations.values())
        {
            final long granted = offset((MemoryRegion)registration, address);
            if (OUTSIDE != granted)
            {
                return granted;
            }
        }
        return OUTSIDE;
    }

    private static long offset(final MemoryRegion region, final long address)
    {
        final long offset = address - region.address();
        return 0 <= offset && offset < region.lengthBytes() ? offset : OUTSIDE;
    }
}
