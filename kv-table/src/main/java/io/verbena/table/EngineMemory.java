package io.verbena.table;

import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.table.access.Scratch;
import io.verbena.table.operation.LocationCache;

/**
 * The memory of an engine outside of the heap: scratch memory of its operations, and its location cache. Both or none.
 *
 * @param scratch registered, one range for each operation slot.
 * @param cache   of this process alone.
 */
public record EngineMemory(Scratch scratch, LocationCache cache) implements AutoCloseable
{
    /** @throws io.verbena.rdma.verbs.RdmaException when there is not so much; nothing is kept of it then. */
    static EngineMemory open(
        final ProtectionDomain protectionDomain,
        final TableEngineConfiguration configuration)
    {
        final Scratch scratch =
            new Scratch(protectionDomain, (long)configuration.operationSlots() * Scratch.SLOT_STRIDE);
        try
        {
            return new EngineMemory(scratch, new LocationCache(configuration.locationCacheEntries()));
        }
        catch (final RuntimeException | Error ex)
        {
            scratch.close();
            throw ex;
        }
    }

    @Override
    public void close()
    {
        cache.close();
        scratch.close();
    }
}
