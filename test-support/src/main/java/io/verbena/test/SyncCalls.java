package io.verbena.test;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

/**
 * The fsync and fdatasync system calls of a thread, as the kernel sees them: a seccomp filter stops each one until a
 * listener has said whether it is carried out. So neither Java nor native code can claim a sync that it did not make.
 * Linux on x86-64 and aarch64, where the container allows seccomp; {@link #isSupported()} says whether.
 */
@SuppressWarnings("restricted")
public final class SyncCalls
{
    /** Decides what becomes of a system call; runs while the calling thread is inside it. */
    @FunctionalInterface
    public interface Listener
    {
        /**
         * @param descriptor number of the open file or folder to be synced.
         * @param path       of it.
         * @return true to carry the call out; false to fail it with EIO.
         * @throws Exception which ends the run; the call is failed.
         */
        boolean onSync(int descriptor, Path path) throws Exception;
    }

    private static final Linker.Option ERRNO = Linker.Option.captureCallState("errno");
    private static final MemoryLayout CALL_STATE = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO_FIELD =
        CALL_STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));
    private static final MethodHandle SYSCALL = Linker.nativeLinker().downcallHandle(
        Linker.nativeLinker().defaultLookup().findOrThrow("syscall"),
        FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG),
        ERRNO, Linker.Option.firstVariadicArg(1));
    private static final boolean IS_X86 = "amd64".equals(System.getProperty("os.arch"));
    private static final int SYS_FSYNC = IS_X86 ? 74 : 82;
    private static final int SYS_FDATASYNC = IS_X86 ? 75 : 83;
    private static final int SYS_IOCTL = IS_X86 ? 16 : 29;
    private static final int SYS_PRCTL = IS_X86 ? 157 : 167;
    private static final int SYS_SECCOMP = IS_X86 ? 317 : 277;
    private static final int PR_SET_NO_NEW_PRIVS = 38;
    private static final int SECCOMP_SET_MODE_FILTER = 1;
    private static final int SECCOMP_FILTER_FLAG_NEW_LISTENER = 8;
    private static final int RET_USER_NOTIF = 0x7FC00000;
    private static final int RET_ALLOW = 0x7FFF0000;
    private static final long NOTIF_RECV = 0xC0502100L;
    private static final long NOTIF_SEND = 0xC0182101L;
    private static final int NOTIF_BYTES = 80;
    private static final int NOTIF_FIRST_ARGUMENT = 32;
    private static final int RESPONSE_BYTES = 24;
    private static final int CONTINUE = 1;
    private static final int EINTR = 4;
    private static final int EIO = 5;
    private static final int ENOENT = 2;
    private static final long TIMEOUT_S = 60;

    private static boolean isSupported;
    private static boolean isTried;

    private final Listener listener;
    private final CompletableFuture<Integer> listenerDescriptor = new CompletableFuture<>();
    private volatile Throwable failure;
    private volatile boolean hasEnded;

    private SyncCalls(final Listener listener)
    {
        this.listener = listener;
    }

    /** @return whether the system calls of a thread can be seen here. */
    public static synchronized boolean isSupported()
    {
        if (!isTried)
        {
            isTried = true;
            try
            {
                watch((descriptor, path) -> true, () -> null);
                isSupported = true;
            }
            catch (final Exception ex)
            {
                isSupported = false;
            }
        }
        return isSupported;
    }

    /**
     * Runs something on a new thread whose system calls, and those of threads that it starts, are shown to a listener.
     *
     * @param listener called for each, by one thread.
     * @param body     what runs.
     * @param <T>      what it returns.
     * @return what the body returned.
     * @throws Exception that the body threw, or the listener, or that says why calls cannot be seen here.
     */
    public static <T> T watch(final Listener listener, final Callable<T> body) throws Exception
    {
        final SyncCalls calls = new SyncCalls(listener);
        final Thread listening = new Thread(calls::listen, "sync-calls-listener");
        listening.setDaemon(true);
        listening.start();
        final FutureTask<T> task = new FutureTask<>(() ->
        {
            calls.installFilter();
            return body.call();
        });
        final Thread watched = new Thread(task, "sync-calls-watched");
        watched.setDaemon(true);
        watched.start();
        try
        {
            final T result = task.get(TIMEOUT_S, TimeUnit.SECONDS);
            if (null != calls.failure)
            {
                throw new IllegalStateException("the listener failed", calls.failure);
            }
            return result;
        }
        catch (final ExecutionException ex)
        {
            if (ex.getCause() instanceof Exception cause)
            {
                throw cause;
            }
            throw (Error)ex.getCause();
        }
        finally
        {
            calls.hasEnded = true;
            calls.listenerDescriptor.cancel(false);
        }
    }

    private void installFilter()
    {
        if (!IS_X86 && !"aarch64".equals(System.getProperty("os.arch")) || !Files.exists(Path.of("/proc/self/fd")))
        {
            throw new UnsupportedOperationException("not Linux on x86-64 or aarch64");
        }
        try (Arena arena = Arena.ofConfined())
        {
            final int[][] program = {
                {0x20, 0, 0, 0}, {0x15, 1, 0, SYS_FSYNC}, {0x15, 0, 1, SYS_FDATASYNC},
                {0x06, 0, 0, RET_USER_NOTIF}, {0x06, 0, 0, RET_ALLOW}};
            final MemorySegment instructions = arena.allocate(8L * program.length, 8);
            for (int i = 0; i < program.length; i++)
            {
                instructions.set(JAVA_SHORT, 8L * i, (short)program[i][0]);
                instructions.set(JAVA_BYTE, 8L * i + 2, (byte)program[i][1]);
                instructions.set(JAVA_BYTE, 8L * i + 3, (byte)program[i][2]);
                instructions.set(JAVA_INT, 8L * i + 4, program[i][3]);
            }
            final MemorySegment header = arena.allocate(16, 8);
            header.set(JAVA_SHORT, 0, (short)program.length);
            header.set(ADDRESS, 8, instructions);
            final MemorySegment state = arena.allocate(CALL_STATE);
            call(state, SYS_PRCTL, PR_SET_NO_NEW_PRIVS, 1, 0);
            final long descriptor = call(state, SYS_SECCOMP, SECCOMP_SET_MODE_FILTER,
                SECCOMP_FILTER_FLAG_NEW_LISTENER, header.address());
            if (descriptor < 0)
            {
                throw new UnsupportedOperationException("seccomp is refused here, errno " + errno(state));
            }
            listenerDescriptor.complete((int)descriptor);
        }
    }

    /** Never closes the listener: a thread that inherited the filter could not sync any more. */
    private void listen()
    {
        try (Arena arena = Arena.ofConfined())
        {
            final int descriptor = listenerDescriptor.get();
            final MemorySegment state = arena.allocate(CALL_STATE);
            final MemorySegment request = arena.allocate(NOTIF_BYTES, 8);
            final MemorySegment response = arena.allocate(RESPONSE_BYTES, 8);
            while (receive(state, descriptor, request))
            {
                final boolean isCarriedOut = ask((int)request.get(JAVA_LONG, NOTIF_FIRST_ARGUMENT));
                response.set(JAVA_LONG, 0, request.get(JAVA_LONG, 0));
                response.set(JAVA_LONG, 8, 0);
                response.set(JAVA_INT, 16, isCarriedOut ? 0 : -EIO);
                response.set(JAVA_INT, 20, isCarriedOut ? CONTINUE : 0);
                call(state, SYS_IOCTL, descriptor, NOTIF_SEND, response.address());
            }
        }
        catch (final Exception ex)
        {
            // Watching did not begin; the watched thread reports why.
            failure = ex;
        }
    }

    private boolean receive(final MemorySegment state, final int descriptor, final MemorySegment request)
    {
        while (true)
        {
            request.fill((byte)0);
            if (call(state, SYS_IOCTL, descriptor, NOTIF_RECV, request.address()) >= 0)
            {
                return true;
            }
            final int errno = errno(state);
            if (errno != EINTR && (errno != ENOENT || hasEnded))
            {
                return false;
            }
        }
    }

    private boolean ask(final int descriptor)
    {
        try
        {
            return listener.onSync(descriptor, Files.readSymbolicLink(Path.of("/proc/self/fd/" + descriptor)));
        }
        catch (final Exception | Error ex)
        {
            failure = ex;
            return false;
        }
    }

    private static long call(
        final MemorySegment state, final long number, final long first, final long second, final long third)
    {
        try
        {
            return (long)SYSCALL.invokeExact(state, number, first, second, third, 0L, 0L);
        }
        catch (final Throwable ex)
        {
            throw new IllegalStateException(ex);
        }
    }

    private static int errno(final MemorySegment state)
    {
        return (int)ERRNO_FIELD.get(state, 0L);
    }
}
