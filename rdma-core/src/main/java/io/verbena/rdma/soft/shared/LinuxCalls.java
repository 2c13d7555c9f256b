package io.verbena.rdma.soft.shared;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * The system call that Java has no words for: {@code futex(2)} between processes. Numbers for x86-64 and AArch64; on
 * other machines sleeping falls back to short pauses.
 */
public final class LinuxCalls
{
    private static final int FUTEX_WAIT = 0;
    private static final int FUTEX_WAKE = 1;
    private static final long NS_PER_S = 1_000_000_000L;
    private static final boolean IS_X86 = System.getProperty("os.arch").equals("amd64");
    private static final boolean IS_ARM = System.getProperty("os.arch").equals("aarch64");
    private static final long FUTEX = IS_X86 ? 202 : 98;
    private static final MethodHandle SYSCALL = bind();

    private LinuxCalls()
    {
    }

    /**
     * Binds the call and makes it twice to no effect: the first time takes tens of milliseconds, which a process that
     * starts may spend on another thread.
     */
    public static void prepare()
    {
        try (Arena arena = Arena.ofConfined())
        {
            final long word = arena.allocate(Long.BYTES, Long.BYTES).address();
            wake(word);
            waitWhile(word, 1, 1);
        }
    }

    /**
     * Sleeps while a word has a value; returns early for any reason.
     *
     * @param address   of an aligned 32-bit word of mapped memory, shared or not.
     * @param value     it sleeps on.
     * @param timeoutNs longest sleep, more than 0.
     */
    public static void waitWhile(final long address, final int value, final long timeoutNs)
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

    /**
     * Wakes everybody, of any process, who sleeps on a word.
     *
     * @param address of the word.
     */
    public static void wake(final long address)
    {
        if (SYSCALL != null)
        {
            call(FUTEX, address, FUTEX_WAKE, Integer.MAX_VALUE, 0);
        }
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
