package io.verbena.rdma.ibverbs.library;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/**
 * The verbs that C programs inline: calls through the function pointers of a context's operation table. Pointers to
 * structures travel as {@code long}, so that a call makes no objects.
 *
 * <p><b>Critical.</b> Posting and polling are linked without a thread state transition. They never sleep: a driver
 * writes descriptors and rings a doorbell, or reads a queue, under a spin lock at most; rxe's doorbell is a system call
 * that sends packets in the caller's context, for tens of microseconds. What they cost is that a safepoint waits for
 * the call. Arming is a system call and off the hot path: an ordinary call.
 *
 * <p><b>Why {@code ibv_post_send} and not {@code ibv_wr_*}.</b> One call posts a whole batch out of structures that
 * Java has written; with the newer interface each request takes three calls between start and complete.
 */
@SuppressWarnings("restricted")
public final class DataPath
{
    private static final MethodHandle POST = critical(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle POLL_CQ =
        critical(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG));
    private static final MethodHandle REQ_NOTIFY_CQ =
        Linker.nativeLinker().downcallHandle(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT));

    private DataPath()
    {
    }

    /**
     * {@code ibv_post_send}, {@code ibv_post_recv} and {@code ibv_post_srq_recv}.
     *
     * @param function of the context's table.
     * @param queue    {@code ibv_qp *} or {@code ibv_srq *}.
     * @param first    first work request of a list.
     * @param bad      takes the first that was not posted.
     * @return 0 or an errno value.
     */
    public static int post(final MemorySegment function, final long queue, final long first, final long bad)
    {
        try
        {
            return (int)POST.invokeExact(function, queue, first, bad);
        }
        catch (final Throwable ex)
        {
            throw Libibverbs.unexpected(ex);
        }
    }

    public static int pollCq(final MemorySegment function, final long cq, final int count, final long completions)
    {
        try
        {
            return (int)POLL_CQ.invokeExact(function, cq, count, completions);
        }
        catch (final Throwable ex)
        {
            throw Libibverbs.unexpected(ex);
        }
    }

    public static int requestNotification(final MemorySegment function, final long cq, final boolean solicitedOnly)
    {
        try
        {
            return (int)REQ_NOTIFY_CQ.invokeExact(function, cq, solicitedOnly ? 1 : 0);
        }
        catch (final Throwable ex)
        {
            throw Libibverbs.unexpected(ex);
        }
    }

    private static MethodHandle critical(final FunctionDescriptor descriptor)
    {
        return Linker.nativeLinker().downcallHandle(descriptor, Linker.Option.critical(false));
    }
}
