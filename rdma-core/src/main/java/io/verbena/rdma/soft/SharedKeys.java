package io.verbena.rdma.soft;

import io.verbena.rdma.spi.KeyTable;
import io.verbena.rdma.spi.RegisteredRegion;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.function.Supplier;

import static io.verbena.rdma.soft.KeyEntryDescriptor.*;

/**
 * An own device's regions: for its own requests in the heap, for its peers in the device file. An index is not given
 * out again before nobody can be using what was there. Thread-safe.
 */
final class SharedKeys
{
    private static final int ENTRIES_PER_COMMIT = 64;

    private final DeviceFile file;
    private final KeyTable local = new KeyTable();
    private final BitSet resting = new BitSet();
    private int limit;

    SharedKeys(final DeviceFile file)
    {
        this.file = file;
    }

    /** For requests of this device. */
    KeyTable local()
    {
        return local;
    }

    /**
     * Registers a region for both.
     *
     * @param factory    makes the region, under a new key of {@link #local}.
     * @param domainId   of its protection domain.
     * @param fileNumber of its file.
     * @return the region.
     */
    synchronized RegisteredRegion add(
        final Supplier<RegisteredRegion> factory, final int domainId, final long fileNumber)
    {
        final List<RegisteredRegion> skipped = new ArrayList<>();
        RegisteredRegion region = factory.get();
        while (resting.get(region.localKey() >>> 16))
        {
            skipped.add(region);
            region = factory.get();
        }
        skipped.forEach(local::remove);
        final long entry = entry(region.localKey());
        SharedWords.putInt(entry + RIGHTS_OFFSET, region.accessFlags());
        SharedWords.putInt(entry + DOMAIN_OFFSET, domainId);
        SharedWords.putInt(entry + QUEUE_PAIR_OFFSET, 0);
        SharedWords.putLong(entry + ADDRESS_OFFSET, region.address());
        SharedWords.putLong(entry + LENGTH_OFFSET, region.lengthBytes());
        SharedWords.putLong(entry + FILE_OFFSET, fileNumber);
        SharedWords.putLong(entry + FILE_POSITION_OFFSET, 0);
        SharedWords.putIntRelease(entry + KEY_OFFSET, region.localKey());
        return region;
    }

    /** Makes a region unknown to everybody; requests that have found it before may still be using it. */
    synchronized void withdraw(final RegisteredRegion region)
    {
        resting.set(region.localKey() >>> 16);
        local.remove(region);
        SharedWords.putIntVolatile(entry(region.localKey()) + KEY_OFFSET, 0);
    }

    /** Nobody uses a withdrawn region any more. */
    synchronized void forget(final RegisteredRegion region)
    {
        resting.clear(region.localKey() >>> 16);
    }

    /** Address of the entry of a key; the table is made to reach that far. */
    private long entry(final int key)
    {
        final int index = key >>> 16;
        final long table = file.base() + DeviceFileDescriptor.KEYS_OFFSET;
        if (index >= limit)
        {
            final int newLimit = index / ENTRIES_PER_COMMIT * ENTRIES_PER_COMMIT + ENTRIES_PER_COMMIT;
            file.commit(
                DeviceFileDescriptor.KEYS_OFFSET + (long)limit * LENGTH, (long)(newLimit - limit) * LENGTH);
            limit = newLimit;
            SharedWords.putIntRelease(file.base() + DeviceFileDescriptor.KEY_LIMIT_OFFSET, limit);
        }
        return table + (long)index * LENGTH;
    }
}
