package io.verbena.rdma.soft;

import io.verbena.rdma.soft.shared.DeviceFile;
import io.verbena.rdma.soft.shared.DeviceFileDescriptor;
import io.verbena.rdma.soft.shared.FabricDirectory;
import io.verbena.rdma.soft.shared.KeyEntries;
import io.verbena.rdma.soft.shared.PeerMappings;
import io.verbena.rdma.soft.shared.SharedMemoryFile;
import io.verbena.rdma.soft.shared.SharedWords;
import io.verbena.rdma.spi.RawMemory;
import io.verbena.rdma.spi.WindowTable;
import io.verbena.rdma.verbs.DeviceAddress;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.List;

import static io.verbena.rdma.soft.shared.KeyEntryDescriptor.*;

/**
 * A device as another one sees it: its control file, and those of its regions and windows that were used so far. A
 * peer in this process is seen the same way. Lookups by any thread that is marked inside; the rest is guarded by the
 * monitor.
 */
public final class SoftPeer
{
    private final DeviceFile file;
    private final DeviceAddress address;
    private final int visitor;
    private final long keys;
    private final long headerBase;
    private int keyLimit;
    private int windowLimit;
    private volatile MappedRegion[] regions = new MappedRegion[16];
    private volatile MappedRegion[] windows = new MappedRegion[0];
    private final PeerMappings mappings;
    private int users;

    /**
     * A region or bound window as this process has it. What its entry says does not change while its key is valid, so a
     * request looks at nothing but the key there; with a window also at the number of its binding.
     *
     * @param key             under which it was found.
     * @param entry           where.
     * @param binding         number of the binding; 0 when it is no window.
     * @param domainId        it belongs to.
     * @param rights          it gives.
     * @param queuePairNumber it is bound to; 0 when it is no window.
     * @param address         of its first byte in the owner's terms.
     * @param lengthBytes     of it.
     * @param base            of its first byte here.
     * @param memory          all that is mapped with it; its segment sees to it that it is mapped at each access.
     * @param mapping         to be given back; null when it is the owner's own mapping.
     */
    record MappedRegion(
        int key,
        long entry,
        long binding,
        int domainId,
        int rights,
        int queuePairNumber,
        long address,
        long lengthBytes,
        long base,
        MemorySegment memory,
        PeerMappings.Mapping mapping)
    {
        boolean isValidAs(final int wanted)
        {
            return key == wanted && SharedWords.getIntAcquire(entry + KEY_OFFSET) == wanted;
        }

        boolean isBoundAs(final int wanted)
        {
            return isValidAs(wanted) && SharedWords.getLong(entry + BINDING_OFFSET) == binding;
        }
    }

    /**
     * @param files   of the fabric.
     * @param file    of the other device; closed by {@link #close}.
     * @param address of the other device.
     * @param visitor index of this device in the other's table.
     */
    SoftPeer(final FabricDirectory files, final DeviceFile file, final DeviceAddress address, final int visitor)
    {
        this.file = file;
        this.address = address;
        this.visitor = visitor;
        keys = file.base() + DeviceFileDescriptor.KEYS_OFFSET;
        headerBase = file.base();
        mappings = new PeerMappings(files, file.ownerId());
    }

    DeviceFile file()
    {
        return file;
    }

    DeviceAddress address()
    {
        return address;
    }

    int visitor()
    {
        return visitor;
    }

    /**
     * Finds the bytes of an access in this process's memory; by a requester marked inside.
     *
     * @param key             remote key.
     * @param domainId        of the responder.
     * @param queuePairNumber of the responder, for windows.
     * @param neededFlags     rights it needs.
     * @param accessAddress   first byte, in the owner's terms.
     * @param lengthBytes     1 or more.
     * @return address of the first byte here; 0 when the access is not allowed.
     */
    long translate(
        final int key,
        final int domainId,
        final int queuePairNumber,
        final int neededFlags,
        final long accessAddress,
        final int lengthBytes)
    {
        MappedRegion region = known(key);
        if (region == null)
        {
            region = find(key);
            if (region == null)
            {
                return 0;
            }
        }
        final long offset = accessAddress - region.address;
        final boolean isAllowed = region.domainId == domainId && (region.rights & neededFlags) == neededFlags &&
            (region.queuePairNumber == 0 || region.queuePairNumber == queuePairNumber) &&
            offset >= 0 && offset <= region.lengthBytes - lengthBytes;
        return isAllowed ? region.base + offset : 0;
    }

