package io.verbena.protocol.view;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class ViewAttemptTest
{
    @Test
    void shouldBeOrderedByViewAndThenByAttempt()
    {
        final ViewAttempt attempt = new ViewAttempt(7, 4, 2);
        assertThat(attempt.isBefore(new ViewAttempt(7, 4, 3))).isTrue();
        assertThat(attempt.isBefore(new ViewAttempt(7, 5, 1))).isTrue();
        assertThat(attempt.isBefore(attempt)).isFalse();
        assertThat(attempt.isBefore(new ViewAttempt(7, 4, 1))).isFalse();
        assertThat(attempt.isBefore(new ViewAttempt(7, 3, 3))).isFalse();
    }
}
