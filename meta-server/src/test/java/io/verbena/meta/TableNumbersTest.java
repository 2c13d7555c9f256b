package io.verbena.meta;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class TableNumbersTest
{
    @Test
    void shouldAwaitEachNumberOnceUntilItIsUsed()
    {
        final TableNumbers numbers = new TableNumbers(3);
        numbers.onGiven(7);

        assertThat(numbers.isToCome(7)).isTrue();
        assertThat(numbers.isToCome(6)).isFalse();
        numbers.onUsed(7);
        assertThat(numbers.isToCome(7)).isFalse();
    }

    @Test
    void shouldForgetTheOldestThatWasNeverUsed()
    {
        final TableNumbers numbers = new TableNumbers(3);
        for (int tableId = 1; tableId <= 4; tableId++)
        {
            numbers.onGiven(tableId);
        }
        assertThat(numbers.isToCome(1)).isFalse();
        assertThat(numbers.isToCome(2)).isTrue();
        assertThat(numbers.isToCome(4)).isTrue();

        numbers.onUsed(3);
        numbers.onGiven(5);
        assertThat(numbers.isToCome(2)).as("a used one makes room").isTrue();
    }
}
