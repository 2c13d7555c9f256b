package io.verbena.rdma.soft.shared;

import static io.verbena.rdma.soft.shared.KeyEntryDescriptor.*;

/**
 * A part of an own device's key table: the entries of regions, or those of memory windows. Grows as indexes are used.
 * Thread-safe.
 */
public final class KeyEntries
{
    /** Index of the first window's entry: a window's key has the highest bit set. */
    public static final int FIRST_WINDOW = 1 << 15;

    private static final int ENTRIES_PER_COMMIT = 64;

    private final DeviceFile file;
    private final long limitAddress;
    private int limit;

    private KeyEntries(final DeviceFile file, final int firstIndex, final int limitOffset)
    {
        this.file = file;
        limit = firstIndex;
        limitAddress = file.base() + limitOffset;
    }

    static KeyEntries ofRegions(final DeviceFile file)
    {
        return new KeyEntries(file, 0, DeviceFileDescriptor.KEY_LIMIT_OFFSET);
    }

    public static KeyEntries ofWindows(final DeviceFile file)
    {
        return new KeyEntries(file, FIRST_WINDOW, DeviceFileDescriptor.WINDOW_LIMIT_OFFSET);
    }

    /** Address of the entry of a key; the table is made to reach that far. */
    public synchronized long entry(final int key)
    {
        final int index = key >>> 16;
        if (index >= limit)
        {
            final int newLimit = index / ENTRIES_PER_COMMIT * ENTRIES_PER_COMMIT + ENTRIES_PER_COMMIT;
            file.commit(
                DeviceFileDescriptor.KEYS_OFFSET + (long)limit * LENGTH, (long)(newLimit - limit) * LENGTH);
            limit = newLimit;
            SharedWords.putIntRelease(limitAddress, limit);
        }
        return file.base() + DeviceFileDescriptor.KEYS_OFFSET + (long)index * LENGTH;
    }
}
