package io.verbena.test;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What a fuzz takes as a refusal, and what it does not. */
class MessageFuzzerTest
{
    private static final byte[] MESSAGE = new byte[64];
    private static final int MIB = 1 << 20;

    private final MessageFuzzer fuzzer = new MessageFuzzer(1, IllegalArgumentException.class);
    private int decoded;
    private byte[] allocated;

    /** Reads the message as it was given, and refuses all that is changed. */
    private void refuse(final RuntimeException refusal)
    {
        if (decoded++ > 0)
        {
            throw refusal;
        }
    }

    private static RuntimeException refusal(final String message)
    {
        return new IllegalArgumentException(message);
    }

    @Test
    void shouldTakeRefusals()
    {
        fuzzer.fuzz("numbers", MESSAGE, (buffer, offset, lengthBytes) -> refuse(refusal("x".repeat(1_023))));
        assertThat(decoded).isGreaterThan(1_000);
    }

    @Test
    void shouldNotTakeAnotherException()
    {
        final RuntimeException other = new IndexOutOfBoundsException("7");
        assertThatThrownBy(() -> fuzzer.fuzz("numbers", MESSAGE, (buffer, offset, lengthBytes) -> refuse(other)))
            .isInstanceOf(AssertionError.class).hasCause(other).hasMessageContaining("numbers, change 0, [")
            .hasMessageContaining("no IllegalArgumentException of one line");
    }

    @ParameterizedTest
    @NullSource
    @ValueSource(strings = {"", " ", "two\nlines"})
    void shouldNotTakeARefusalThatIsNotOneLine(final String text)
    {
        assertThatThrownBy(() ->
            fuzzer.fuzz("numbers", MESSAGE, (buffer, offset, lengthBytes) -> refuse(refusal(text))))
            .isInstanceOf(AssertionError.class).hasMessageContaining("no IllegalArgumentException of one line");
    }

    @Test
    void shouldNotTakeARefusalThatIsTooLong()
    {
        shouldNotTakeARefusalThatIsNotOneLine("x".repeat(1_024));
    }

    @Test
    void shouldNotTakeADecoderThatAllocatesMoreThanFollowsFromTheLength()
    {
        assertThatThrownBy(() -> fuzzer.fuzz("numbers", MESSAGE, (buffer, offset, lengthBytes) ->
        {
            allocated = new byte[MIB];
            refuse(refusal("refused"));
        })).isInstanceOf(AssertionError.class).hasMessageContaining("bytes allocated, most are ");
        assertThat(allocated).hasSize(MIB);
    }

    @Test
    void shouldNotTakeADecoderThatReadsWhatever()
    {
        assertThatThrownBy(() -> fuzzer.fuzz("numbers", MESSAGE, (buffer, offset, lengthBytes) -> { }))
            .isInstanceOf(AssertionError.class).hasMessageContaining("some of which cannot be read");
    }
}
