package io.verbena.rdma.roce.wire;

import org.agrona.UnsafeApi;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.CRC32;

/**
 * The CRC-32 of Ethernet over a few dozen bytes, as a packet's headers and a small payload are. Where the processor
 * multiplies vectors of carry-less numbers, the JDK's {@link CRC32} takes any bytes at any address without a loop, and
 * gets all. Elsewhere it takes 16 bytes at a time from the first address on that is a multiple of 16, and the bytes
 * before and behind one by one: for a packet of 84 bytes that is most of its time. There short pieces go through
 * tables, 16 bytes a step (Kounavis and Berry, "Novel table lookup-based algorithms for high-performance CRC
 * generation", IEEE Transactions on Computers 57 (11), 2008), and of longer ones the JDK gets whole multiples of 16
 * alone. Used by one thread at a time; allocates nothing once made.
 */
final class EthernetCrc
{
    /** What the JDK takes at once, and the alignment that it wants. */
    static final int LINE_BYTES = 16;

    private static final int POLYNOMIAL = 0xEDB8_8320;
    private static final int VALUES = 1 << Byte.SIZE;
    private static final int VALUE_MASK = VALUES - 1;
    /** Up to here the tables take less time than the call. */
    private static final int TABLES_LIMIT_BYTES = 2 * LINE_BYTES;
    private static final long WORD_MASK = 0xFFFF_FFFFL;
    /** For each value of a byte the register after it and 0, 1, ... 15 bytes of zeros. */
    private static final int[] TABLES = new int[LINE_BYTES * VALUES];
    /** CRC of so many bytes of zeros. */
    private static final int[] ZEROS = new int[RocePacket.MAX_LENGTH_BYTES + LINE_BYTES];

    static
    {
        for (int value = 0; value < VALUES; value++)
        {
            int register = value;
            for (int bit = 0; bit < Byte.SIZE; bit++)
            {
                register = register >>> 1 ^ (register & 1) * POLYNOMIAL;
            }
            TABLES[value] = register;
        }
        for (int i = VALUES; i < TABLES.length; i++)
        {
            TABLES[i] = afterZero(TABLES[i - VALUES]);
        }
        int register = -1;
        for (int i = 0; i < ZEROS.length; i++)
        {
            ZEROS[i] = ~register;
            register = afterZero(register);
        }
    }

    private static final Path PROCESSORS = Path.of("/proc/cpuinfo");
    /** What HotSpot asks for before it computes a CRC with vectors of 64 bytes. */
    private static final List<String> VECTOR_FLAGS = List.of("avx512f", "avx512bw", "avx512vl", "vpclmulqdq");
    private static final boolean IS_JDK_QUICK = isJdkQuick(System.getProperty("os.arch"), PROCESSORS);

    private final CRC32 crc = new CRC32();
    private final boolean isJdkQuick;

    /** Takes what is quicker on this processor. */
    EthernetCrc()
    {
        this(IS_JDK_QUICK);
    }

    /** @param isJdkQuick whether the JDK computes all. */
    EthernetCrc(final boolean isJdkQuick)
    {
        this.isJdkQuick = isJdkQuick;
    }

    /**
     * Says whether the JDK computes short pieces without a loop over bytes: on ARM by an instruction for them, on x86
     * with vectors, where the processor has these.
     *
     * @param architecture as {@code os.arch} names it.
     * @param processors   file in which the system lists what the processors can do.
     * @return false where that is not known.
     */
    static boolean isJdkQuick(final String architecture, final Path processors)
    {
        if (!"amd64".equals(architecture))
        {
            return "aarch64".equals(architecture);
        }
        try (Stream<String> lines = Files.lines(processors))
        {
            return lines.filter(line -> line.startsWith("flags")).findFirst()
                .filter(line -> List.of(line.split("\\s+")).containsAll(VECTOR_FLAGS)).isPresent();
        }
        catch (final IOException | UncheckedIOException ex)
        {
            return false;
        }
    }

    private static int afterZero(final int register)
    {
        return register >>> Byte.SIZE ^ TABLES[register & VALUE_MASK];
    }

    /**
     * Computes the CRC of a piece of memory.
     *
     * @param bytes       direct; its position and limit are changed.
     * @param address     of the buffer's first byte.
     * @param offset      of the piece.
     * @param lengthBytes of the piece, 0 to {@link RocePacket#MAX_LENGTH_BYTES}.
     * @param freeBytes   how many bytes before the piece may be overwritten; with 15 no alignment is slow.
     * @return the CRC.
     */
    int compute(
        final ByteBuffer bytes, final long address, final int offset, final int lengthBytes, final int freeBytes)
    {
        if (isJdkQuick)
        {
            return ofAll(bytes, offset, lengthBytes);
        }
        final long start = address + offset;
        if (lengthBytes <= TABLES_LIMIT_BYTES)
        {
            return ~throughTables(-1, start, lengthBytes);
        }
        final int before = (int)start & LINE_BYTES - 1;
        if (before > freeBytes)
        {
            return ofAll(bytes, offset, lengthBytes);
        }
        // Zeros in front add something that depends on how many bytes there are, and on nothing else.
        for (int i = 1; i <= before; i++)
        {
            UnsafeApi.putByte(start - i, (byte)0);
        }
        final int allBytes = before + lengthBytes;
        final int behind = allBytes & LINE_BYTES - 1;
        final int lines = ofAll(bytes, offset - before, allBytes - behind);
        return ~throughTables(~lines, start + lengthBytes - behind, behind) ^ ZEROS[allBytes] ^ ZEROS[lengthBytes];
    }

    private int ofAll(final ByteBuffer bytes, final int offset, final int lengthBytes)
    {
        bytes.limit(offset + lengthBytes).position(offset);
        crc.reset();
        crc.update(bytes);
        return (int)crc.getValue();
    }

    private static int throughTables(final int register, final long start, final int lengthBytes)
    {
        final long end = start + lengthBytes;
        long address = start;
        int sum = register;
        for (; end - address >= LINE_BYTES; address += LINE_BYTES)
        {
            sum = eight(UnsafeApi.getLong(address) ^ sum & WORD_MASK, 2 * Long.BYTES * VALUES - VALUES) ^
                eight(UnsafeApi.getLong(address + Long.BYTES), Long.BYTES * VALUES - VALUES);
        }
        if (end - address >= Long.BYTES)
        {
            sum = eight(UnsafeApi.getLong(address) ^ sum & WORD_MASK, Long.BYTES * VALUES - VALUES);
            address += Long.BYTES;
        }
        if (end - address >= Integer.BYTES)
        {
            sum = four(UnsafeApi.getInt(address) ^ sum, Integer.BYTES * VALUES - VALUES);
            address += Integer.BYTES;
        }
        for (; address < end; address++)
        {
            sum = sum >>> Byte.SIZE ^ TABLES[(sum ^ UnsafeApi.getByte(address)) & VALUE_MASK];
        }
        return sum;
    }

    /** What eight bytes leave, the first of which has its table at {@code first}. */
    private static int eight(final long word, final int first)
    {
        return four((int)word, first) ^ four((int)(word >>> Integer.SIZE), first - Integer.BYTES * VALUES);
    }

    private static int four(final int word, final int first)
    {
        return TABLES[first + (word & VALUE_MASK)] ^
            TABLES[first - VALUES + (word >>> Byte.SIZE & VALUE_MASK)] ^
            TABLES[first - 2 * VALUES + (word >>> 2 * Byte.SIZE & VALUE_MASK)] ^
            TABLES[first - 3 * VALUES + (word >>> 3 * Byte.SIZE)];
    }
}
