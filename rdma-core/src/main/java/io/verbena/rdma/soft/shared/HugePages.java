package io.verbena.rdma.soft.shared;

import io.verbena.rdma.verbs.RdmaException;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.LongFunction;
import java.util.regex.Pattern;

/**
 * Huge pages of a memory file system: a tmpfs that is mounted with {@code huge=advise} (or {@code within_size}, {@code
 * always}) gives them to mappings that ask for them ({@code MADV_HUGEPAGE}).
 */
public final class HugePages
{
    private static final Path SIZE_FILE = Path.of("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size");
    private static final Path MAPPINGS = Path.of("/proc/self/smaps");
    private static final String HUGE_BYTES_OF_MAPPING = "ShmemPmdMapped:";
    private static final Pattern MAPPING = Pattern.compile("[0-9a-f]+-[0-9a-f]+ ");
    private static final int PROBED_PAGES = 2;
    private static final long BYTES = bytes();

    private HugePages()
    {
    }

    /**
     * Allocates the blocks of a file that is empty, as huge pages as far as there are any.
     *
     * @param channel     of the file.
     * @param file        the same.
     * @param lengthBytes of it from now on.
     * @return false when its blocks have to be written, because it is short or the kernel cannot do it (before 5.14).
     */
    static boolean allocate(final FileChannel channel, final Path file, final long lengthBytes) throws IOException
    {
        if (BYTES == 0 || lengthBytes < BYTES)
        {
            return false;
        }
        try (RandomAccessFile sized = new RandomAccessFile(file.toFile(), "rw"))
        {
            sized.setLength(lengthBytes);
        }
        try (Arena arena = Arena.ofConfined())
        {
            final MemorySegment mapped = channel.map(FileChannel.MapMode.READ_WRITE, 0, lengthBytes, arena);
            MemoryCalls.adviseHugePages(mapped.address(), lengthBytes);
            return MemoryCalls.populate(mapped.address(), lengthBytes);
        }
    }

    /**
     * Finds out whether a directory gives huge pages.
     *
     * @param directory of a fabric that asks for them.
     * @param allocate  makes a file of so many bytes there.
     * @return null when it does; else one line that says why not and what to do.
     */
    public static String refusal(final Path directory, final LongFunction<SharedMemoryFile> allocate)
    {
        if (BYTES == 0)
        {
            return "this kernel has no transparent huge pages";
        }
        try (SharedMemoryFile file = allocate.apply(PROBED_PAGES * BYTES))
        {
            for (long offset = 0; offset < file.segment().byteSize(); offset += BYTES)
            {
                file.segment().get(ValueLayout.JAVA_BYTE, offset);
            }
            return isHuge(file.segment()) ? null :
                directory + " gives none: mount a memory file system there that does, " +
                "mount -t tmpfs -o huge=advise tmpfs DIRECTORY, and name it soft:DIRECTORY,huge-pages";
        }
        catch (final IOException | RdmaException ex)
        {
            return "cannot find out: " + ex.getMessage();
        }
    }

    /** Words for the pages that memory has. */
    public static String describe(final boolean isGiven, final String refusal)
    {
        final String small = MemoryCalls.pageBytes() / 1024 + " KiB";
        if (isGiven)
        {
            return BYTES / 1024 + " KiB";
        }
        return refusal == null ? small : small + "; huge pages were asked for, but " + refusal;
    }

    /** Whether some of a mapping is in huge pages now. */
    public static boolean isHuge(final MemorySegment mapped) throws IOException
    {
        final List<String> lines = Files.readAllLines(MAPPINGS);
        final String start = Long.toHexString(mapped.address()) + "-";
        boolean isOfMapping = false;
        for (final String line : lines)
        {
            if (MAPPING.matcher(line).lookingAt())
            {
                isOfMapping = line.startsWith(start);
            }
            else if (isOfMapping && line.startsWith(HUGE_BYTES_OF_MAPPING))
            {
                return !line.substring(HUGE_BYTES_OF_MAPPING.length()).strip().startsWith("0 ");
            }
        }
        return false;
    }

    private static long bytes()
    {
        try
        {
            return Long.parseLong(Files.readString(SIZE_FILE).strip());
        }
        catch (final IOException | NumberFormatException ex)
        {
            return 0;
        }
    }
}
