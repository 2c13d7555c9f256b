package io.verbena.rdma.roce.udp;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/**
 * The system calls for sockets, through the C library. Each returns its result, or the error number, negative. Memory
 * is given by address; the caller keeps it. An object is used by one thread at a time; allocates nothing once made. Not
 * final, as tests need a kernel that refuses.
 */
@SuppressWarnings("restricted")
class SocketCalls
{
    private static final MemoryLayout STATE = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO = STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));
    private static final MethodHandle SOCKET = handle("socket", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT);
    private static final MethodHandle BIND = handle("bind", JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT);
    private static final MethodHandle CONNECT = handle("connect", JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT);
    private static final MethodHandle GETSOCKNAME = handle("getsockname", JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle SETSOCKOPT =
        handle("setsockopt", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT);
    private static final MethodHandle GETSOCKOPT =
        handle("getsockopt", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle RECVMSG = handle("recvmsg", JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT);
    private static final MethodHandle RECVMMSG =
        handle("recvmmsg", JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_LONG);
    private static final MethodHandle SENDMMSG =
        handle("sendmmsg", JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_INT);
    private static final MethodHandle PPOLL = handle("ppoll", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle EVENTFD = handle("eventfd", JAVA_INT, JAVA_INT, JAVA_INT);
    private static final MethodHandle READ = handle("read", JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle WRITE = handle("write", JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle CLOSE = handle("close", JAVA_INT, JAVA_INT);

    private final MemorySegment state = Arena.ofAuto().allocate(STATE);

    int socket(final int family, final int type)
    {
        try
        {
            return result((int)SOCKET.invokeExact(state, family, type, 0));
        }
        catch (final Throwable ex)
        {
            throw unexpected(ex);
        }
    }

    int bind(final int descriptor, final long name, final int nameBytes)
    {
        try
        {
            return result((int)BIND.invokeExact(state, descriptor, name, nameBytes));
        }
        catch (final Throwable ex)
        {
            throw unexpected(ex);
        }
    }

    int connect(final int descriptor, final long name, final int nameBytes)
    {
        try
        {
            return result((int)CONNECT.invokeExact(state, descriptor, name, nameBytes));
        }
        catch (final Throwable ex)
        {
            throw unexpected(ex);
        }
    }

    int getsockname(final int descriptor, final long name, final long nameBytes)
    {
        try
        {
            return result((int)GETSOCKNAME.invokeExact(state, descriptor, name, nameBytes));
        }
        catch (final Throwable ex)
        {
            throw unexpected(ex);
        }
    }

    int setsockopt(final int descriptor, final int level, final int name, final long value, final int valueBytes)
    {
        try
        {
            return result((int)SETSOCKOPT.invokeExact(state, descriptor, level, name, value, valueBytes));
        }
        catch (final Throwable ex)
        {
            throw unexpected(ex);
        }
    }

    int getsockopt(final int descriptor, final int level, final int name, final long value, final long valueBytes)
    {
        try
        {
            return result((int)GETSOCKOPT.invokeExact(state, descriptor, level, name, value, valueBytes));
        }
        catch (final Throwable ex)
        {
            throw unexpected(ex);
        }
    }

    int recvmsg(final int descriptor, final long message, final int flags)
    {
        try
        {
            return result((int)(long)RECVMSG.invokeExact(state, descriptor, message, flags));
        }
        catch (final Throwable ex)
        {
            throw unexpected(ex);
        }
    }

    int recvmmsg(final int descriptor, final long messages, final int count, final int flags)
    {
        try
        {
            return result((int)RECVMMSG.invokeExact(state, descriptor, messages, count, flags, 0L));
        }
        catch (final Throwable ex)
        {
            throw unexpected(ex);
        }
    }

    int sendmmsg(final int descriptor, final long messages, final int count, final int flags)
    {
        try
        {
            return result((int)SENDMMSG.invokeExact(state, descriptor, messages, count, flags));
        }
        catch (final Throwable ex)
        {
            throw unexpected(ex);
        }
    }

    int ppoll(final long entries, final long count, final long timeout)
    {
        try
        {
            return result((int)PPOLL.invokeExact(state, entries, count, timeout, 0L));
        }
        catch (final Throwable ex)
        {
            throw unexpected(ex);
        }
    }

    int eventfd(final int flags)
    {
        try
        {
            return result((int)EVENTFD.invokeExact(state, 0, flags));
        }
        catch (final Throwable ex)
        {
            throw unexpected(ex);
        }
    }

    int read(final int descriptor, final long address, final long lengthBytes)
    {
        try
        {
            return result((int)(long)READ.invokeExact(state, descriptor, address, lengthBytes));
        }
        catch (final Throwable ex)
        {
            throw unexpected(ex);
        }
    }

    int write(final int descriptor, final long address, final long lengthBytes)
    {
        try
        {
            return result((int)(long)WRITE.invokeExact(state, descriptor, address, lengthBytes));
        }
        catch (final Throwable ex)
        {
            throw unexpected(ex);
        }
    }

    int close(final int descriptor)
    {
        try
        {
            return result((int)CLOSE.invokeExact(state, descriptor));
        }
        catch (final Throwable ex)
        {
            throw unexpected(ex);
        }
    }

    private int result(final int value)
    {
        return value < 0 ? -(int)ERRNO.get(state, 0L) : value;
    }

    private static IllegalStateException unexpected(final Throwable ex)
    {
        return new IllegalStateException("a downcall does not throw", ex);
    }

    private static MethodHandle handle(
        final String name, final ValueLayout result, final MemoryLayout... parameters)
    {
        final Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().findOrThrow(name),
            FunctionDescriptor.of(result, parameters), Linker.Option.captureCallState("errno"));
    }
}
