package io.verbena.rdma.spi;

import org.agrona.UnsafeApi;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * Copies and atomics on absolute addresses, as a NIC does them. The caller has checked the addresses against its key
 * table and keeps the memory mapped meanwhile; a wrong address ends the process.
 *
 * <p>Every 8-byte aligned word of the remote side is moved in one access and so is never torn. No order is given
 * between the words of one copy.
 */
public final class RawMemory
{
    /** Length of the lines at which a device may tear a longer access. */
    public static final int LINE_BYTES = 64;

    private static final int LOOP_LIMIT_BYTES = 256;
    private static final int CHUNK_BYTES = 1 << 20;
    /** All memory of the process: like a NIC, which trusts the key table and nothing else. */
    @SuppressWarnings("restricted")
    private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();

    private RawMemory()
    {
    }

    /**
     * Executes a READ, or any piece of one.
     *
     * @param remoteAddress source.
     * @param localAddress  target.
     * @param lengthBytes   0 or more.
     */
    public static void read(final long remoteAddress, final long localAddress, final int lengthBytes)
    {
        if (((remoteAddress | localAddress | lengthBytes) & 7) == 0)
        {
            copyWords(remoteAddress, localAddress, lengthBytes);
        }
        else
        {
            copyPieces(remoteAddress, localAddress, lengthBytes, remoteAddress);
        }
    }

    /**
     * Executes a WRITE, or any piece of one; also the filling of a receive buffer.
     *
     * @param localAddress  source.
     * @param remoteAddress target.
     * @param lengthBytes   0 or more.
     */
    public static void write(final long localAddress, final long remoteAddress, final int lengthBytes)
    {
        if (((remoteAddress | localAddress | lengthBytes) & 7) == 0)
        {
            copyWords(localAddress, remoteAddress, lengthBytes);
        }
        else
        {
            copyPieces(localAddress, remoteAddress, lengthBytes, remoteAddress);
        }
    }

    /**
     * Brings a line near.
     *
     * @param address mapped.
     * @return what lies there, so that the access is not optimised away.
     */
    public static long touch(final long address)
    {
        return UnsafeApi.getByte(address);
    }

    /**
     * Executes CMP_SWAP with the ordering of a full barrier.
     *
     * @param address  of the word, 8-byte aligned.
     * @param expected value it must have.
     * @param desired  value it gets then.
     * @return the value found.
     */
    public static long compareSwap(final long address, final long expected, final long desired)
    {
        return (long)WORD.compareAndExchange(ALL, address, expected, desired);
    }

    /**
     * Executes FETCH_ADD with the ordering of a full barrier.
     *
     * @param address of the word, 8-byte aligned.
     * @param addend  added.
     * @return the value found.
     */
    public static long fetchAdd(final long address, final long addend)
    {
        return (long)WORD.getAndAdd(ALL, address, addend);
    }

    /**
     * Stores the result of an atomic.
     *
     * @param address any alignment.
     * @param value   to store.
     */
    public static void putLong(final long address, final long value)
    {
        ALL.set(ValueLayout.JAVA_LONG_UNALIGNED, address, value);
    }

    private static void copyWords(final long source, final long target, final int lengthBytes)
    {
        if (lengthBytes <= LOOP_LIMIT_BYTES)
        {
            // Without the checks of a segment, which the compiler does not get out of this loop: half of its time.
            for (int i = 0; i < lengthBytes; i += Long.BYTES)
            {
                UnsafeApi.putLong(target + i, UnsafeApi.getLong(source + i));
            }
        }
        else
        {
            // The JDK moves memory whose addresses and length are multiples of 8 in whole words (Unsafe.copyMemory).
            // In chunks, because one copy delays every safepoint of the process.
            for (int done = 0; done < lengthBytes; done += CHUNK_BYTES)
            {
                MemorySegment.copy(ALL, source + done, ALL, target + done, Math.min(CHUNK_BYTES, lengthBytes - done));
            }
        }
    }

    private static void copyPieces(
        final long source, final long target, final int lengthBytes, final long remoteAddress)
    {
        final int headBytes = Math.min(lengthBytes, (int)(-remoteAddress & 7));
        copyBytes(source, target, headBytes);

        final int wordBytes = (lengthBytes - headBytes) & ~7;
        if (((source ^ target) & 7) == 0)
        {
            copyWords(source + headBytes, target + headBytes, wordBytes);
        }
        else
        {
            // One side is aligned: there the access is a single one, the other side is private to the requester.
            for (int i = headBytes; i < headBytes + wordBytes; i += Long.BYTES)
            {
                UnsafeApi.putLong(target + i, UnsafeApi.getLong(source + i));
            }
        }

        final int doneBytes = headBytes + wordBytes;
        copyBytes(source + doneBytes, target + doneBytes, lengthBytes - doneBytes);
    }

    private static void copyBytes(final long source, final long target, final int lengthBytes)
    {
        for (int i = 0; i < lengthBytes; i++)
        {
            UnsafeApi.putByte(target + i, UnsafeApi.getByte(source + i));
        }
    }
}
