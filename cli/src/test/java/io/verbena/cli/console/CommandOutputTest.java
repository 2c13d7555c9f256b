package io.verbena.cli.console;

import io.verbena.cli.CommandLines;

import org.junit.jupiter.api.Test;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** What is printed arrives as it was, or the command has failed. */
class CommandOutputTest
{
    /** Takes some bytes, and no more. */
    private static final class Narrow extends OutputStream
    {
        private final String reason;
        private int left;
        private int refused;

        private Narrow(final String reason, final int left)
        {
            this.reason = reason;
            this.left = left;
        }

        @Override
        public void write(final int oneByte) throws IOException
        {
            if (left-- <= 0)
            {
                refused++;
                throw new IOException(reason);
            }
        }
    }

    @Test
    void shouldKeepTextAndBytesInOrderAndTextInUtf8()
    {
        final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        final CommandOutput out = CommandOutput.to(bytes, false);
        out.print("\u00e4\t");
        out.print(new byte[]{(byte)0xff, 0, '\n'});
        out.println("\ud83d\ude00");
        out.print(new byte[]{1});
        assertThat(out.end(ExitStatus.FAILED, null)).isEqualTo(ExitStatus.FAILED);
        assertThat(bytes.toByteArray()).isEqualTo(
            "\u00c3\u00a4\t\u00ff\0\n\u00f0\u009f\u0098\u0080\n\1".getBytes(StandardCharsets.ISO_8859_1));
    }

    @Test
    void shouldFailWhenWhatItPrintsCannotBeWritten()
    {
        for (final String command : List.of("version", "--help"))
        {
            final CommandLines.Result result =
                CommandLines.into(new Narrow("No space left on device", 5), List.of(command));
            assertThat(result.status()).as(command).isEqualTo(ExitStatus.OUTPUT_FAILED);
            assertThat(result.err())
                .isEqualTo("verbena: standard output cannot be written (No space left on device)\n");
        }
    }

    /** As {@code head} does. */
    @Test
    void shouldSayNothingWhenNobodyReadsOn()
    {
        final CommandLines.Result result = CommandLines.into(new Narrow("Broken pipe", 5), List.of("--help"));
        assertThat(result.status()).isZero();
        assertThat(result.err()).isEmpty();
    }

    @Test
    void shouldNotTryAgainAfterAFailure()
    {
        final Narrow narrow = new Narrow("No space left on device", 0);
        final CommandOutput out = CommandOutput.to(narrow, false);
        out.print(new byte[1]);
        assertThat(out.hasFailed()).as("still in the buffer").isFalse();
        for (int i = 0; i < 10; i++)
        {
            out.print(new byte[10_000]);
            out.println("more");
        }
        assertThat(out.hasFailed()).isTrue();
        assertThat(narrow.refused).isEqualTo(1);
    }
}
