package io.verbena.table.format;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;
import net.openhft.hashing.LongHashFunction;
import org.agrona.UnsafeApi;

/**
 * XXH3-64 without a seed over native memory whose first 8 bytes are taken to be another word: so a block is bound to
 * its slot word without being written to. Lengths that most blocks have are hashed here, where the compiler sees
 * everything; a library takes the longer ones, for which the call is little. Equal to the library's function, which a
 * test compares for every length. Stateless.
 */
final class BlockChecksum
{
    /** Longest input that is hashed here; the algorithm goes another way from here on. */
    static final int MAX_SHORT_BYTES = 240;
    /** Shortest input: there is more in a block than its header. */
    static final int MIN_BYTES = 65;

    private static final boolean IS_LITTLE_ENDIAN = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;
    private static final LongHashFunction LONGER = LongHashFunction.xx3();
    private static final long PRIME = 0x9E3779B185EBCA87L;
    private static final long MIX = 0x165667919E3779F9L;
    private static final int STRIPE_BYTES = 16;
    private static final int MIDDLE_BYTES = 128;
    private static final int FIRST_ROUNDS = MIDDLE_BYTES / STRIPE_BYTES;
    /** Byte of the secret with which the rounds after the first eight, and the last one, begin. */
    private static final int LATER_START = 3;
    private static final int LAST_START = 119;

    /** The algorithm's default secret, as far as it is needed. */
    private static final ByteBuffer BYTES = ByteBuffer.wrap(HexFormat.of().parseHex(
        "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f" +
        "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c" +
        "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8" +
        "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364" +
        "eac5ac8334d3ebc3")).order(ByteOrder.LITTLE_ENDIAN);
    private static final long[] SECRET = secret(0, 16);
    private static final long[] LATER_SECRET = secret(LATER_START, 14);
    private static final long LAST_SECRET = BYTES.getLong(LAST_START);
    private static final long LAST_SECRET_2 = BYTES.getLong(LAST_START + Long.BYTES);

    private BlockChecksum()
    {
    }

    /**
     * Hashes a block.
     *
     * @param address     of its first byte, in native memory.
     * @param lengthBytes {@link #MIN_BYTES} or more.
     * @param firstWord   in place of the first 8 bytes.
     * @return the hash.
     */
    static long of(final long address, final int lengthBytes, final long firstWord)
    {
        if (lengthBytes > MAX_SHORT_BYTES)
        {
            return ofLong(address, lengthBytes, firstWord);
        }
        final long start = lengthBytes * PRIME +
            fold(firstWord ^ SECRET[0], word(address + Long.BYTES) ^ SECRET[1]);
        return lengthBytes > MIDDLE_BYTES ?
            finish(ofLater(address, lengthBytes, start)) : finish(ofMiddle(address, lengthBytes, start));
    }

    /** Pairs of 16 bytes from both ends to the middle. */
    private static long ofMiddle(final long address, final int lengthBytes, final long start)
    {
        final long end = address + lengthBytes;
        long sum = start + mix(end - 16, SECRET, 2) + mix(address + 16, SECRET, 4) + mix(end - 32, SECRET, 6) +
            mix(address + 32, SECRET, 8) + mix(end - 48, SECRET, 10);
        if (lengthBytes > 96)
        {
            sum += mix(address + 48, SECRET, 12) + mix(end - 64, SECRET, 14);
        }
        return sum;
    }

    private static long ofLater(final long address, final int lengthBytes, final long start)
    {
        long sum = start;
        for (int round = 1; round < FIRST_ROUNDS; round++)
        {
            sum += mix(address + round * STRIPE_BYTES, SECRET, 2 * round);
        }
        sum = finish(sum);
        final int rounds = lengthBytes / STRIPE_BYTES - FIRST_ROUNDS;
        for (int round = 0; round < rounds; round++)
        {
            sum += mix(address + MIDDLE_BYTES + round * STRIPE_BYTES, LATER_SECRET, 2 * round);
        }
        final long last = address + lengthBytes - STRIPE_BYTES;
        return sum + fold(word(last) ^ LAST_SECRET, word(last + Long.BYTES) ^ LAST_SECRET_2);
    }

    private static long ofLong(final long address, final int lengthBytes, final long firstWord)
    {
        final long stored = UnsafeApi.getLong(address);
        UnsafeApi.putLong(address, IS_LITTLE_ENDIAN ? firstWord : Long.reverseBytes(firstWord));
        final long hash = LONGER.hashMemory(address, lengthBytes);
        UnsafeApi.putLong(address, stored);
        return hash;
    }

    private static long word(final long address)
    {
        final long word = UnsafeApi.getLong(address);
        return IS_LITTLE_ENDIAN ? word : Long.reverseBytes(word);
    }

    private static long mix(final long address, final long[] secret, final int at)
    {
        return fold(word(address) ^ secret[at], word(address + Long.BYTES) ^ secret[at + 1]);
    }

    /** Both halves of the product, one over the other. */
    private static long fold(final long left, final long right)
    {
        return left * right ^ Math.unsignedMultiplyHigh(left, right);
    }

    private static long finish(final long sum)
    {
        final long mixed = (sum ^ sum >>> 37) * MIX;
        return mixed ^ mixed >>> 32;
    }

    private static long[] secret(final int start, final int words)
    {
        final long[] secret = new long[words];
        for (int i = 0; i < words; i++)
        {
            secret[i] = BYTES.getLong(start + i * Long.BYTES);
        }
        return secret;
    }
}
