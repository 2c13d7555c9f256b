package io.verbena.rdma.memory;

import io.verbena.rdma.verbs.RdmaException;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.invoke.MethodHandle;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/**
 * Zeroed memory of this process alone, in huge pages where the kernel gives them ({@code MADV_HUGEPAGE}): a look at a
 * random place of gigabytes in pages of 4 KiB mostly costs a walk through the page tables besides the line itself.
 * Physical memory is taken when it is touched first. Closed by its creator, when nobody uses the address any more.
 */
public final class PrivatePages implements AutoCloseable
{
    /** Pages are aligned to this: the size of a huge page where there are any. */
    public static final long HUGE_PAGE_BYTES = 2L << 20;

    private static final int PROT_READ_WRITE = 1 | 2;
    private static final int MAP_PRIVATE_ANONYMOUS = 2 | 0x20;
    private static final int MADV_HUGEPAGE = 14;
    private static final long FAILED = -1;
    private static final MethodHandle MMAP = bind(
        "mmap",
        FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG));
    private static final MethodHandle MADVISE =
        bind("madvise", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT));
    private static final MethodHandle MUNMAP = bind("munmap", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));

    private final long mapped;
    private final long mappedBytes;
    private final long address;
    private boolean isClosed;

    private PrivatePages(final long mapped, final long mappedBytes)
    {
        this.mapped = mapped;
        this.mappedBytes = mappedBytes;
        address = mapped + HUGE_PAGE_BYTES - 1 & -HUGE_PAGE_BYTES;
    }

    /**
     * Maps memory.
     *
     * @param lengthBytes 1 or more.
     * @return the memory.
     * @throws RdmaException when the kernel does not give so much.
     */
    public static PrivatePages map(final long lengthBytes)
    {
        final long mappedBytes = lengthBytes + HUGE_PAGE_BYTES;
        try
        {
            final long mapped =
                (long)MMAP.invokeExact(0L, mappedBytes, PROT_READ_WRITE, MAP_PRIVATE_ANONYMOUS, -1, 0L);
            if (mapped == FAILED)
            {
                throw new RdmaException("cannot map " + lengthBytes + " bytes: ask for less, or raise ulimit -v");
            }
            final PrivatePages pages = new PrivatePages(mapped, mappedBytes);
            // Without effect on a kernel that has none. A short piece would only take more memory than it needs.
            final int _ = lengthBytes < HUGE_PAGE_BYTES ?
                0 : (int)MADVISE.invokeExact(pages.address, lengthBytes, MADV_HUGEPAGE);
            return pages;
        }
        catch (final RdmaException ex)
        {
            throw ex;
        }
        catch (final Throwable ex)
        {
            throw new IllegalStateException("a downcall does not throw", ex);
        }
    }

    /** @return address of the first byte, a multiple of {@link #HUGE_PAGE_BYTES}. */
    public long address()
    {
        return address;
    }

    @Override
    public void close()
    {
        if (isClosed)
        {
            return;
        }
        isClosed = true;
        try
        {
            final int _ = (int)MUNMAP.invokeExact(mapped, mappedBytes);
        }
        catch (final Throwable ex)
        {
            throw new IllegalStateException("a downcall does not throw", ex);
        }
    }

    @SuppressWarnings("restricted")
    private static MethodHandle bind(final String name, final FunctionDescriptor descriptor)
    {
        final Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), descriptor);
    }
}
