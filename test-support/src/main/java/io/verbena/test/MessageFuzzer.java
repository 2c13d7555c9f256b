package io.verbena.test;

import com.sun.management.ThreadMXBean;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.SplittableRandom;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

/**
 * Changes messages as somebody would who knows how they are laid out: lengths, counts, kinds and versions get values at
 * and beyond their ends, messages are cut and lengthened, and parts of one are put into another place. A decoder then
 * reads what it can, or refuses it by the exception that it has for that; it reads nothing behind the message, and
 * allocates no more than follows from the message's length. One thread.
 */
public final class MessageFuzzer
{
    /** Reads a message, and all that is in it. */
    public interface Decoder
    {
        /** Throws the refusal when it cannot be read. */
        void decode(DirectBuffer buffer, int offset, int lengthBytes);
    }

    private static final int MAX_BYTES = 4_096;
    /** Of a refusal. */
    private static final int MAX_TEXT = 1_024;
    /** Objects for what was read, and for a refusal with its trace. */
    private static final long ALLOCATED_BYTES = 64 * 1_024;
    /** A byte of a list is at most an object of some tens of bytes. */
    private static final long ALLOCATED_PER_BYTE = 64;
    private static final long[] VALUES = {
        0, 1, 2, -1, -2, 7, 8, 9, 15, 16, 17, 63, 64, 65, 127, 128, 129, 255, 256, 257, 4_039, 4_040, 4_041, 4_095,
        4_096, 4_097, 16_384, 16_385, 32_767, 32_768, 65_535, 65_536, 65_537, 81_952, 81_953, Integer.MAX_VALUE,
        Integer.MIN_VALUE, Integer.MAX_VALUE - 7, 1L << 32, Long.MAX_VALUE, Long.MIN_VALUE};

    private final SplittableRandom random;
    private final Class<? extends RuntimeException> refusal;
    private final int rounds = Integer.getInteger("verbena.fuzz.messages", 10_000);
    private long allocatedBytes;
    private final ThreadMXBean threads = (ThreadMXBean)ManagementFactory.getThreadMXBean();

    /**
     * @param seed    of what is done.
     * @param refusal what decoders throw for messages that they cannot read.
     */
    public MessageFuzzer(final long seed, final Class<? extends RuntimeException> refusal)
    {
        random = new SplittableRandom(seed);
        this.refusal = refusal;
    }

    /**
     * Changes a message {@code verbena.fuzz.messages} times, 10,000 by default, and has each decoded.
     *
     * @param what    for messages of the test.
     * @param message that the decoder reads.
     * @param decoder of it.
     */
    public void fuzz(final String what, final byte[] message, final Decoder decoder)
    {
        decoder.decode(new UnsafeBuffer(message), 0, message.length);
        int refused = 0;
        for (int i = 0; i < rounds; i++)
        {
            final byte[] changed = changed(message);
            final UnsafeBuffer buffer = new UnsafeBuffer(changed);
            final RuntimeException thrown = decode(decoder, buffer);
            if (null != thrown)
            {
                refused++;
                if (!isRefusal(thrown))
                {
                    fail("%s, change %d, %s: no %s of one line".formatted(
                        what, i, Arrays.toString(changed), refusal.getSimpleName()), thrown);
                }
            }
            final long most = ALLOCATED_BYTES + ALLOCATED_PER_BYTE * changed.length;
            // The first time classes are loaded on the way.
            for (int again = 0; again < 3 && allocatedBytes > most; again++)
            {
                decode(decoder, buffer);
            }
            if (allocatedBytes > most)
            {
                fail("%s, change %d, %s: %d bytes allocated, most are %d".formatted(
                    what, i, Arrays.toString(changed), allocatedBytes, most));
            }
        }
        assertThat(refused).as("%s, some of which cannot be read", what).isPositive();
    }

    /** Text is made for failures only: it takes longer than decoding. */
    private boolean isRefusal(final RuntimeException thrown)
    {
        final String message = thrown.getMessage();
        return refusal.isInstance(thrown) && null != message && !message.isBlank() && message.length() < MAX_TEXT &&
            message.indexOf('\n') < 0;
    }

    private RuntimeException decode(final Decoder decoder, final UnsafeBuffer buffer)
    {
        RuntimeException thrown = null;
        final long before = threads.getCurrentThreadAllocatedBytes();
        try
        {
            decoder.decode(buffer, 0, buffer.capacity());
        }
        catch (final RuntimeException ex)
        {
            thrown = ex;
        }
        allocatedBytes = threads.getCurrentThreadAllocatedBytes() - before;
        return thrown;
    }

    private byte[] changed(final byte[] message)
    {
        byte[] changed = message.clone();
        for (int changes = random.nextInt(1, 4); changes > 0; changes--)
        {
            switch (random.nextInt(8))
            {
                case 0 -> changed = Arrays.copyOf(changed, random.nextInt(changed.length + 1));
                case 1 -> changed = Arrays.copyOf(changed, Math.min(MAX_BYTES, changed.length + random.nextInt(64)));
                case 2 -> copyPart(changed);
                case 3 -> flip(changed);
                default -> putNumber(changed);
            }
        }
        return changed;
    }

    private void copyPart(final byte[] bytes)
    {
        final int length = random.nextInt(bytes.length / 2 + 1);
        System.arraycopy(bytes, random.nextInt(bytes.length - length + 1), bytes,
            random.nextInt(bytes.length - length + 1), length);
    }

    private void flip(final byte[] bytes)
    {
        if (0 != bytes.length)
        {
            bytes[random.nextInt(bytes.length)] ^= (byte)(1 << random.nextInt(Byte.SIZE));
        }
    }

    /** Where fields begin: at multiples of 2. */
    private void putNumber(final byte[] bytes)
    {
        final int length = 1 << random.nextInt(1, 4);
        if (bytes.length >= length)
        {
            final int at = random.nextInt((bytes.length - length) / 2 + 1) * 2;
            long value = VALUES[random.nextInt(VALUES.length)] + random.nextInt(-1, 2);
            for (int i = 0; i < length; i++)
            {
                bytes[at + i] = (byte)value;
                value >>= Byte.SIZE;
            }
        }
    }
}
