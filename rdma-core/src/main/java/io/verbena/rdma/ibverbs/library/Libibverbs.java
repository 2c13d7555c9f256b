package io.verbena.rdma.ibverbs.library;

import io.verbena.rdma.verbs.RdmaException;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.List;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/**
 * The functions of {@code libibverbs.so.1} that take the slow path: they make, change and destroy. Pointers are
 * {@code long}. Functions that return a pointer throw with errno's meaning; the others return 0 or an errno value.
 */
@SuppressWarnings("restricted")
public final class Libibverbs
{
    public static final String LIBRARY = "libibverbs.so.1";

    private static final StructLayout CAPTURE = Linker.Option.captureStateLayout();
    private static final long ERRNO = CAPTURE.byteOffset(MemoryLayout.PathElement.groupElement("errno"));
    private static final Linker LINKER = Linker.nativeLinker();
    private static final SymbolLookup LOOKUP = SymbolLookup.libraryLookup(LIBRARY, Arena.global());

    private static final MethodHandle GET_DEVICE_LIST = making("ibv_get_device_list", JAVA_LONG);
    private static final MethodHandle FREE_DEVICE_LIST =
        LINKER.downcallHandle(LOOKUP.findOrThrow("ibv_free_device_list"), FunctionDescriptor.ofVoid(JAVA_LONG));
    private static final MethodHandle GET_DEVICE_NAME = plain("ibv_get_device_name", JAVA_LONG, JAVA_LONG);
    private static final MethodHandle QUERY_DEVICE = plain("ibv_query_device", JAVA_INT, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle QUERY_PORT = plain("ibv_query_port", JAVA_INT, JAVA_LONG, JAVA_BYTE, JAVA_LONG);
    private static final MethodHandle QUERY_GID = plain(
        "_ibv_query_gid_ex", JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG);
    private static final MethodHandle REG_MR = making("ibv_reg_mr", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT);
    private static final MethodHandle CREATE_CQ =
        making("ibv_create_cq", JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT);
    private static final MethodHandle GET_CQ_EVENT =
        plain("ibv_get_cq_event", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle ACK_CQ_EVENTS =
        LINKER.downcallHandle(LOOKUP.findOrThrow("ibv_ack_cq_events"), FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT));
    private static final MethodHandle QUERY_QP =
        plain("ibv_query_qp", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG);
    private static final MethodHandle MODIFY_QP = plain("ibv_modify_qp", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT);
    private static final MethodHandle MODIFY_SRQ = plain("ibv_modify_srq", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT);
    private static final MethodHandle QUERY_SRQ = plain("ibv_query_srq", JAVA_INT, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle GET_ASYNC_EVENT = plain("ibv_get_async_event", JAVA_INT, JAVA_LONG, JAVA_LONG);
    /** Through the context's operation table: the C functions are inline. */
    private static final MethodHandle ALLOC_MW = LINKER.downcallHandle(
        FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_INT), Linker.Option.captureCallState("errno"));
    private static final MethodHandle DEALLOC_MW = LINKER.downcallHandle(FunctionDescriptor.of(JAVA_INT, JAVA_LONG));
    private static final int IBV_MW_TYPE_2 = 2;
    private static final MethodHandle ACK_ASYNC_EVENT =
        LINKER.downcallHandle(LOOKUP.findOrThrow("ibv_ack_async_event"), FunctionDescriptor.ofVoid(JAVA_LONG));

    /** Functions that make something out of one thing (and a structure that describes it), by name. */
    public enum Maker
    {
        OPEN_DEVICE("ibv_open_device"), ALLOC_PD("ibv_alloc_pd"), CREATE_COMP_CHANNEL("ibv_create_comp_channel"),
        CREATE_QP("ibv_create_qp"), CREATE_SRQ("ibv_create_srq"), CREATE_AH("ibv_create_ah");

        private final String function;
        private final MethodHandle handle;

        Maker(final String function)
        {
            this.function = function;
            // Those that take one argument ignore the second one, as the calling conventions here allow.
            handle = making(function, JAVA_LONG, JAVA_LONG);
        }

        public long make(final String what, final long from, final long description)
        {
            try (Arena arena = Arena.ofConfined())
            {
                final MemorySegment state = arena.allocate(CAPTURE);
                return made(what + " (" + function + ")", (long)handle.invokeExact(state, from, description), state);
            }
            catch (final RdmaException ex)
            {
                throw ex;
            }
            catch (final Throwable ex)
            {
                throw unexpected(ex);
            }
        }
    }

    /** Functions that destroy what they are given, by name. */
    public enum Destroyer
    {
        CLOSE_DEVICE("ibv_close_device"), DEALLOC_PD("ibv_dealloc_pd"), DEREG_MR("ibv_dereg_mr"),
        DESTROY_CQ("ibv_destroy_cq"), DESTROY_COMP_CHANNEL("ibv_destroy_comp_channel"), DESTROY_QP("ibv_destroy_qp"),
        DESTROY_SRQ("ibv_destroy_srq"), DESTROY_AH("ibv_destroy_ah");

        private final String function;
        private final MethodHandle handle;

        Destroyer(final String function)
        {
            this.function = function;
            handle = plain(function, JAVA_INT, JAVA_LONG);
        }

        public void destroy(final String what, final long pointer)
        {
            try
            {
                checkDestroyed(what + " (" + function + ")", (int)handle.invokeExact(pointer));
            }
            catch (final RdmaException ex)
            {
                throw ex;
            }
            catch (final Throwable ex)
            {
                throw unexpected(ex);
            }
        }
    }

    private Libibverbs()
    {
    }

    /** @return addresses of {@code struct ibv_device}, in the list that is at index 0. */
    public static long[] deviceList()
    {
        try (Arena arena = Arena.ofConfined())
        {
            final MemorySegment state = arena.allocate(CAPTURE);
            final MemorySegment count = arena.allocate(JAVA_INT);
            final long list = made("cannot list RDMA devices (ibv_get_device_list)",
                (long)GET_DEVICE_LIST.invokeExact(state, count.address()), state);
            final long[] result = new long[1 + count.get(JAVA_INT, 0)];
            result[0] = list;
            final MemorySegment devices = MemorySegment.ofAddress(list).reinterpret(result.length * 8L);
            for (int i = 1; i < result.length; i++)
            {
                result[i] = devices.getAtIndex(JAVA_LONG, i - 1);
            }
            return result;
        }
        catch (final RdmaException ex)
        {
            throw ex;
        }
        catch (final Throwable ex)
        {
            throw unexpected(ex);
        }
    }

    public static void freeDeviceList(final long[] list)
    {
        try
        {
            FREE_DEVICE_LIST.invokeExact(list[0]);
        }
        catch (final Throwable ex)
        {
            throw unexpected(ex);
        }
    }

    public static String deviceName(final long device)
    {
        try
        {
            return MemorySegment.ofAddress((long)GET_DEVICE_NAME.invokeExact(device)).reinterpret(64).getString(0);
        }
        catch (final Throwable ex)
        {
            throw unexpected(ex);
        }
    }

    /** @return names of the devices present. */
    public static List<String> deviceNames()
    {
        final long[] list = deviceList();
        final List<String> names = new ArrayList<>();
        for (int i = 1; i < list.length; i++)
        {
            names.add(deviceName(list[i]));
        }
        freeDeviceList(list);
        return names;
    }

    public static int queryDevice(final long context, final MemorySegment attributes)
    {
        try
        {
            return (int)QUERY_DEVICE.invokeExact(context, attributes.address());
        }
        catch (final Throwable ex)
        {
            throw unexpected(ex);
        }
    }

    public static int queryPort(final long context, final int port, final MemorySegment attributes)
    {
        try
        {
            return (int)QUERY_PORT.invokeExact(context, (byte)port, attributes.address());
        }
        catch (final Throwable ex)
        {
            throw unexpected(ex);
        }
    }

    public static int queryGid(final long context, final int port, final int index, final MemorySegment entry)
    {
        try
        {
            return (int)QUERY_GID.invokeExact(context, port, index, entry.address(), 0, entry.byteSize());
        }
        catch (final Throwable ex)
        {
            throw unexpected(ex);
        }
    }

    public static long registerMemory(
        final String what, final long pd, final long address, final long length, final int flags)
    {
        try (Arena arena = Arena.ofConfined())
        {
            final MemorySegment state = arena.allocate(CAPTURE);
            return made(what + " (ibv_reg_mr)", (long)REG_MR.invokeExact(state, pd, address, length, flags), state);
        }
        catch (final RdmaException ex)
        {
            throw ex;
        }
        catch (final Throwable ex)
        {
            throw unexpected(ex);
        }
    }

    public static long createCompletionQueue(
        final String what, final long context, final int capacity, final long channel)
    {
        try (Arena arena = Arena.ofConfined())
        {
            final MemorySegment state = arena.allocate(CAPTURE);
            return made(what + " (ibv_create_cq)",
                (long)CREATE_CQ.invokeExact(state, context, capacity, 0L, channel, 0), state);
        }
        catch (final RdmaException ex)
        {
            throw ex;
        }
        catch (final Throwable ex)
        {
            throw unexpected(ex);
        }
    }

    /** Takes one event, which must be there, and acknowledges it; the address of its {@code struct ibv_cq}, or 0. */
    public static long takeCompletionEvent(final long channel)
    {
        try (Arena arena = Arena.ofConfined())
        {
            final MemorySegment cq = arena.allocate(JAVA_LONG, 2);
            if ((int)GET_CQ_EVENT.invokeExact(channel, cq.address(), cq.address() + 8) != 0)
            {
                return 0;
            }
            final long source = cq.get(JAVA_LONG, 0);
            ACK_CQ_EVENTS.invokeExact(source, 1);
            return source;
        }
        catch (final Throwable ex)
        {
            throw unexpected(ex);
        }
    }

    public static int queryQueuePair(
        final long qp, final MemorySegment attributes, final int mask, final MemorySegment initAttributes)
    {
        try
        {
            return (int)QUERY_QP.invokeExact(qp, attributes.address(), mask, initAttributes.address());
        }
        catch (final Throwable ex)
        {
            throw unexpected(ex);
        }
    }

    public static int modifyQueuePair(final long qp, final MemorySegment attributes, final int mask)
    {
        try
        {
            return (int)MODIFY_QP.invokeExact(qp, attributes.address(), mask);
        }
        catch (final Throwable ex)
        {
            throw unexpected(ex);
        }
    }

    public static int modifySharedReceiveQueue(final long srq, final MemorySegment attributes, final int mask)
    {
        try
        {
            return (int)MODIFY_SRQ.invokeExact(srq, attributes.address(), mask);
        }
        catch (final Throwable ex)
        {
            throw unexpected(ex);
        }
    }

    public static int querySharedReceiveQueue(final long srq, final MemorySegment attributes)
    {
        try
        {
            return (int)QUERY_SRQ.invokeExact(srq, attributes.address());
        }
        catch (final Throwable ex)
        {
            throw unexpected(ex);
        }
    }

    /** A window of type 2, by the context's {@code alloc_mw}. */
    public static long allocateWindow(final String what, final MemorySegment function, final long pd)
    {
        try (Arena arena = Arena.ofConfined())
        {
            final MemorySegment state = arena.allocate(CAPTURE);
            if (function.address() == 0)
            {
                throw Errno.failure(what, Errno.EOPNOTSUPP);
            }
            return made(
                what + " (ibv_alloc_mw)", (long)ALLOC_MW.invokeExact(function, state, pd, IBV_MW_TYPE_2), state);
        }
        catch (final RdmaException ex)
        {
            throw ex;
        }
        catch (final Throwable ex)
        {
            throw unexpected(ex);
        }
    }

    /** By the context's {@code dealloc_mw}. */
    public static void freeWindow(final String what, final MemorySegment function, final long mw)
    {
        try
        {
            checkDestroyed(what + " (ibv_dealloc_mw)", (int)DEALLOC_MW.invokeExact(function, mw));
        }
        catch (final RdmaException ex)
        {
            throw ex;
        }
        catch (final Throwable ex)
        {
            throw unexpected(ex);
        }
    }

    /** A device that is gone has destroyed everything itself. */
    private static void checkDestroyed(final String what, final int errno)
    {
        if (errno != 0 && errno != Errno.EIO && errno != Errno.ENODEV)
        {
            throw Errno.failure("cannot close " + what, errno);
        }
    }

    /** Blocks until there is an event. */
    public static int getAsyncEvent(final long context, final MemorySegment event)
    {
        try
        {
            return (int)GET_ASYNC_EVENT.invokeExact(context, event.address());
        }
        catch (final Throwable ex)
        {
            throw unexpected(ex);
        }
    }

    public static void acknowledgeAsyncEvent(final MemorySegment event)
    {
        try
        {
            ACK_ASYNC_EVENT.invokeExact(event.address());
        }
        catch (final Throwable ex)
        {
            throw unexpected(ex);
        }
    }

    /** Calls declare nothing and throw nothing: what comes anyway is an error of the JVM. */
    public static Error unexpected(final Throwable cause)
    {
        if (cause instanceof final Error error)
        {
            throw error;
        }
        return new AssertionError("a downcall threw", cause);
    }

    private static long made(final String what, final long pointer, final MemorySegment state)
    {
        if (pointer == 0)
        {
            throw Errno.failure(what, state.get(JAVA_INT, ERRNO));
        }
        return pointer;
    }

    private static MethodHandle making(final String function, final MemoryLayout... parameters)
    {
        return LINKER.downcallHandle(LOOKUP.findOrThrow(function), FunctionDescriptor.of(JAVA_LONG, parameters),
            Linker.Option.captureCallState("errno"));
    }

    private static MethodHandle plain(
        final String function, final MemoryLayout result, final MemoryLayout... parameters)
    {
        return LINKER.downcallHandle(LOOKUP.findOrThrow(function), FunctionDescriptor.of(result, parameters));
    }
}
