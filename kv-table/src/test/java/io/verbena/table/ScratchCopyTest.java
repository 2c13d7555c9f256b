package io.verbena.table;

import io.verbena.table.access.Scratch;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Values out of registered memory into arrays. */
class ScratchCopyTest
{
    private static final int LENGTH = 1024;
    /** Longer than what is copied word by word. */
    private static final int LONGEST = 300;

    @Test
    void shouldCopyAnyLengthToTheBeginningOfAnArray()
    {
        try (Scratch scratch = scratch())
        {
            for (int length = 0; length <= LONGEST; length++)
            {
                final int offset = 3 + length % 8;
                final byte[] target = new byte[LONGEST + 1];
                scratch.copyTo(offset, target, length);
                for (int i = 0; i < target.length; i++)
                {
                    assertThat(target[i]).as("byte %d of %d", i, length).isEqualTo(i < length ? value(offset + i) : 0);
                }
            }
        }
    }

    @Test
    void shouldRefuseWhatIsNotThere()
    {
        try (Scratch scratch = scratch())
        {
            for (final int length : new int[]{9, LONGEST})
            {
                assertThatThrownBy(() -> scratch.copyTo(0, new byte[length - 1], length))
                    .isInstanceOf(IndexOutOfBoundsException.class);
                assertThatThrownBy(() -> scratch.copyTo(LENGTH - length + 1, new byte[length], length))
                    .isInstanceOf(IndexOutOfBoundsException.class);
                assertThatThrownBy(() -> scratch.copyTo(-1, new byte[length], length))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            }
        }
    }

    private static Scratch scratch()
    {
        final Scratch scratch = new Scratch(new LocalDomain(), LENGTH);
        for (int i = 0; i < LENGTH; i++)
        {
            scratch.buffer.putByte(i, value(i));
        }
        return scratch;
    }

    private static byte value(final int offset)
    {
        return (byte)(offset * 31 + 7 | 1);
    }
}
