package io.verbena.table.operation;

import org.junit.jupiter.api.Test;

import java.lang.reflect.Field;
import java.util.Arrays;

import static org.assertj.core.api.Assertions.assertThat;

class EngineCountersTest
{
    @Test
    void shouldAddEveryCount() throws Exception
    {
        final EngineCounters totals = new EngineCounters();
        final EngineCounters other = new EngineCounters();
        int number = 0;
        for (final Field field : EngineCounters.class.getFields())
        {
            number++;
            fill(field, totals, number);
            fill(field, other, 100L * number);
        }
        assertThat(totals.add(other)).isSameAs(totals);
        number = 0;
        for (final Field field : EngineCounters.class.getFields())
        {
            number++;
            if (field.getType() == long[].class)
            {
                assertThat((long[])field.get(totals)).as(field.getName()).containsOnly(101L * number);
            }
            else
            {
                assertThat(field.getLong(totals)).as(field.getName()).isEqualTo(101L * number);
            }
        }
    }

    private static void fill(final Field field, final EngineCounters counters, final long value) throws Exception
    {
        if (field.getType() == long[].class)
        {
            Arrays.fill((long[])field.get(counters), value);
        }
        else
        {
            field.setLong(counters, value);
        }
    }
}
