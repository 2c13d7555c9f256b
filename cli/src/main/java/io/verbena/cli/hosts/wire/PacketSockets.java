package io.verbena.cli.hosts.wire;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

/** The calls of the C library behind {@link PacketSocket}: packet(7), netdevice(7), ethtool, poll(2). Stateless. */
@SuppressWarnings("restricted")
final class PacketSockets
{
    private static final int AF_INET = 2;
    private static final int SOCK_DGRAM = 2;
    private static final int AF_PACKET = 17;
    private static final int SOCK_RAW = 3;
    private static final int SOCK_NONBLOCK = 0x800;
    private static final int SOCK_CLOEXEC = 0x80000;
    private static final int ETH_P_ALL = 3;
    private static final int SOCKADDR_LL_BYTES = 20;
    private static final int SOL_SOCKET = 1;
    private static final int SO_SNDBUFFORCE = 32;
    private static final int SO_RCVBUFFORCE = 33;
    private static final int SOL_PACKET = 263;
    private static final int PACKET_STATISTICS = 6;
    private static final int PACKET_IGNORE_OUTGOING = 23;
    private static final int BUFFER_BYTES = 16 << 20;
    private static final long SIOCETHTOOL = 0x8946;
    private static final int IFREQ_BYTES = 40;
    private static final int IFNAMSIZ = 16;
    private static final int POLLFD_BYTES = 8;
    private static final short POLLIN = 1;
    private static final int MSG_TRUNC = 0x20;

