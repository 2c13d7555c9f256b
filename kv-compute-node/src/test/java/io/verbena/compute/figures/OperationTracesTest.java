package io.verbena.compute.figures;

import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.RequestKind;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

class OperationTracesTest
{
    private static final long NOW_MS = 1_700_000_000_000L;

    private final TracedRequest request = new TracedRequest(RequestKind.PUT, "users", 3, 4);

    private static OperationTraces traces(final long thresholdNs)
    {
        return new OperationTraces(thresholdNs, OperationTraces.NEVER, () -> NOW_MS);
    }

    @Test
    void shouldKeepWhatWasRefusedAfterItHadWaitedForTooLong()
    {
        final OperationTraces traces = traces(1_000);
        traces.refused(request, OperationAnswer.TIMED_OUT, 999);
        assertThat(traces.slow()).isEmpty();
        traces.refused(request, OperationAnswer.TIMED_OUT, 1_000);
        assertThat(traces.slow()).containsExactly(new TracedOperation(
            1, NOW_MS, RequestKind.PUT, OperationAnswer.TIMED_OUT, "users", 0, 3, 4, 1_000, 0, 0, 0, List.of()));
        assertThat(traces.slowCount()).isEqualTo(1);
        assertThat(traces.sampled()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"0, 999, false", "0, 1000, true", "1, 999, true", "999, 1, true", "1000, 0, true", "999, 0, false",
        "500, 499, false", "0, 0, false"})
    void shouldCountTheTimeInTheQueueAndThatOfTheOperation(
        final long waitedNs, final long durationNs, final boolean isSlow)
    {
        assertThat(traces(1_000).isSlow(waitedNs, durationNs)).isEqualTo(isSlow);
        assertThat(traces(0).isSlow(waitedNs, durationNs)).as("each one is").isTrue();
        assertThat(OperationTraces.none().isSlow(waitedNs, durationNs)).isFalse();
    }

    @Test
    void shouldKeepNoTraceOfRanges()
    {
        final OperationTraces traces = traces(0);
        traces.refused(new TracedRequest(RequestKind.SCAN, "users", 3, 0), OperationAnswer.TIMED_OUT, 1_000);
        assertThat(traces.slow()).isEmpty();
    }

    @Test
    void shouldKeepNothingWhereNothingIsSlow()
    {
        final OperationTraces traces = OperationTraces.none();
        traces.refused(request, OperationAnswer.TIMED_OUT, Long.MAX_VALUE - 1);
        assertThat(traces.slow()).isEmpty();
        assertThat(traces.thresholdNs()).isEqualTo(OperationTraces.NEVER);
        assertThat(traces.oneIn()).isEqualTo(OperationTraces.NEVER);
    }

    @Test
    void shouldForgetWhatWasSlow()
    {
        final OperationTraces traces = traces(0);
        traces.refused(request, OperationAnswer.TIMED_OUT, 1);
        traces.forgetSlow();
        assertThat(traces.slow()).isEmpty();
        traces.refused(request, OperationAnswer.TIMED_OUT, 2);
        assertThat(traces.slow()).extracting(TracedOperation::waitedNs).containsExactly(2L);
    }
}
