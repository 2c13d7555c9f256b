package io.verbena.rdma.soft.shared;

import io.verbena.rdma.spi.KeyTable;
import io.verbena.rdma.spi.RegisteredRegion;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

import static io.verbena.rdma.soft.shared.KeyEntryDescriptor.*;

/**
 * An own device's regions: for its own requests in the heap, for its peers in the device file. An index is not given
 * out again before nobody can be using what was there. Thread-safe.
 */
public final class SharedKeys
{
    private final KeyEntries entries;
    private final KeyTable local;
    private final BitSet resting = new BitSet();

    /**
     * @param file   of the device.
     * @param random where keys come from that are not to be guessed; null when they may follow each other.
     */
    public SharedKeys(final DeviceFile file, final IntSupplier random)
    {
        local = new KeyTable(random);
        entries = KeyEntries.ofRegions(file);
    }

    /** The entries of regions in the device file. */
    public KeyEntries entries()
    {
        return entries;
    }

    /** For requests of this device. */
    public KeyTable local()
    {
        return local;
    }

    /**
     * Registers a region for both.
     *
     * @param factory  makes the region, under a new key of {@link #local}.
     * @param domainId of its protection domain.
     * @param file     in which it lies.
     * @return the region.
     */
    public synchronized RegisteredRegion add(
        final Supplier<RegisteredRegion> factory, final int domainId, final SharedMemoryFile file)
    {
        final RegisteredRegion region = addRested(factory);
        final long entry = entryOf(region);
        SharedWords.putInt(entry + RIGHTS_OFFSET, region.accessFlags());
        SharedWords.putInt(entry + DOMAIN_OFFSET, domainId);
        SharedWords.putInt(entry + QUEUE_PAIR_OFFSET, 0);
        SharedWords.putLong(entry + ADDRESS_OFFSET, region.address());
        SharedWords.putLong(entry + LENGTH_OFFSET, region.lengthBytes());
        SharedWords.putLong(entry + FILE_OFFSET, file.number());
        SharedWords.putLong(entry + FILE_POSITION_OFFSET, region.address() - file.segment().address());
        SharedWords.putIntRelease(entry + KEY_OFFSET, region.localKey());
        return region;
    }

    /** Makes a region at an index that does not rest. */
    private RegisteredRegion addRested(final Supplier<RegisteredRegion> factory)
    {
        final List<RegisteredRegion> skipped = new ArrayList<>();
        try
        {
            RegisteredRegion region = factory.get();
            while (resting.get(region.localKey() >>> 16))
            {
                skipped.add(region);
                region = factory.get();
            }
            return region;
        }
        finally
        {
            skipped.forEach(local::remove);
        }
    }

    /** Address of the entry of a new region, which is unknown again when there is no room for one. */
    private long entryOf(final RegisteredRegion region)
    {
        boolean isThere = false;
        try
        {
            final long entry = entries.entry(region.localKey());
            isThere = true;
            return entry;
        }
        finally
        {
            if (!isThere)
            {
                local.remove(region);
            }
        }
    }

    /** Makes a region unknown to everybody; requests that have found it before may still be using it. */
    public synchronized void withdraw(final RegisteredRegion region)
    {
        resting.set(region.localKey() >>> 16);
        local.remove(region);
        SharedWords.putIntVolatile(entries.entry(region.localKey()) + KEY_OFFSET, 0);
    }

    /** Nobody uses a withdrawn region any more. */
    public synchronized void forget(final RegisteredRegion region)
    {
        resting.clear(region.localKey() >>> 16);
    }
}
