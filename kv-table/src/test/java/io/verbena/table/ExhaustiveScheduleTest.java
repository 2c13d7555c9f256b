package io.verbena.table;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Every order of the requests of two operations on one key, also with one that stops for ever at any point. Complete
 * for all pairs but those of two inserts, which can hinder each other for ever: there every order of the first choices,
 * after which one runs to its end and then the other.
 */
class ExhaustiveScheduleTest
{
    private static final int MAX_CHOICES = Integer.getInteger("verbena.table.maxChoices", 14);

    @Test
    void shouldBeLinearizableInEverySchedule()
    {
        long schedules = 0;
        for (int one = 0; one < OperationKind.COUNT; one++)
        {
            for (int other = 0; other <= one; other++)
            {
                for (int state = 0; state < 3; state++)
                {
                    for (int dies = -1; dies <= 2; dies = dies < 0 ? 1 : dies + 1)
                    {
                        final ScheduleRun.Search search = new ScheduleRun.Search(new ScheduleRun.Race(
                            new int[]{one, other}, state > 0, state > 1, MAX_CHOICES, dies, 0));
                        assertThat(search.all()).isNull();
                        schedules += search.schedules;
                    }
                }
            }
        }
        assertThat(schedules).isGreaterThan(50_000);
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({"COMMIT, 3, 3", "SLOT_READ, 2, 0"})
    void shouldFindViolationWhenGuardIsDropped(final String guard, final int one, final int other)
        throws ReflectiveOperationException
    {
        final int bit = (int)Guard.class.getDeclaredField(guard).get(null);
        String found = null;
        for (int state = 0; state < 3 && found == null; state++)
        {
            found = new ScheduleRun.Search(
                new ScheduleRun.Race(new int[]{one, other}, state > 0, state > 1, MAX_CHOICES, -1, bit)).all();
        }
        assertThat(found).isNotNull();
    }
}