    /**
     * Finds bytes without any check of rights, to bring them near.
     *
     * @return address of the first here; 0 when they are not all in one region, or it is not mapped yet.
     */
    long hint(final int key, final long accessAddress, final int lengthBytes)
    {
        final MappedRegion region = known(key);
        if (region == null)
        {
            return 0;
        }
        final long offset = accessAddress - region.address;
        return lengthBytes > 0 && offset >= 0 && offset <= region.lengthBytes - lengthBytes ? region.base + offset : 0;
    }

    /**
     * Loads from the lines of an access to come, so that its misses are over when it is executed. By a requester that
     * is outside: what it finds in a region that is closed meanwhile does not matter, and the segment keeps the memory
     * mapped for the time of a load.
     *
     * @return something of what lies there, to be kept, so that the loads are not optimised away; 0 when the bytes are
     *     not all in one region, or it is not mapped.
     */
    long preload(final int key, final long accessAddress, final int lengthBytes)
    {
        final MappedRegion[] table = regions;
        final int index = key >>> 16;
        final MappedRegion region = index < table.length ? table[index] : null;
        if (region == null || region.key != key || lengthBytes <= 0)
        {
            return 0;
        }
        final long offset = accessAddress - region.address;
        final long start = region.base + offset - region.memory.address();
        return offset >= 0 && offset <= region.lengthBytes - lengthBytes ?
            loadLines(region.memory, start, start + lengthBytes) : 0;
    }

    private static long loadLines(final MemorySegment memory, final long start, final long end)
    {
        try
        {
            long seen = memory.get(ValueLayout.JAVA_BYTE, end - 1);
            for (long at = start; at < end; at += RawMemory.LINE_BYTES)
            {
                seen += memory.get(ValueLayout.JAVA_BYTE, at);
            }
            return seen;
        }
        catch (final IllegalStateException | WrongThreadException ex)
        {
            // Closed meanwhile, or memory that its user keeps to one thread: the request itself will see to it.
            return 0;
        }
    }

    /** The region of a valid key, if it was used before. */
    private MappedRegion known(final int key)
    {
        final MappedRegion[] table = regions;
        final int index = key >>> 16;
        if (index < table.length)
        {
            final MappedRegion region = table[index];
            if (region != null && region.isValidAs(key))
            {
                return region;
            }
        }
        return null;
    }

    /** What is no region known yet: a window, or a region used for the first time; null when the key is not valid. */
    private MappedRegion find(final int key)
    {
        final MappedRegion window = knownWindow(key);
        return window == null ? map(key) : window;
    }

    /** As {@link #known} for windows, whose keys are beyond the table of regions. */
    private MappedRegion knownWindow(final int key)
    {
        final MappedRegion[] table = windows;
        final int index = (key >>> 16) - KeyEntries.FIRST_WINDOW;
        if (index >= 0 && index < table.length)
        {
            final MappedRegion window = table[index];
            if (window != null && window.isBoundAs(key))
            {
                return window;
            }
        }
        return null;
    }

    /**
     * Takes away a window of this device, as its SEND_WITH_INV asks; by the requester that is inside through it.
     *
     * @param key             of the window.
     * @param domainId        of the responder.
     * @param queuePairNumber of the responder.
     * @return false when it is no window bound to that queue pair.
     */
    boolean invalidate(final int key, final int domainId, final int queuePairNumber)
    {
        final long entry = WindowTable.isWindowKey(key) ? findEntry(key) : 0;
        return entry != 0 && SharedWords.getInt(entry + QUEUE_PAIR_OFFSET) == queuePairNumber &&
            SharedWords.getInt(entry + DOMAIN_OFFSET) == domainId &&
            SharedWords.compareAndSetInt(entry + KEY_OFFSET, key, 0);
    }

    private int limit(final boolean isWindow)
    {
        return SharedWords.getIntAcquire(headerBase +
            (isWindow ? DeviceFileDescriptor.WINDOW_LIMIT_OFFSET : DeviceFileDescriptor.KEY_LIMIT_OFFSET));
    }

