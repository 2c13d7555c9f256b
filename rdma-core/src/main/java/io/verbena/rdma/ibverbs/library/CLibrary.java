package io.verbena.rdma.ibverbs.library;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

/** The few functions of the C library that the verbs need beside them: waiting for descriptors, pages of memory. */
@SuppressWarnings("restricted")
public final class CLibrary
{
    private static final int POLLFD_BYTES = 8;
    private static final short POLLIN = 1;
    private static final MethodHandle POLL = handle("poll", JAVA_LONG, JAVA_LONG, JAVA_INT);
    private static final MethodHandle EVENTFD = handle("eventfd", JAVA_INT, JAVA_INT);
    private static final MethodHandle EVENTFD_WRITE = handle("eventfd_write", JAVA_INT, JAVA_LONG);
    private static final MethodHandle CLOSE = handle("close", JAVA_INT);
    private static final MethodHandle MMAP = handle(
        "mmap", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG));
    private static final MethodHandle MUNMAP = handle("munmap", JAVA_LONG, JAVA_LONG);
    private static final int PROT_READ_WRITE = 1 | 2;
    private static final int MAP_PRIVATE_ANONYMOUS = 2 | 0x20;
    private static final long MAP_FAILED = -1;

    private CLibrary()
    {
    }

    /**
     * Waits until one of two descriptors can be read.
     *
     * @param first     descriptor.
     * @param second    descriptor, or -1 for none.
     * @param timeoutMs longest wait; negative for none.
     * @return whether the first can be read.
     */
    public static boolean awaitReadable(final int first, final int second, final int timeoutMs)
    {
        try (Arena arena = Arena.ofConfined())
        {
            final MemorySegment entries = arena.allocate(2 * POLLFD_BYTES, Long.BYTES);
            entries.set(JAVA_INT, 0, first);
            entries.set(JAVA_SHORT, 4, POLLIN);
            entries.set(JAVA_INT, POLLFD_BYTES, second);
            entries.set(JAVA_SHORT, POLLFD_BYTES + 4, POLLIN);
            final int ready = (int)POLL.invokeExact(entries.address(), second < 0 ? 1L : 2L, timeoutMs);
            return ready > 0 && entries.get(JAVA_SHORT, 6) != 0;
        }
        catch (final Throwable ex)
        {
            throw Libibverbs.unexpected(ex);
        }
    }

    public static int eventDescriptor()
    {
        try
        {
            return (int)EVENTFD.invokeExact(0, 0);
        }
        catch (final Throwable ex)
        {
            throw Libibverbs.unexpected(ex);
        }
    }

    public static void signal(final int eventDescriptor)
    {
        try
        {
            final int ignored = (int)EVENTFD_WRITE.invokeExact(eventDescriptor, 1L);
        }
        catch (final Throwable ex)
        {
            throw Libibverbs.unexpected(ex);
        }
    }

    public static void close(final int descriptor)
    {
        try
        {
            final int ignored = (int)CLOSE.invokeExact(descriptor);
        }
        catch (final Throwable ex)
        {
            throw Libibverbs.unexpected(ex);
        }
    }

    /**
     * Maps pages of zeros. They do not count against the JVM's limit for direct memory, which is that of the heap and
     * has nothing to do with how much memory a node may register.
     *
     * @param lengthBytes 1 or more; rounded up to whole pages.
     * @return their address, or 0 when there is no memory.
     */
    public static long mapPages(final long lengthBytes)
    {
        try
        {
            final long address =
                (long)MMAP.invokeExact(0L, lengthBytes, PROT_READ_WRITE, MAP_PRIVATE_ANONYMOUS, -1, 0L);
            return address == MAP_FAILED ? 0 : address;
        }
        catch (final Throwable ex)
        {
            throw Libibverbs.unexpected(ex);
        }
    }

    public static void unmapPages(final long address, final long lengthBytes)
    {
        try
        {
            final int ignored = (int)MUNMAP.invokeExact(address, lengthBytes);
        }
        catch (final Throwable ex)
        {
            throw Libibverbs.unexpected(ex);
        }
    }

    private static MethodHandle handle(final String name, final MemoryLayout... parameters)
    {
        return handle(name, FunctionDescriptor.of(JAVA_INT, parameters));
    }

    private static MethodHandle handle(final String name, final FunctionDescriptor descriptor)
    {
        final Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), descriptor);
    }
}
