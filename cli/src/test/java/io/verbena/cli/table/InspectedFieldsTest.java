package io.verbena.cli.table;

import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

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

    @Test
    void shouldNameThemForPeopleAsTheyAreCalled()
    {
        assertThat(fields.text(false)).contains("    0  key length  5\n", "    4  expiry, ms  107\n", "'k'");
    }
}
