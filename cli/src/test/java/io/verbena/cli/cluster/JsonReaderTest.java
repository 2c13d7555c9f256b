package io.verbena.cli.cluster;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class JsonReaderTest
{
    @Test
    void shouldReadHexDigitsOfBothCases()
    {
        assertThat(JsonReader.object("{\"a\":\"\\u00e4\\u00E4\"}")).containsEntry("a", "\u00e4\u00e4");
    }

    @ParameterizedTest
    @ValueSource(strings = {"\uff11\uff12\uff13\uff14", "\u0661\u0662\u0663\u0664", "00g0", "00", "\uff410e4"})
    void shouldRefuseWhatIsNoHexDigitOfAscii(final String digits)
    {
        assertThatThrownBy(() -> JsonReader.object("{\"a\":\"\\u" + digits + "\"}"))
            .isInstanceOf(JsonReader.MalformedJsonException.class).hasMessageContaining("hex-digit");
    }

    @Test
    void shouldRefuseOtherDigitsInNumbers()
    {
        assertThatThrownBy(() -> JsonReader.object("{\"a\":\uff11}"))
            .isInstanceOf(JsonReader.MalformedJsonException.class);
    }
}
