package io.verbena.rdma.roce.interop;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** Runs something in another network namespace: setns(2) concerns one thread, and a socket stays where it was made. */
public final class NetworkNamespace
{
    private static final int CLONE_NEWNET = 0x40000000;
    private static final Linker LINKER = Linker.nativeLinker();

    private NetworkNamespace()
    {
    }

    /** @param name as {@code ip netns} gives it; empty for that of this process. */
    static <T> T in(final String name, final Supplier<T> action)
    {
        return at(name.isEmpty() ? name : "/run/netns/" + name, action);
    }

    /** @param path of the namespace, such as /proc/PID/ns/net; empty for that of this process. */
    public static <T> T at(final String path, final Supplier<T> action)
    {
        final CompletableFuture<T> made = new CompletableFuture<>();
        final Thread thread = new Thread(() ->
        {
            try
            {
                if (!path.isEmpty())
                {
                    enter(path);
                }
                made.complete(action.get());
            }
            catch (final Throwable ex)
            {
                made.completeExceptionally(ex);
            }
        });
        thread.start();
        return made.join();
    }

    private static void enter(final String path) throws Throwable
    {
        final MethodHandle open = downcall("open",
            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT));
        final MethodHandle setns = downcall("setns",
            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
        try (Arena arena = Arena.ofConfined())
        {
            final MemorySegment text = arena.allocateFrom(path);
            final int descriptor = (int)open.invokeExact(text, 0);
            if (descriptor < 0 || (int)setns.invokeExact(descriptor, CLONE_NEWNET) != 0)
            {
                throw new IllegalStateException("cannot enter the network namespace " + path);
            }
        }
    }

    @SuppressWarnings("restricted")
    private static MethodHandle downcall(final String name, final FunctionDescriptor descriptor)
    {
        return LINKER.downcallHandle(LINKER.defaultLookup().find(name).orElseThrow(), descriptor);
    }
}
