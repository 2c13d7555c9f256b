package io.verbena.cli.cluster;

import io.verbena.cli.cluster.JsonReader.MalformedJsonException;
import io.verbena.test.MessageFuzzer;

import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What tools make of figures that a node may have written as it likes. */
class JsonReaderFuzzTest
{
    @Test
    void shouldReadOrRefuseFigures()
    {
        final String figures = "{\"operations\":12345678901,\"ready\":true,\"failure\":\"\\u00e4\\n\"," +
            "\"share\":-0.25e3,\"nodes\":[{\"node_id\":1,\"state\":null},{}],\"limits\":{\"requests\":[1,2,3]}}";
        new MessageFuzzer(20, MalformedJsonException.class).fuzz("figures", figures.getBytes(StandardCharsets.UTF_8),
            (message, offset, lengthBytes) ->
                JsonReader.object(message.getStringWithoutLengthUtf8(offset, lengthBytes)));
    }

    /** Taken for UTF-32 by the library, whose exception is another one then. */
    @Test
    void shouldRefuseBytesOfValueZeroAtTheStart()
    {
        assertThatThrownBy(() -> JsonReader.object("\b\0\0\0erations")).isInstanceOf(MalformedJsonException.class);
    }

    @Test
    void shouldRefuseWhatIsNestedTooDeeplyOrHasTooLongANumber()
    {
        assertThatThrownBy(() -> JsonReader.object("{\"a\":" + "[".repeat(100_000)))
            .isInstanceOf(MalformedJsonException.class);
        assertThatThrownBy(() -> JsonReader.object("{\"a\":" + "9".repeat(100_000) + "}"))
            .isInstanceOf(MalformedJsonException.class);
    }
}
