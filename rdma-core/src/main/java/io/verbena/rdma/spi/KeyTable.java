package io.verbena.rdma.spi;

import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.RdmaException;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.IntSupplier;
import java.util.function.LongConsumer;

/**
 * A device's regions by key. A key is index (upper 16 bits, the highest being 0: see {@link WindowTable}) and
 * generation (lower 16), so that the key of a closed region stays unknown while 65,535 others come and go at its index.
 * {@link #find} may be called by any thread; a requester that marks itself before it looks, and a closer that waits for
 * marks after {@link #remove}, meet safely.
 */
public final class KeyTable
{
    /** Most regions open at once. */
    public static final int MAX_REGIONS = 0x7FFF;

    private static final int MIN_SLOTS = 16;
    /** Of a table with keys that are not to be guessed: 12 bits of index. */
    private static final int MIN_RANDOM_SLOTS = 1 << 12;

    private final IntSupplier random;
    private volatile RegisteredRegion[] regions;
    private char[] generations;
    private int lastIndex;
    private int openCount;

    /** Keys follow each other, for peers that share memory with this device anyway. */
    public KeyTable()
    {
        this(null);
    }

    /**
     * @param random unpredictable, where keys come from, 28 bits of each at least; called by {@link #add}. Null when
     *               they may follow each other.
     */
    public KeyTable(final IntSupplier random)
    {
        this.random = random;
        final int slots = random == null ? MIN_SLOTS : MIN_RANDOM_SLOTS;
        regions = new RegisteredRegion[slots];
        generations = new char[slots];
    }

    /**
     * Looks a key up.
     *
     * @param key local or remote.
     * @return the region, or null when the key is unknown.
     */
    public RegisteredRegion find(final int key)
    {
        final RegisteredRegion[] table = regions;
        final int index = key >>> 16;
        if (index < table.length)
        {
            final RegisteredRegion region = table[index];
            if (region != null && region.localKey() == key)
            {
                return region;
            }
        }
        return null;
    }

    /**
     * Registers memory under a new key.
     *
     * @param segment          native memory.
     * @param address          of its first byte as peers name it.
     * @param accessFlags      already checked.
     * @param protectionDomain it belongs to.
     * @param owner            called when it is closed.
     * @return the region.
     */
    public synchronized RegisteredRegion add(
        final MemorySegment segment,
        final long address,
        final int accessFlags,
        final ProtectionDomain protectionDomain,
        final RegisteredRegion.Owner owner)
    {
        final int index = nextFreeIndex();
        final char generation = nextGeneration(index);
        final RegisteredRegion region = new RegisteredRegion(
            segment, address, index << 16 | generation, accessFlags, protectionDomain, owner);
        final RegisteredRegion[] copy = regions.clone();
        copy[index] = region;
        regions = copy;
        openCount++;
        return region;
    }

    /**
     * Makes a key unknown, by a volatile store; without effect the second time.
     *
     * @param region to remove.
     */
    public synchronized void remove(final RegisteredRegion region)
    {
        final int index = region.localKey() >>> 16;
        if (regions[index] == region)
        {
            final RegisteredRegion[] copy = regions.clone();
            copy[index] = null;
            regions = copy;
            openCount--;
        }
    }

    /**
     * Looks up by address, for what carries no key.
     *
     * @param address     as peers name it.
     * @param lengthBytes 1 or more.
     * @return the region that contains it all, or null.
     */
    public RegisteredRegion findContaining(final long address, final int lengthBytes)
    {
        for (final RegisteredRegion region : regions)
        {
            if (region != null && region.contains(address, lengthBytes))
            {
                return region;
            }
        }
        return null;
    }

    /** @return the regions open now. */
    public List<RegisteredRegion> openRegions()
    {
        return Arrays.stream(regions).filter(Objects::nonNull).toList();
    }

    /**
     * Tells what decides which keys are known, with what rights, and which will be given out next.
     *
     * @param words takes it.
     */
    public synchronized void describe(final LongConsumer words)
    {
        words.accept(lastIndex);
        for (int i = 0; i < regions.length; i++)
        {
            if (generations[i] != 0)
            {
                words.accept((long)i << 32 | generations[i]);
            }
            final RegisteredRegion region = regions[i];
            if (region != null)
            {
                words.accept((long)region.localKey() << 32 | region.accessFlags());
                words.accept(region.address());
                words.accept(region.lengthBytes());
            }
        }
    }

    private char nextGeneration(final int index)
    {
        final char last = generations[index];
        do
        {
            generations[index] = random == null ? (char)(last + 1) : (char)random.getAsInt();
        }
        while (generations[index] == last);
        return generations[index];
    }

    private int nextFreeIndex()
    {
        if (openCount >= regions.length / 2)
        {
            grow();
        }
        if (random != null)
        {
            lastIndex = random.getAsInt() & regions.length - 1;
        }
        // Round robin, so that an index rests as long as possible; index 0 is never used, so key 0 is never valid.
        int index = lastIndex;
        do
        {
            index = index + 1 < regions.length ? index + 1 : 1;
        }
        while (regions[index] != null);
        lastIndex = index;
        return index;
    }

    private void grow()
    {
        final int capacity = Math.min(regions.length * 2, MAX_REGIONS + 1);
        if (openCount >= MAX_REGIONS)
        {
            throw new RdmaException("too many regions: open=" + openCount + ", close some first");
        }
        generations = Arrays.copyOf(generations, capacity);
        regions = Arrays.copyOf(regions, capacity);
    }
}
