package io.verbena.rdma.roce.device;

import io.verbena.rdma.soft.shared.FabricDirectory;
import io.verbena.rdma.soft.shared.NamedMemory;
import io.verbena.rdma.soft.shared.OutsideWait;
import io.verbena.rdma.soft.shared.SharedMemoryFile;
import io.verbena.rdma.spi.SegmentHold;

import java.lang.foreign.MemorySegment;

/** Where the memory of a device's regions comes from. Thread-safe. */
final class RegionFiles
{
    /**
     * Memory to be registered.
     *
     * @param segment of the region.
     * @param release gives it back, once nobody accesses it any more.
     */
    record Lent(MemorySegment segment, Runnable release)
    {
    }

    private final FabricDirectory files;
    private final OutsideWait outside;

    RegionFiles(final FabricDirectory files, final OutsideWait outside)
    {
        this.files = files;
        this.outside = outside;
    }

    Lent allocate(final long lengthBytes)
    {
        final SharedMemoryFile file = files.allocate(lengthBytes);
        return new Lent(file.segment(), file::close);
    }

    /** Of the holder before nothing can land any more: its own process executed what its peers asked for. */
    Lent named(final String name, final long lengthBytes)
    {
        final NamedMemory held = NamedMemory.hold(files, name, outside);
        boolean isMapped = false;
        try
        {
            final SharedMemoryFile file =
                held.map(lengthBytes, files.nextRegionNumber(), (long)files.ownerId() << Integer.SIZE);
            file.whenClosed(held::close);
            isMapped = true;
            return new Lent(file.segment(), file::close);
        }
        finally
        {
            if (!isMapped)
            {
                held.close();
            }
        }
    }

    /** Memory of the caller, or of a region, which stays until it is released. */
    Lent hold(final MemorySegment segment)
    {
        SegmentHold.checkCanBeHeld(segment);
        final SharedMemoryFile known = SharedMemoryFile.useContaining(
            number -> files.regionFile(files.ownerId(), number), segment);
        if (known != null)
        {
            return new Lent(segment, known::close);
        }
        final SegmentHold hold = SegmentHold.of(segment);
        return new Lent(segment, hold::close);
    }
}