    private static final StructLayout ERRNO_LAYOUT = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO = ERRNO_LAYOUT.varHandle(MemoryLayout.PathElement.groupElement("errno"));
    private static final MethodHandle SOCKET = handle("socket", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT);
    private static final MethodHandle BIND = handle("bind", JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT);
    private static final MethodHandle NAME_TO_INDEX = handle("if_nametoindex", JAVA_INT, ADDRESS);
    private static final MethodHandle SET_OPTION =
        handle("setsockopt", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT);
    private static final MethodHandle GET_OPTION =
        handle("getsockopt", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, ADDRESS);
    private static final MethodHandle IOCTL = Linker.nativeLinker().downcallHandle(
        Linker.nativeLinker().defaultLookup().findOrThrow("ioctl"),
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, ADDRESS),
        Linker.Option.firstVariadicArg(2), Linker.Option.captureCallState("errno"));
    private static final MethodHandle RECEIVE = plain("recv", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT);
    private static final MethodHandle SEND = plain("send", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT);
    private static final MethodHandle POLL = plain("ppoll", JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS);
    private static final MethodHandle CLOSE = plain("close", JAVA_INT, JAVA_INT);

    private PacketSockets()
    {
    }

    /** Opens a socket that has every frame of an interface, and none that this process sends by it. */
    static int open(final String name) throws IOException
    {
        final int descriptor;
        try (Arena arena = Arena.ofConfined())
        {
            final MemorySegment errno = arena.allocate(ERRNO_LAYOUT);
            final short protocol = Short.reverseBytes((short)ETH_P_ALL);
            final int index = (int)NAME_TO_INDEX.invokeExact(errno, arena.allocateFrom(name));
            require(index > 0, "interface " + name, errno);
            descriptor = (int)SOCKET.invokeExact(
                errno, AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, (int)protocol & 0xFFFF);
            require(descriptor >= 0, "packet socket", errno);
            setOption(descriptor, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1, errno, arena);
            setOption(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES, errno, arena);
            setOption(descriptor, SOL_SOCKET, SO_SNDBUFFORCE, BUFFER_BYTES, errno, arena);
            final MemorySegment address = arena.allocate(SOCKADDR_LL_BYTES, Integer.BYTES);
            address.set(JAVA_SHORT, 0, (short)AF_PACKET);
            address.set(JAVA_SHORT, 2, protocol);
            address.set(JAVA_INT, 4, index);
            final int bound = (int)BIND.invokeExact(errno, descriptor, address, SOCKADDR_LL_BYTES);
            require(bound >= 0, "packet socket on " + name, errno);
            return descriptor;
        }
        catch (final IOException ex)
        {
            throw ex;
        }
        catch (final Throwable ex)
        {
            throw unexpected(ex);
        }
    }

    private static void setOption(
        final int descriptor, final int level, final int name, final int value, final MemorySegment errno,
        final Arena arena) throws Throwable
    {
        final int status = (int)SET_OPTION.invokeExact(
            errno, descriptor, level, name, arena.allocateFrom(JAVA_INT, value), Integer.BYTES);
        // A buffer of the default length is enough where rights in the first user namespace are missing.
        require(status >= 0 || SOL_SOCKET == level, "option " + name + " of a packet socket", errno);
    }

    /**
     * Switches a feature of an interface, by ethtool.
     *
     * @param name    of the interface, in the network namespace of this process.
     * @param command ETHTOOL_S... of linux/ethtool.h that takes 0 or 1.
     * @param isOn    what it shall be.
     * @throws IOException when the interface has no such feature.
     */
    static void feature(final String name, final int command, final boolean isOn) throws IOException
    {
        try (Arena arena = Arena.ofConfined())
        {
            final MemorySegment errno = arena.allocate(ERRNO_LAYOUT);
            final MemorySegment request = arena.allocate(IFREQ_BYTES, Long.BYTES);
            final MemorySegment value = arena.allocate(2 * Integer.BYTES, Integer.BYTES);
            value.set(JAVA_INT, 0, command);
            value.set(JAVA_INT, Integer.BYTES, isOn ? 1 : 0);
            request.setString(0, name);
            request.set(ADDRESS, IFNAMSIZ, value);
            final int descriptor = (int)SOCKET.invokeExact(errno, AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
            require(descriptor >= 0, "socket", errno);
            final int status = (int)IOCTL.invokeExact(errno, descriptor, SIOCETHTOOL, request);
            close(descriptor);
            require(status >= 0, "ethtool command " + command + " on " + name, errno);
        }
        catch (final IOException ex)
        {
            throw ex;
        }
        catch (final Throwable ex)
        {
            throw unexpected(ex);
        }
    }

    /** @return length of the frame, which may be longer than the memory; negative when there is none. */
    static long receive(final int descriptor, final MemorySegment frame)
    {
        try
        {
            return (long)RECEIVE.invokeExact(descriptor, frame, frame.byteSize(), MSG_TRUNC);
        }
        catch (final Throwable ex)
        {
            throw unexpected(ex);
        }
    }

    /** @return bytes sent; negative when the frame was not. */
    static long send(final int descriptor, final MemorySegment frame, final long lengthBytes)
    {
        try
        {
            return (long)SEND.invokeExact(descriptor, frame, lengthBytes, 0);
        }
        catch (final Throwable ex)
        {
            throw unexpected(ex);
        }
    }

    /** @return frames that the kernel dropped for want of room since this was asked last. */
    static int drops(final int descriptor)
    {
        try (Arena arena = Arena.ofConfined())
        {
            final MemorySegment errno = arena.allocate(ERRNO_LAYOUT);
            final MemorySegment statistics = arena.allocate(2 * Integer.BYTES, Integer.BYTES);
            final int status = (int)GET_OPTION.invokeExact(errno, descriptor, SOL_PACKET, PACKET_STATISTICS,
                statistics, arena.allocateFrom(JAVA_INT, 2 * Integer.BYTES));
            return status < 0 ? 0 : statistics.get(JAVA_INT, Integer.BYTES);
        }
        catch (final Throwable ex)
        {
            throw unexpected(ex);
        }
    }

    /** Room for {@link #await}, filled with the descriptors that it waits for. */
    static MemorySegment pollSet(final Arena arena, final int[] descriptors)
    {
        // Behind the entries the time-out of ppoll(2).
        final MemorySegment set = arena.allocate((long)descriptors.length * POLLFD_BYTES + 2 * Long.BYTES, Long.BYTES);
        for (int i = 0; i < descriptors.length; i++)
        {
            set.set(JAVA_INT, (long)i * POLLFD_BYTES, descriptors[i]);
            set.set(JAVA_SHORT, (long)i * POLLFD_BYTES + Integer.BYTES, POLLIN);
        }
        return set;
    }

    /** Waits until a frame can be received, or so long. */
    static void await(final MemorySegment pollSet, final long timeoutNs)
    {
        final long entries = (pollSet.byteSize() - 2 * Long.BYTES) / POLLFD_BYTES;
        final MemorySegment timeout = pollSet.asSlice(entries * POLLFD_BYTES, 2 * Long.BYTES);
        timeout.set(JAVA_LONG, 0, timeoutNs / 1_000_000_000);
        timeout.set(JAVA_LONG, Long.BYTES, timeoutNs % 1_000_000_000);
        try
        {
            final int ignored = (int)POLL.invokeExact(pollSet, entries, timeout, MemorySegment.NULL);
        }
        catch (final Throwable ex)
        {
            throw unexpected(ex);
        }
    }

    static void close(final int descriptor)
    {
        try
        {
            final int ignored = (int)CLOSE.invokeExact(descriptor);
        }
        catch (final Throwable ex)
        {
            throw unexpected(ex);
        }
    }

    private static void require(final boolean isDone, final String what, final MemorySegment errno) throws IOException
    {
        if (!isDone)
        {
            throw new IOException(what + ": errno " + (int)ERRNO.get(errno, 0L));
        }
    }

    private static IllegalStateException unexpected(final Throwable ex)
    {
        return new IllegalStateException("a downcall does not throw", ex);
    }

    private static MethodHandle handle(final String name, final MemoryLayout result, final MemoryLayout... parameters)
    {
        final Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().findOrThrow(name),
            FunctionDescriptor.of(result, parameters), Linker.Option.captureCallState("errno"));
    }

    private static MethodHandle plain(final String name, final MemoryLayout result, final MemoryLayout... parameters)
    {
        final Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(
            linker.defaultLookup().findOrThrow(name), FunctionDescriptor.of(result, parameters));
    }
}
