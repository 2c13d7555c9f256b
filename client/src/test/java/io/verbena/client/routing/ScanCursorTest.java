package io.verbena.client.routing;

import io.verbena.client.KvInvalidRequestException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Random;
import org.junit.jupiter.api.Test;

class ScanCursorTest
{
    @Test
    void shouldReadBackPositions()
    {
        final Random random = new Random(7);
        for (int i = 0; i < 1_000; i++)
        {
            final int tableId = random.nextInt();
            final long position = random.nextLong() >>> 1 + random.nextInt(62);
            assertThat(ScanCursor.decode(ScanCursor.encode(tableId, position), tableId)).isEqualTo(position);
        }
        assertThat(ScanCursor.decode(ScanCursor.encode(5, -1), 5)).as("the end").isEqualTo(-1);
        assertThat(ScanCursor.encode(0x7AB1, 0x1234)).isEqualTo("1-7ab1-1234-e8d3509e");
    }

    @Test
    void shouldRefuseWhatIsNoCursorOrADamagedOne()
    {
        final String cursor = ScanCursor.encode(0x7AB1, 0x1234);
        for (int i = 0; i < cursor.length(); i++)
        {
            final char other = cursor.charAt(i) == '3' ? '4' : '3';
            final String damaged = cursor.substring(0, i) + other + cursor.substring(i + 1);
            assertThatThrownBy(() -> ScanCursor.decode(damaged, 0x7AB1)).as(damaged)
                .isInstanceOf(KvInvalidRequestException.class).hasMessageContaining("cursor=" + damaged);
            final String cut = cursor.substring(0, i);
            assertThatThrownBy(() -> ScanCursor.decode(cut, 0x7AB1)).isInstanceOf(KvInvalidRequestException.class);
        }
        assertThatThrownBy(() -> ScanCursor.decode(null, 1)).isInstanceOf(KvInvalidRequestException.class);
    }

    @Test
    void shouldRefuseTheCursorOfAnotherTable()
    {
        assertThatThrownBy(() -> ScanCursor.decode(ScanCursor.encode(6, 1), 5))
            .isInstanceOf(KvInvalidRequestException.class).hasMessageContaining("another table");
    }
}
