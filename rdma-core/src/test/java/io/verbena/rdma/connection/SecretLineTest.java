package io.verbena.rdma.connection;

import org.junit.jupiter.api.Test;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

import static org.assertj.core.api.Assertions.assertThat;

class SecretLineTest
{
    private static final int MOST_BYTES = 40;

    private static SecretLine read(final String text) throws IOException
    {
        return SecretLine.read(new ByteArrayInputStream(text.getBytes(StandardCharsets.ISO_8859_1)), MOST_BYTES);
    }

    private static void check(final String text, final String line, final String rest) throws IOException
    {
        try (SecretLine read = read(text))
        {
            assertThat(read.text()).hasToString(line);
            assertThat(read.bytes()).isEqualTo(line.getBytes(StandardCharsets.ISO_8859_1));
            assertThat(read.rest()).isEqualTo(rest);
            assertThat(read.toString()).isEqualTo("SecretLine{not shown}");
        }
    }

    @Test
    void shouldEndTheLineAsTextFilesDo() throws IOException
    {
        check("", "", "");
        check("\n", "", "");
        check("secret", "secret", "");
        check("secret\n", "secret", "");
        check("secret\r\nnext\r\n", "secret", "next");
        check("secret\rnext", "secret", "next");
        check(" se cret \n\n next \nlast\n", " se cret ", "next \nlast");
        check("\u00e9\u00ff\n", "\u00e9\u00ff", "");
    }

    @Test
    void shouldReadNoMoreThanItMay() throws IOException
    {
        check("s".repeat(MOST_BYTES + 5) + "\nnext", "s".repeat(MOST_BYTES), "");
        check("s".repeat(MOST_BYTES - 3) + "\nnext", "s".repeat(MOST_BYTES - 3), "ne");
    }

    @Test
    void shouldBeWipedWhenItIsClosed() throws IOException
    {
        final SecretLine line = read("secret\nnext");
        final CharSequence text = line.text();
        line.close();
        assertThat(text).hasToString("\0".repeat(6));
        assertThat(line.bytes()).containsOnly(0);
        assertThat(line.rest()).doesNotContain("next");
    }
}
