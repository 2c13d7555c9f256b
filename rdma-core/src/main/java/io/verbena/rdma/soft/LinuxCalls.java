package io.verbena.rdma.soft;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * The system calls that Java has no words for: {@code futex(2)} between processes and {@code membarrier(2)}. Numbers
 * for x86-64 and AArch64; on other machines sleeping falls back to short pauses and there is no barrier.
 */
final class LinuxCalls
{
    private static final int FUTEX_WAIT = 0;
    private static final int FUTEX_WAKE = 1;
    private static final int MEMBARRIER_GLOBAL_EXPEDITED = 1 << 1;
    private static final int MEMBARRIER_REGISTER_GLOBAL_EXPEDITED = 1 << 2;
    private static final long NS_PER_S = 1_000_000_000L;
    private static final boolean IS_X86 = System.getProperty("os.arch").equals("amd64");
    private static final boolean IS_ARM = System.getProperty("os.arch").equals("aarch64");
    private static final long FUTEX = IS_X86 ? 202 : 98;
    private static final long MEMBARRIER = IS_X86 ? 324 : 283;
    private static final MethodHandle SYSCALL = bind();
    private static final boolean HAS_BARRIER = SYSCALL != null && registerForBarriers();

    private LinuxCalls()
    {
    }

    /** Sleeps while the word has the value; returns early for any reason. */
    static void waitWhile(final long address, final int value, final long timeoutNs)
    {
        if (SYSCALL == null)
        {
            java.util.concurrent.locks.LockSupport.parkNanos(Math.min(timeoutNs, 50_000));
            return;
        }
        try (Arena arena = Arena.ofConfined())
        {
            final MemorySegment timeout = arena.allocate(2 * Long.BYTES, Long.BYTES);
            timeout.set(ValueLayout.JAVA_LONG, 0, timeoutNs / NS_PER_S);
            timeout.set(ValueLayout.JAVA_LONG, Long.BYTES, timeoutNs % NS_PER_S);
            call(FUTEX, address, FUTEX_WAIT, value, timeout.address());
        }
    }

    /** Wakes everybody who sleeps on the word. */
    static void wake(final long address)
    {
        if (SYSCALL != null)
        {
            call(FUTEX, address, FUTEX_WAKE, Integer.MAX_VALUE, 0);
        }
    }

    /** Whether {@link #barrier()} works here; registers this process, so that others' barriers reach it. */
    static boolean hasBarrier()
    {
        return HAS_BARRIER;
    }

    /** A full fence on every processor that runs a registered process; true when it was done. */
    static boolean barrier()
    {
        return HAS_BARRIER && call(MEMBARRIER, MEMBARRIER_GLOBAL_EXPEDITED, 0, 0, 0) == 0;
    }

    private static boolean registerForBarriers()
    {
        return call(MEMBARRIER, MEMBARRIER_REGISTER_GLOBAL_EXPEDITED, 0, 0, 0) == 0;
    }

    private static long call(final long number, final long a, final long b, final long c, final long d)
    {
        try
        {
            return (long)SYSCALL.invokeExact(number, a, b, c, d);
        }
        catch (final Throwable ex)
        {
            throw new IllegalStateException("a downcall does not throw", ex);
        }
    }

    @SuppressWarnings("restricted")
    private static MethodHandle bind()
    {
        if (!IS_X86 && !IS_ARM)
        {
            return null;
        }
        final Linker linker = Linker.nativeLinker();
        return linker.defaultLookup().find("syscall").map(address -> linker.downcallHandle(
            address,
            FunctionDescriptor.of(
                ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG),
            Linker.Option.firstVariadicArg(1))).orElse(null);
    }
}
