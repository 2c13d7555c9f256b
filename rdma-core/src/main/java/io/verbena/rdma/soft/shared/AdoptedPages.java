package io.verbena.rdma.soft.shared;

import io.verbena.rdma.spi.SegmentHold;
import io.verbena.rdma.verbs.RdmaException;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Memory of the caller that peers can map: its bytes are copied into a region file, and the file is mapped in the place
 * of its pages, at the same addresses. So one code serves peers of this process and of others, atomics included, and
 * the caller's own pointers stay right. Only whole pages can be exchanged, and only pages that belong to this process
 * alone. When it is over, the bytes go into private pages in the same way.
 *
 * <p>Nobody may write the memory while its pages are exchanged: what is written between the copy and the exchange is
 * lost. {@link SegmentHold} keeps the caller from freeing it before: the allocator would use shared pages for others.
 */
public final class AdoptedPages
{
    private static final int CHUNK_BYTES = 1 << 20;

    private final MemorySegment segment;
    private final SegmentHold hold;

    private AdoptedPages(final MemorySegment segment, final SegmentHold hold)
    {
        this.segment = segment;
        this.hold = hold;
    }

    /**
     * Exchanges the pages of a segment.
     *
     * @param files   of the fabric.
     * @param segment of the caller.
     * @return the file, mapped at the segment; closing it gives the pages back.
     */
    public static SharedMemoryFile adopt(final FabricDirectory files, final MemorySegment segment)
    {
        final SegmentHold hold = SegmentHold.of(segment);
        boolean isDone = false;
        try
        {
            checkPages(segment);
            final SharedMemoryFile file = exchange(files, segment, new AdoptedPages(segment, hold));
            isDone = true;
            return file;
        }
        catch (final IOException ex)
        {
            throw files.outOfSpace(segment.byteSize(), ex);
        }
        finally
        {
            if (!isDone)
            {
                hold.close();
            }
        }
    }

    private static SharedMemoryFile exchange(
        final FabricDirectory files, final MemorySegment segment, final AdoptedPages pages) throws IOException
    {
        files.checkSpace(segment.byteSize());
        final long number = files.nextRegionNumber();
        final Path path = files.regionFile(files.ownerId(), number);
        boolean isDone = false;
        try
        {
            copy(segment, path);
            if (!MemoryCalls.mapOver(path, segment.address(), segment.byteSize()))
            {
                throw new RdmaException(
                    "cannot map " + path + " in the place of the memory to be registered: segment=" + segment +
                    "; too many mappings (vm.max_map_count) or open files, or use allocateRegistered");
            }
            isDone = true;
            return SharedMemoryFile.ofCaller(path, number, segment, pages::giveBack);
        }
        finally
        {
            if (!isDone)
            {
                SharedFiles.deleteQuietly(path);
            }
        }
    }

    private static void copy(final MemorySegment segment, final Path path) throws IOException
    {
        try (FileChannel channel = FileChannel.open(path, SharedFiles.CREATE, SharedFiles.FILE_MODE))
        {
            long done = 0;
            while (done < segment.byteSize())
            {
                final ByteBuffer chunk =
                    segment.asSlice(done, Math.min(CHUNK_BYTES, segment.byteSize() - done)).asByteBuffer();
                done += channel.write(chunk, done);
            }
        }
    }

    private static void checkPages(final MemorySegment segment) throws IOException
    {
        if (segment.isReadOnly())
        {
            throw new RdmaException("only writable memory can be registered here: segment=" + segment);
        }
        final long pageMask = MemoryCalls.pageBytes() - 1;
        if ((segment.address() & pageMask) != 0 || (segment.byteSize() & pageMask) != 0)
        {
            throw new RdmaException(
                "the soft provider shares whole pages with its peers, and the segment has others' bytes on its first " +
                "or last one: allocate it with alignment and length that are multiples of " +
                MemoryCalls.pageBytes() + ", or use allocateRegistered; segment=" + segment);
        }
        if (!isPrivate(segment.address(), segment.address() + segment.byteSize()))
        {
            throw new RdmaException(
                "only memory of this process alone can be registered, not mapped files, other shared memory or part " +
                "of what is registered: use allocateRegistered, or register a part of that; segment=" + segment);
        }
    }

    /** Whether every page is a private, writable and anonymous one, as {@code proc(5)} shows. */
    private static boolean isPrivate(final long from, final long to) throws IOException
    {
        long covered = from;
        for (final String line : Files.readAllLines(Path.of("/proc/self/maps")))
        {
            final String[] fields = line.split(" +", 6);
            final int dash = fields[0].indexOf('-');
            final long start = Long.parseUnsignedLong(fields[0], 0, dash, 16);
            final long end = Long.parseUnsignedLong(fields[0], dash + 1, fields[0].length(), 16);
            if (start <= covered && Long.compareUnsigned(end, covered) > 0)
            {
                if (!fields[1].startsWith("rw-p") || !fields[4].equals("0"))
                {
                    return false;
                }
                covered = end;
            }
            if (Long.compareUnsigned(covered, to) >= 0)
            {
                return true;
            }
        }
        return false;
    }

    /** Nobody else uses the memory any more: private pages again. */
    private void giveBack()
    {
        final long lengthBytes = segment.byteSize();
        final long fresh = MemoryCalls.mapPrivate(lengthBytes);
        if (fresh != 0)
        {
            SharedWords.copy(segment.address(), fresh, lengthBytes);
            // Should it fail, the pages stay those of a file that nobody can find any more.
            MemoryCalls.moveOver(fresh, lengthBytes, segment.address());
        }
        hold.close();
    }
}
