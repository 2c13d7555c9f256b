package io.verbena.table.operation;

import io.verbena.table.trace.OperationTrace;

import java.util.Arrays;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class OperationTraceTest
{
    private static final int OFFSET = 5;

    private final OperationTrace trace = new OperationTrace();
    private final long[] words = new long[OFFSET + OperationTrace.CAPACITY * OperationTrace.ENTRY_WORDS];

    private long[] times(final int from)
    {
        return IntStream.range(0, (words.length - OFFSET) / OperationTrace.ENTRY_WORDS)
            .mapToLong((entry) -> words[OFFSET + entry * OperationTrace.ENTRY_WORDS + from]).toArray();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 7, 8, 9, 15, 16, 17, 23, 24, 25, 100, 1_000})
    void shouldKeepTheFirstAndTheLastEntriesInTheirOrder(final int count)
    {
        for (int i = 0; i < count; i++)
        {
            trace.posted(Step.LOOK, i, 1, 3, i);
        }
        final int kept = Math.min(count, OperationTrace.CAPACITY);
        assertThat(trace.count()).isEqualTo(count);
        assertThat(trace.copyTo(words, OFFSET)).isEqualTo(kept);
        final long[] expected = IntStream.range(0, kept)
            .mapToLong((entry) -> entry < OperationTrace.FIRST ? entry : count - kept + entry).toArray();
        assertThat(Arrays.copyOf(times(1), kept)).isEqualTo(expected);
        final long[] ends = Arrays.stream(expected).map((time) -> time + 1).toArray();
        ends[kept - 1] = OperationTrace.UNKNOWN_NS;
        assertThat(Arrays.copyOf(times(2), kept)).isEqualTo(ends);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 255, 256, 100_000})
    void shouldKeepMostOfEachNumber(final int number)
    {
        trace.posted(Step.REMOVE, number, number, 65_535, 1);
        trace.waits(Step.COMBINED, 2_000_000_000, 2);
        trace.copyTo(words, OFFSET);
        final long posted = words[OFFSET];
        final long wait = words[OFFSET + OperationTrace.ENTRY_WORDS];
        assertThat(Step.name(OperationTrace.step(posted))).isEqualTo("remove");
        assertThat(OperationTrace.verbs(posted)).isEqualTo(Math.min(255, number));
        assertThat(OperationTrace.roundTrips(posted)).isEqualTo(Math.min(255, number));
        assertThat(OperationTrace.memoryNodeId(posted)).isEqualTo(65_535);
        assertThat(OperationTrace.isWait(posted)).isFalse();
        assertThat(Step.name(OperationTrace.step(wait))).isEqualTo("combined");
        assertThat(OperationTrace.verbs(wait)).isZero();
        assertThat(OperationTrace.roundTrips(wait)).isZero();
        assertThat(OperationTrace.memoryNodeId(wait)).isEqualTo(2_000_000_000);
        assertThat(OperationTrace.isWait(wait)).isTrue();
    }
}
