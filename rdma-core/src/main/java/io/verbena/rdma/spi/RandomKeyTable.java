package io.verbena.rdma.spi;

import io.verbena.rdma.verbs.ProtectionDomain;

import java.lang.foreign.MemorySegment;
import java.util.function.IntSupplier;

/**
 * A device's regions by key, as {@link KeyTable}, for devices whose peers are on a network: a key has 31 random bits,
 * so that it cannot be guessed from others. {@link #find} may be called by any thread.
 */
public final class RandomKeyTable extends ScatteredTable<RegisteredRegion>
{
    /** Most regions open at once. */
    public static final int MAX_REGIONS = KeyTable.MAX_REGIONS;

    private static final int KEY_BITS = 31;

    /** @param random unpredictable; called by {@link #add}. */
    public RandomKeyTable(final IntSupplier random)
    {
        super(random, MAX_REGIONS, "regions");
    }

    @Override
    int number(final RegisteredRegion region)
    {
        return region.localKey();
    }

    /**
     * Looks a key up.
     *
     * @param key local or remote.
     * @return the region, or null when the key is unknown.
     */
    public RegisteredRegion find(final int key)
    {
        return at(key);
    }

    /** Registers memory under a new key; parameters as of {@link KeyTable#add}. */
    public synchronized RegisteredRegion add(
        final MemorySegment segment,
        final long address,
        final int accessFlags,
        final ProtectionDomain protectionDomain,
        final RegisteredRegion.Owner owner)
    {
        final RegisteredRegion region = new RegisteredRegion(
            segment, address, freeNumber(KEY_BITS), accessFlags, protectionDomain, owner);
        put(region);
        return region;
    }

    /**
     * Makes a region of another table known under the key that it has.
     *
     * @param region with a key that this table has not given out.
     */
    public synchronized void adopt(final RegisteredRegion region)
    {
        checkUnknown(region);
        put(region);
    }

    /**
     * Makes a key unknown, by a volatile store; without effect the second time.
     *
     * @param region to remove.
     */
    public synchronized void remove(final RegisteredRegion region)
    {
        take(region);
    }
}
