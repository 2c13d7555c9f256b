package io.verbena.server;

import io.verbena.compute.figures.OperationFigures;
import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.RequestKind;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

class KindFiguresTest
{
    @Test
    void shouldHaveWhatWasAskedForOnly()
    {
        final OperationFigures figures = new OperationFigures();
        assertThat(KindFigures.of(figures)).isEmpty();

        figures.answered(RequestKind.GET, OperationAnswer.FOUND, 1_000);
        figures.answered(RequestKind.GET, OperationAnswer.FOUND, 3_000);
        figures.answered(RequestKind.GET, OperationAnswer.TIMED_OUT, 20_000_000_000L);
        figures.refused(RequestKind.PUT_IF_ABSENT, OperationAnswer.NOT_SERVING);
        final Map<String, Object> kinds = KindFigures.of(figures);

        assertThat(kinds.keySet()).containsExactly("get", "put_if_absent");
        final Map<?, ?> get = (Map<?, ?>)kinds.get("get");
        assertThat(get.get("answers")).isEqualTo(Map.of("found", 2L, "timed_out", 1L));
        assertThat(get.get("total_us")).isEqualTo(20_000_004L);
        final List<?> durations = (List<?>)get.get("durations");
        assertThat(durations).hasSize(26);
        assertThat(List.of(durations.get(0), durations.get(1), durations.get(2), durations.get(25)))
            .isEqualTo(List.of(1L, 0L, 1L, 1L));
        assertThat(kinds.get("put_if_absent")).isEqualTo(
            Map.of("answers", Map.of("not_serving", 1L), "total_us", 0L, "durations", List.of()));
    }
}
