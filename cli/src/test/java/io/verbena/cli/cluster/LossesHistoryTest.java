package io.verbena.cli.cluster;

import io.verbena.elle.Validity;
import io.verbena.elle.history.EventType;

import org.junit.jupiter.api.Test;

import java.util.Arrays;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The judges of {@link RandomLossesSystemTest} find what they are there for. */
class LossesHistoryTest
{
    private static final String KEY = "key";

    private final LossesHistory history = new LossesHistory("test");
    private final int client = history.newProcess();
    private final int other = history.newProcess();

    private void begin(final int process, final String function, final Object input)
    {
        history.add(process, EventType.INVOKE, function, KEY, input);
    }

    private void end(final int process, final EventType type, final String function, final Object output)
    {
        history.add(process, type, function, KEY, output);
    }

    private void call(final String function, final Object input, final Object output)
    {
        begin(client, function, input);
        end(client, EventType.OK, function, output);
    }

    private void requireUnsound(final String message)
    {
        assertThatThrownBy(() -> history.requireSound("seed 1")).isInstanceOf(AssertionError.class)
            .hasMessageContaining(message).hasMessageContaining("seed 1");
    }

    @Test
    void shouldFindNothingInASoundHistory()
    {
        call("put", 1L, 10L);
        call("replace", List.of(10L, 2L), 11L);
        call("replace", List.of(10L, 3L), List.of(false, 11L));
        call("delete-version", 10L, List.of(false, 11L));
        call("put-if-absent", 4L, List.of(false, 11L));
        call("get", null, List.of(2L, 11L));
        call("delete", null, true);
        call("delete", null, false);
        call("replace", List.of(11L, 5L), Arrays.asList(false, null));
        call("get", null, null);
        assertThat(history.acknowledgedCount()).isEqualTo(3);
        history.requireSound("seed 1");
    }

    @Test
    void shouldFindThatAnAcknowledgedWriteIsMissing()
    {
        call("put", 1L, 10L);
        call("put", 2L, 11L);
        call("get", null, List.of(1L, 10L));
        assertThat(history.verdict().validity()).isEqualTo(Validity.INVALID);
        assertThat(history.lost()).containsExactly("key holds 1, not one of [2]");
        requireUnsound("acknowledged writes that are lost");
    }

    @Test
    void shouldFindThatARecordIsMissing()
    {
        call("put", 1L, 10L);
        call("get", null, null);
        assertThat(history.verdict().validity()).isEqualTo(Validity.INVALID);
        assertThat(history.lost()).containsExactly("key holds null, not one of [1]");
    }

    @Test
    void shouldFindThatADeletedRecordIsBack()
    {
        call("put", 1L, 10L);
        call("delete", null, true);
        call("get", null, List.of(1L, 10L));
        assertThat(history.verdict().validity()).isEqualTo(Validity.INVALID);
        assertThat(history.lost()).containsExactly("key holds 1, not one of [null]");
    }

    @Test
    void shouldTakeAWriteOfUnknownOutcomeEitherWay()
    {
        for (final Object value : new Object[]{ List.of(1L, 10L), List.of(2L, 11L) })
        {
            final LossesHistory each = new LossesHistory("test");
            final int process = each.newProcess();
            each.add(process, EventType.INVOKE, "put", KEY, 1L);
            each.add(process, EventType.OK, "put", KEY, 10L);
            each.add(process, EventType.INVOKE, "put", KEY, 2L);
            each.add(process, EventType.INFO, "put", KEY, "no answer");
            final int reader = each.newProcess();
            each.add(reader, EventType.INVOKE, "get", KEY, null);
            each.add(reader, EventType.OK, "get", KEY, value);
            each.requireSound("seed 1");
        }
    }

    @Test
    void shouldTakeEitherOfTwoWritesThatOverlapped()
    {
        begin(client, "put", 1L);
        begin(other, "put", 2L);
        end(other, EventType.OK, "put", 10L);
        end(client, EventType.OK, "put", 11L);
        call("get", null, List.of(1L, 11L));
        history.requireSound("seed 1");
    }

    @Test
    void shouldFindAStaleRead()
    {
        call("put", 1L, 10L);
        call("put", 2L, 11L);
        call("get", null, List.of(1L, 10L));
        call("get", null, List.of(2L, 11L));
        assertThat(history.lost()).isEmpty();
        requireUnsound("linearizable");
    }
}
