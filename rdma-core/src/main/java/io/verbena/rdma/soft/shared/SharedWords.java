package io.verbena.rdma.soft.shared;

import io.verbena.rdma.spi.GlobalRoutingHeader;
import io.verbena.rdma.verbs.DeviceAddress;
import org.agrona.UnsafeApi;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * Words in shared memory by absolute address, with the ordering in the name. The one place where words that other
 * processes see are read and written. Addresses are aligned to the word and mapped; a wrong one ends the process. What
 * every request does goes without the checks of a memory segment, which would be against the length of all memory.
 */
public final class SharedWords
{
    @SuppressWarnings("restricted")
    private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();

    private SharedWords()
    {
    }

    public static long getLong(final long address)
    {
        return UnsafeApi.getLong(address);
    }

    public static void putLong(final long address, final long value)
    {
        UnsafeApi.putLong(address, value);
    }

    public static int getInt(final long address)
    {
        return UnsafeApi.getInt(address);
    }

    public static void putInt(final long address, final int value)
    {
        UnsafeApi.putInt(address, value);
    }

    public static long getLongAcquire(final long address)
    {
        return UnsafeApi.getLongAcquire(null, address);
    }

    public static long getLongVolatile(final long address)
    {
        return (long)LONG.getVolatile(ALL, address);
    }

    public static void putLongRelease(final long address, final long value)
    {
        UnsafeApi.putLongRelease(null, address, value);
    }

    public static void putLongVolatile(final long address, final long value)
    {
        LONG.setVolatile(ALL, address, value);
    }

    public static boolean compareAndSetLong(final long address, final long expected, final long desired)
    {
        return LONG.compareAndSet(ALL, address, expected, desired);
    }

    public static long getAndBitwiseOrLong(final long address, final long bits)
    {
        return (long)LONG.getAndBitwiseOr(ALL, address, bits);
    }

    public static long getAndBitwiseAndLong(final long address, final long bits)
    {
        return (long)LONG.getAndBitwiseAnd(ALL, address, bits);
    }

    static long getAndSetLong(final long address, final long value)
    {
        return (long)LONG.getAndSet(ALL, address, value);
    }

    public static long getAndAddLong(final long address, final long addend)
    {
        return (long)LONG.getAndAdd(ALL, address, addend);
    }

    public static int getIntAcquire(final long address)
    {
        return UnsafeApi.getIntAcquire(null, address);
    }

    public static int getIntVolatile(final long address)
    {
        return (int)INT.getVolatile(ALL, address);
    }

    public static void putIntRelease(final long address, final int value)
    {
        UnsafeApi.putIntRelease(null, address, value);
    }

    public static void putIntVolatile(final long address, final int value)
    {
        INT.setVolatile(ALL, address, value);
    }

    public static boolean compareAndSetInt(final long address, final int expected, final int desired)
    {
        return INT.compareAndSet(ALL, address, expected, desired);
    }

    static int getAndAddInt(final long address, final int addend)
    {
        return (int)INT.getAndAdd(ALL, address, addend);
    }

    public static void getBytes(final long address, final byte[] target)
    {
        MemorySegment.copy(ALL, ValueLayout.JAVA_BYTE, address, target, 0, target.length);
    }

    public static void putBytes(final long address, final byte[] source)
    {
        MemorySegment.copy(source, 0, ALL, ValueLayout.JAVA_BYTE, address, source.length);
    }

    static void copy(final long from, final long to, final long lengthBytes)
    {
        MemorySegment.copy(ALL, from, ALL, to, lengthBytes);
    }

    public static void putRoutingHeader(
        final long address, final DeviceAddress source, final DeviceAddress destination, final int payloadBytes)
    {
        GlobalRoutingHeader.write(ALL, address, source, destination, payloadBytes);
    }

    static void zero(final long address, final long lengthBytes)
    {
        ALL.asSlice(address, lengthBytes).fill((byte)0);
    }
}
