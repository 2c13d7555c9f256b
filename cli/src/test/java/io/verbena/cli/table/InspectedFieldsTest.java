package io.verbena.cli.table;

import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.util.Arrays;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class InspectedFieldsTest
{
    private final InspectedFields fields =
        new InspectedFields("block", new UnsafeBuffer(new byte[]{5, 0, 0, 0, 'k', -1}), 6)
            .number("key length", 0, Integer.BYTES).number("expiry, ms", 4, Byte.BYTES).add("depth", 5, 3)
            .bytes("key", 4, 1).bytes("value", 4, 2);

    @Test
    void shouldNameFieldsForProgramsInOneWayAndLeaveNumbersNumbers()
    {
        assertThat(fields.figures(false)).containsEntry("what", "block").containsEntry("damage", null)
            .containsEntry("fields", Map.of(
                "key_length", 5L, "expiry_ms", 107L, "depth", 3L, "key", "'k'", "value", "6bff"));
    }

    /** Each of its own length, whatever stands behind it. */
    @Test
    void shouldReadNumbersOfEachLength()
    {
        final byte[] all = new byte[24];
        Arrays.fill(all, (byte)-1);
        final InspectedFields numbers = new InspectedFields("numbers", new UnsafeBuffer(all), all.length)
            .number("one", 0, Byte.BYTES).number("two", 1, Short.BYTES).number("four", 4, Integer.BYTES)
            .number("eight", 8, Long.BYTES);
        assertThat(numbers.figures(false)).containsEntry("fields",
            Map.of("one", 255L, "two", 65_535L, "four", -1L, "eight", -1L));
        assertThatThrownBy(() -> numbers.number("three", 0, 3)).hasMessageContaining("three");
    }

    @Test
    void shouldNameThemForPeopleAsTheyAreCalled()
    {
        assertThat(fields.text(false)).contains("    0  key length  5\n", "    4  expiry, ms  107\n", "'k'");
    }
}
