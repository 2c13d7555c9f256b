package io.verbena.cli.record;

import org.junit.jupiter.api.Test;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class Utf8ReaderTest
{
    private static final String TEXT = "a\u00e4\u20ac\ud83d\ude00\n\uFEFFb";

    /** Gives no more than some bytes at once, as pipes may. */
    private static InputStream drops(final byte[] bytes, final int most)
    {
        return new ByteArrayInputStream(bytes)
        {
            @Override
            public synchronized int read(final byte[] target, final int offset, final int length)
            {
                return super.read(target, offset, Math.min(most, length));
            }
        };
    }

    private static void readInto(final StringBuilder text, final Utf8Reader reader, final int most) throws IOException
    {
        final char[] buffer = new char[most + 1];
        for (int count = reader.read(buffer, 1, most); count >= 0; count = reader.read(buffer, 1, most))
        {
            assertThat(count).isPositive();
            text.append(buffer, 1, count);
        }
    }

    @Test
    void shouldReadTheSameHoweverItComes() throws IOException
    {
        for (int drop = 1; drop < 20; drop++)
        {
            for (int room = 2; room < 12; room++)
            {
                for (final String mark : new String[]{"", "\uFEFF"})
                {
                    final StringBuilder text = new StringBuilder();
                    final byte[] bytes = (mark + TEXT).getBytes(StandardCharsets.UTF_8);
                    readInto(text, new Utf8Reader(drops(bytes, drop)), room);
                    assertThat(text).as("%d bytes, %d characters", drop, room).hasToString(TEXT);
                }
            }
        }
        final StringBuilder nothing = new StringBuilder();
        readInto(nothing, new Utf8Reader(drops("\uFEFF".getBytes(StandardCharsets.UTF_8), 9)), 9);
        assertThat(nothing).isEmpty();
    }

    @Test
    void shouldReadWhatIsBeforeBytesThatAreNoText()
    {
        for (final String ugly : new String[]{"\u00ff", "\u0080", "\u00c3", "\u00c3(", "\u00f0\u009f\u0098"})
        {
            final byte[] bytes = ("before\n" + ugly).getBytes(StandardCharsets.ISO_8859_1);
            for (int drop = 1; drop < 20; drop++)
            {
                final StringBuilder text = new StringBuilder();
                final Utf8Reader reader = new Utf8Reader(drops(bytes, drop));
                assertThatThrownBy(() -> readInto(text, reader, 100)).isInstanceOf(CharacterCodingException.class);
                assertThat(text).hasToString("before\n");
            }
        }
    }
}