    private long findEntry(final int key)
    {
        final int index = key >>> 16;
        final boolean isWindow = WindowTable.isWindowKey(key);
        if (index >= (isWindow ? windowLimit : keyLimit))
        {
            final int limit = limit(isWindow);
            if (index >= limit)
            {
                return 0;
            }
            windowLimit = isWindow ? limit : windowLimit;
            keyLimit = isWindow ? keyLimit : limit;
        }
        final long entry = keys + (long)index * LENGTH;
        return key != 0 && SharedWords.getIntAcquire(entry + KEY_OFFSET) == key ? entry : 0;
    }

    /** First use of a key. The requester is marked inside, so the key's owner keeps entry and file meanwhile. */
    private synchronized MappedRegion map(final int key)
    {
        final boolean isWindow = WindowTable.isWindowKey(key);
        final MappedRegion known = isWindow ? knownWindow(key) : known(key);
        final long entry = known == null ? findEntry(key) : 0;
        final MappedRegion region = entry == 0 ? known : open(key, entry);
        if (entry != 0 && region != null)
        {
            if (isWindow)
            {
                windows = put(windows, (key >>> 16) - KeyEntries.FIRST_WINDOW, region);
            }
            else
            {
                regions = put(regions, key >>> 16, region);
            }
        }
        return region;
    }

    private MappedRegion[] put(final MappedRegion[] table, final int index, final MappedRegion region)
    {
        final MappedRegion[] target = index < table.length ?
            table : Arrays.copyOf(table, Math.max(16, Integer.highestOneBit(index) * 2));
        if (target[index] != null)
        {
            mappings.unuse(target[index].mapping);
        }
        target[index] = region;
        return target;
    }

    private MappedRegion open(final int key, final long entry)
    {
        final long binding = SharedWords.getLong(entry + BINDING_OFFSET);
        final int domainId = SharedWords.getInt(entry + DOMAIN_OFFSET);
        final int rights = SharedWords.getInt(entry + RIGHTS_OFFSET);
        final int queuePairNumber = SharedWords.getInt(entry + QUEUE_PAIR_OFFSET);
        final long address = SharedWords.getLong(entry + ADDRESS_OFFSET);
        final long statedBytes = SharedWords.getLong(entry + LENGTH_OFFSET);
        final long fileNumber = SharedWords.getLong(entry + FILE_OFFSET);
        final long position = SharedWords.getLong(entry + FILE_POSITION_OFFSET);
        VarHandle.acquireFence();
        if (!isStill(entry, key, binding))
        {
            // A window bound to another queue pair, and bound anew meanwhile: what was read may belong to both.
            return null;
        }
        final SharedMemoryFile own = mappings.findOwn(fileNumber);
        final PeerMappings.Mapping mapping = own == null ? mappings.use(fileNumber) : null;
        if (own == null && mapping == null)
        {
            return null;
        }
        final MemorySegment memory = own == null ? mapping.segment() : own.segment();
        // Never beyond what is mapped, whatever the entry says.
        final long lengthBytes = Math.min(statedBytes, memory.byteSize() - position);
        return new MappedRegion(
            key, entry, binding, domainId, rights, queuePairNumber, address, lengthBytes, memory.address() + position,
            memory, mapping);
    }

    private static boolean isStill(final long entry, final int key, final long binding)
    {
        return SharedWords.getInt(entry + KEY_OFFSET) == key && SharedWords.getLong(entry + BINDING_OFFSET) == binding;
    }

    /**
     * Takes the mappings whose keys are gone out of use.
     *
     * @return mappings to be closed when every requester of this device was seen outside after this call.
     */
    synchronized List<SharedMemoryFile> takeUnused()
    {
        removeGone(regions);
        removeGone(windows);
        return mappings.takeUnused();
    }

    private void removeGone(final MappedRegion[] table)
    {
        for (int i = 0; i < table.length; i++)
        {
            final MappedRegion region = table[i];
            if (region != null && findEntry(region.key) == 0)
            {
                mappings.unuse(region.mapping);
                table[i] = null;
            }
        }
    }

    /** One more queue pair or handle goes to this device. */
    synchronized SoftPeer use()
    {
        users++;
        return this;
    }

    synchronized void unuse()
    {
        users--;
    }

    synchronized boolean isUsed()
    {
        return users > 0;
    }

    /** Unmaps everything; with no requester of this device about. */
    synchronized void close()
    {
        final long visitors = file.base() + DeviceFileDescriptor.VISITORS_OFFSET;
        mappings.close();
        SharedWords.putLongVolatile(visitors + (long)visitor * Long.BYTES, 0);
        file.close();
    }
}
