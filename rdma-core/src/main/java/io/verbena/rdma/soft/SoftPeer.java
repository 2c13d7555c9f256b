package io.verbena.rdma.soft;

import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.RdmaException;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import static io.verbena.rdma.soft.KeyEntryDescriptor.*;

/**
 * A device as another one sees it: its control file, and those of its regions that were used so far. A peer in this
 * process is seen the same way. Lookups by any thread that is marked inside; the rest is guarded by the monitor.
 */
final class SoftPeer
{
    private final SoftDevice device;
    private final DeviceFile file;
    private final DeviceAddress address;
    private final int visitor;
    private final long keys;
    private final long keyLimitAddress;
    private int keyLimit;
    private volatile MappedRegion[] regions = new MappedRegion[16];
    private final List<MappedRegion> retired = new ArrayList<>();
    private int users;

    /**
     * A region as this process has it. What its entry says does not change while its key is valid, so a request looks
     * at nothing but the key there.
     *
     * @param key             under which it was found.
     * @param keyAddress      of the key in its entry.
     * @param domainId        it belongs to.
     * @param rights          it gives.
     * @param queuePairNumber it is bound to; 0 when it is no window.
     * @param address         of its first byte in the owner's terms.
     * @param lengthBytes     of it.
     * @param base            of its first byte here.
     * @param mapping         to be closed; null when it is the owner's own mapping.
     */
    private record MappedRegion(
        int key,
        long keyAddress,
        int domainId,
        int rights,
        int queuePairNumber,
        long address,
        long lengthBytes,
        long base,
        SharedMemoryFile mapping)
    {
    }

    /**
     * @param device  the one that looks.
     * @param file    of the other; closed by {@link #close}.
     * @param address of the other.
     * @param visitor index of the looking device in the other's table.
     */
    SoftPeer(final SoftDevice device, final DeviceFile file, final DeviceAddress address, final int visitor)
    {
        this.device = device;
        this.file = file;
        this.address = address;
        this.visitor = visitor;
        keys = file.base() + DeviceFileDescriptor.KEYS_OFFSET;
        keyLimitAddress = file.base() + DeviceFileDescriptor.KEY_LIMIT_OFFSET;
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
            region = map(key);
        }
        if (region == null)
        {
            return 0;
        }
        final long offset = accessAddress - region.address;
        final boolean isAllowed = region.domainId == domainId && (region.rights & neededFlags) == neededFlags &&
            (region.queuePairNumber == 0 || region.queuePairNumber == queuePairNumber) &&
            offset >= 0 && offset <= region.lengthBytes - lengthBytes;
        return isAllowed ? region.base + offset : 0;
    }

    /**
     * Finds a byte without any check of rights, to bring it near.
     *
     * @return its address here; 0 when it is nowhere or not mapped yet.
     */
    long hint(final int key, final long accessAddress)
    {
        final MappedRegion region = known(key);
        if (region == null)
        {
            return 0;
        }
        final long offset = accessAddress - region.address;
        return offset >= 0 && offset < region.lengthBytes ? region.base + offset : 0;
    }

    /** The region of a valid key, if it was used before. */
    private MappedRegion known(final int key)
    {
        final MappedRegion[] table = regions;
        final int index = key >>> 16;
        if (index < table.length)
        {
            final MappedRegion region = table[index];
            if (region != null && region.key == key && SharedWords.getIntAcquire(region.keyAddress) == key)
            {
                return region;
            }
        }
        return null;
    }

    private long findEntry(final int key)
    {
        final int index = key >>> 16;
        if (index >= keyLimit)
        {
            keyLimit = SharedWords.getIntAcquire(keyLimitAddress);
            if (index >= keyLimit)
            {
                return 0;
            }
        }
        final long entry = keys + (long)index * LENGTH;
        return key != 0 && SharedWords.getIntAcquire(entry + KEY_OFFSET) == key ? entry : 0;
    }

    /** First use of a key. The requester is marked inside, so the key's owner keeps entry and file meanwhile. */
    private synchronized MappedRegion map(final int key)
    {
        final MappedRegion known = known(key);
        final long entry = known == null ? findEntry(key) : 0;
        final MappedRegion region = entry == 0 ? known : open(key, entry);
        if (entry != 0 && region != null)
        {
            final int index = key >>> 16;
            final MappedRegion[] table = index < regions.length ?
                regions : Arrays.copyOf(regions, Integer.highestOneBit(index) * 2);
            if (table[index] != null && table[index].mapping != null)
            {
                retired.add(table[index]);
            }
            table[index] = region;
            regions = table;
        }
        return region;
    }

    private MappedRegion open(final int key, final long entry)
    {
        final Path path =
            device.fabric().files().regionFile(file.ownerId(), SharedWords.getLong(entry + FILE_OFFSET));
        final SharedMemoryFile own = SharedMemoryFile.findOwn(path);
        try
        {
            final SharedMemoryFile mapping = own == null ? SharedMemoryFile.ofPeer(path) : null;
            final MemorySegment memory = (own == null ? mapping : own).segment();
            final long position = SharedWords.getLong(entry + FILE_POSITION_OFFSET);
            // Never beyond what is mapped, whatever the entry says.
            final long lengthBytes = Math.min(SharedWords.getLong(entry + LENGTH_OFFSET), memory.byteSize() - position);
            return new MappedRegion(
                key,
                entry + KEY_OFFSET,
                SharedWords.getInt(entry + DOMAIN_OFFSET),
                SharedWords.getInt(entry + RIGHTS_OFFSET),
                SharedWords.getInt(entry + QUEUE_PAIR_OFFSET),
                SharedWords.getLong(entry + ADDRESS_OFFSET),
                lengthBytes,
                memory.address() + position,
                mapping);
        }
        catch (final NoSuchFileException ex)
        {
            // Its owner is dead and was cleaned up.
            return null;
        }
        catch (final IOException ex)
        {
            throw new RdmaException("cannot map a peer's region: " + path + ": " + ex, ex);
        }
    }

    /**
     * Takes the mappings whose keys are gone out of use.
     *
     * @return mappings to be closed when every requester of this device was seen outside after this call.
     */
    synchronized List<SharedMemoryFile> takeUnused()
    {
        final List<SharedMemoryFile> unused = new ArrayList<>();
        retired.forEach(region -> unused.add(region.mapping));
        retired.clear();
        final MappedRegion[] table = regions;
        for (int i = 0; i < table.length; i++)
        {
            final MappedRegion region = table[i];
            if (region != null && findEntry(region.key) == 0)
            {
                if (region.mapping != null)
                {
                    unused.add(region.mapping);
                }
                table[i] = null;
            }
        }
        return unused;
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
        for (final MappedRegion region : regions)
        {
            if (region != null && region.mapping != null)
            {
                region.mapping.close();
            }
        }
        retired.forEach(region -> region.mapping.close());
        SharedWords.putLongVolatile(visitors + (long)visitor * Long.BYTES, 0);
        file.close();
    }
}
