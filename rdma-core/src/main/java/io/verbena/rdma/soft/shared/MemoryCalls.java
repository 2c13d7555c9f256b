package io.verbena.rdma.soft.shared;

import org.agrona.UnsafeApi;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/** The few calls of {@code mmap(2)} and its relatives that {@link java.nio.channels.FileChannel#map} has no way to. */
public final class MemoryCalls
{
    private static final int PROT_READ_WRITE = 1 | 2;
    private static final int MAP_SHARED = 1;
    private static final int MAP_PRIVATE = 2;
    private static final int MAP_FIXED = 0x10;
    private static final int MAP_ANONYMOUS = 0x20;
    private static final int MREMAP_MAYMOVE_FIXED = 1 | 2;
    private static final int O_RDWR_CLOEXEC = 2 | 0x80000;
    private static final int MADV_HUGEPAGE = 14;
    private static final int MADV_POPULATE_WRITE = 23;
    private static final long FAILED = -1;

    /** Bound when one of them is called first: to bind takes milliseconds, and most processes call none. */
    private static final class Handles
    {
        static final MethodHandle OPEN =
            bind("open", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT), Linker.Option.firstVariadicArg(2));
        static final MethodHandle CLOSE = bind("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
        static final MethodHandle MMAP = bind(
            "mmap",
            FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG));
        static final MethodHandle MREMAP = bind(
            "mremap",
            FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG),
            Linker.Option.firstVariadicArg(4));
        static final MethodHandle MADVISE =
            bind("madvise", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT));

        @SuppressWarnings("restricted")
        private static MethodHandle bind(
            final String name, final FunctionDescriptor descriptor, final Linker.Option... options)
        {
            final Linker linker = Linker.nativeLinker();
            return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), descriptor, options);
        }
    }

    private MemoryCalls()
    {
    }

    /** Bytes of a page. */
    public static int pageBytes()
    {
        return UnsafeApi.pageSize();
    }

    /**
     * Puts a file in the place of what is mapped now.
     *
     * @param file        at least as long.
     * @param address     of the first page.
     * @param lengthBytes whole pages.
     * @return whether it was done; nothing has changed otherwise.
     */
    static boolean mapOver(final Path file, final long address, final long lengthBytes)
    {
        try (Arena arena = Arena.ofConfined())
        {
            final int descriptor = (int)Handles.OPEN.invokeExact(arena.allocateFrom(file.toString()), O_RDWR_CLOEXEC);
            if (descriptor < 0)
            {
                return false;
            }
            final long mapped = (long)Handles.MMAP.invokeExact(
                address, lengthBytes, PROT_READ_WRITE, MAP_SHARED | MAP_FIXED, descriptor, 0L);
            final int _ = (int)Handles.CLOSE.invokeExact(descriptor);
            return mapped == address;
        }
        catch (final Throwable ex)
        {
            throw new IllegalStateException("a downcall does not throw", ex);
        }
    }

    /** Maps fresh memory of this process alone; 0 when there is none. */
    static long mapPrivate(final long lengthBytes)
    {
        try
        {
            final long mapped =
                (long)Handles.MMAP.invokeExact(0L, lengthBytes, PROT_READ_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L);
            return mapped == FAILED ? 0 : mapped;
        }
        catch (final Throwable ex)
        {
            throw new IllegalStateException("a downcall does not throw", ex);
        }
    }

    /** Moves pages over others, which go; whether it was done. */
    static boolean moveOver(final long from, final long lengthBytes, final long to)
    {
        try
        {
            return (long)Handles.MREMAP.invokeExact(from, lengthBytes, lengthBytes, MREMAP_MAYMOVE_FIXED, to) == to;
        }
        catch (final Throwable ex)
        {
            throw new IllegalStateException("a downcall does not throw", ex);
        }
    }

    /** Asks for huge pages; without effect where there are none. */
    static void adviseHugePages(final long address, final long lengthBytes)
    {
        advise(address, lengthBytes, MADV_HUGEPAGE);
    }

    /** Allocates all pages, instead of at the first touch; false when that cannot be done, maybe for lack of memory. */
    static boolean populate(final long address, final long lengthBytes)
    {
        return advise(address, lengthBytes, MADV_POPULATE_WRITE);
    }

    private static boolean advise(final long address, final long lengthBytes, final int advice)
    {
        try
        {
            return (int)Handles.MADVISE.invokeExact(address, lengthBytes, advice) == 0;
        }
        catch (final Throwable ex)
        {
            throw new IllegalStateException("a downcall does not throw", ex);
        }
    }
}
