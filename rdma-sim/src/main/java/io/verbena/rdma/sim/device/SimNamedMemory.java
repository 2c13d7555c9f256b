package io.verbena.rdma.sim.device;

import io.verbena.rdma.spi.RegisteredRegion;
import io.verbena.rdma.verbs.RdmaException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Memory of a simulated host that outlives the devices which register it. A killed device still answers one-sided
 * requests for it for a while, as shared memory does whose owner is dead, at most until it has a new holder: then
 * everybody is cut off from the device before. One thread.
 */
final class SimNamedMemory
{
    /** A device that has registered named memory. */
    interface Holder
    {
        String name();

        boolean isKilled();

        /** Somebody else has the memory now: nothing that was meant for this device lands there any more. */
        void cutOff(RegisteredRegion region);
    }

    private static final Pattern NAME = Pattern.compile("[a-z0-9][a-z0-9-]{0,63}");

    /** One name, with who has it now or had it last. */
    private static final class Entry
    {
        private final Arena arena = Arena.ofShared();
        private final MemorySegment segment;
        private Holder device;
        private RegisteredRegion region;
        /** The same bytes registered once more by the same device. */
        private final List<RegisteredRegion> again = new ArrayList<>();

        private Entry(final long lengthBytes)
        {
            segment = arena.allocate(lengthBytes, 4096);
        }

        private boolean isHeld()
        {
            return region != null && !device.isKilled();
        }

        private void cutOff()
        {
            if (region != null)
            {
                device.cutOff(region);
            }
            again.forEach(device::cutOff);
            again.clear();
        }
    }

    private final Map<String, Entry> entries = new HashMap<>();
    /** All that were made of named memory, also those of dead devices. */
    private final Set<RegisteredRegion> regions = Collections.newSetFromMap(new IdentityHashMap<>());

    /**
     * Takes a name, and cuts everybody off from the device that it was reached under before.
     *
     * @return the memory, zeroed when it is new; {@link #held} follows.
     */
    MemorySegment hold(final String name, final long lengthBytes, final boolean cutsOff)
    {
        final Entry entry = free(name);
        if (entry == null)
        {
            final Entry made = new Entry(lengthBytes);
            entries.put(name, made);
            return made.segment;
        }
        if (entry.segment.byteSize() != lengthBytes)
        {
            throw new RdmaException("memory " + name + " is there already with " + entry.segment.byteSize() +
                " bytes, asked for are " + lengthBytes + ": ask for as many, or discard it");
        }
        if (cutsOff)
        {
            entry.cutOff();
        }
        entry.again.clear();
        return entry.segment;
    }

    void held(final String name, final Holder device, final RegisteredRegion region)
    {
        final Entry entry = entries.get(name);
        entry.device = device;
        entry.region = region;
        regions.add(region);
    }

    /**
     * A region over memory that a device has registered already: where that is named, the region is named memory too.
     *
     * @return what to do when it is closed; null when the memory is not named, or not this device's.
     */
    Runnable heldAgain(final MemorySegment segment, final Holder device, final RegisteredRegion region)
    {
        for (final Entry entry : entries.values())
        {
            final long offset = segment.address() - entry.segment.address();
            if (entry.device == device && entry.isHeld() && offset >= 0 &&
                offset <= entry.segment.byteSize() - segment.byteSize())
            {
                entry.again.add(region);
                regions.add(region);
                return () ->
                {
                    entry.again.remove(region);
                    regions.remove(region);
                };
            }
        }
        return null;
    }

    /** Whether a region is named memory. */
    boolean isNamed(final RegisteredRegion region)
    {
        return regions.contains(region);
    }

    /** A region is closed; that of a holder before is not the one that has the name now. */
    void released(final String name, final RegisteredRegion region)
    {
        final Entry entry = entries.get(name);
        regions.remove(region);
        if (entry != null && entry.region == region)
        {
            entry.region = null;
        }
    }

    boolean has(final String name)
    {
        return entries.containsKey(name);
    }

    boolean discard(final String name)
    {
        final Entry entry = free(name);
        if (entry == null)
        {
            return false;
        }
        entry.cutOff();
        entries.remove(name);
        entry.arena.close();
        return true;
    }

    /** Frees everything, whoever has it. */
    void close()
    {
        entries.values().forEach(entry -> entry.arena.close());
        entries.clear();
    }

    private Entry free(final String name)
    {
        if (!NAME.matcher(name).matches())
        {
            throw new RdmaException("not a name for memory: '" + name + "'; use a-z, 0-9 and dashes, at most 64");
        }
        final Entry entry = entries.get(name);
        if (entry != null && entry.isHeld())
        {
            throw new RdmaException("memory " + name + " is held by another process that lives, or by this one: " +
                "device=" + entry.device.name() + "; close it, or use another name");
        }
        return entry;
    }
}
