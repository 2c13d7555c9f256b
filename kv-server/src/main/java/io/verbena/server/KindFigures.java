package io.verbena.server;

import io.verbena.compute.figures.OperationFigures;
import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.RequestKind;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The operations of a compute node by kind, as a figure. Stateless. */
final class KindFigures
{
    private KindFigures()
    {
    }

    /**
     * @return by kind, of those that were asked for: {@code answers}, how many there were of each; {@code total_us};
     * and {@code durations}, how many took at most 1, 2, 4, 8, ... us, and longer than the bound before. Those behind
     * the last are 0; a 26th took longer than 16.8 s.
     */
    static Map<String, Object> of(final OperationFigures figures)
    {
        final Map<String, Object> kinds = new LinkedHashMap<>();
        for (final RequestKind kind : RequestKind.values())
        {
            final Map<String, Object> answers = new LinkedHashMap<>();
            for (final OperationAnswer answer : OperationAnswer.values())
            {
                final long count = figures.count(kind, answer);
                if (count > 0)
                {
                    answers.put(name(answer), count);
                }
            }
            if (!answers.isEmpty())
            {
                final Map<String, Object> figure = new LinkedHashMap<>();
                figure.put("answers", answers);
                figure.put("total_us", TimeUnit.NANOSECONDS.toMicros(figures.totalNs(kind)));
                figure.put("durations", durations(figures, kind));
                kinds.put(name(kind), figure);
            }
        }
        return kinds;
    }

    private static List<Long> durations(final OperationFigures figures, final RequestKind kind)
    {
        final List<Long> counts = new ArrayList<>();
        for (int i = 0; i <= OperationFigures.BOUND_COUNT; i++)
        {
            counts.add(figures.durationCount(kind, i));
        }
        while (!counts.isEmpty() && 0 == counts.getLast())
        {
            counts.removeLast();
        }
        return counts;
    }

    private static String name(final Enum<?> value)
    {
        return value.name().toLowerCase(Locale.ROOT);
    }
}
